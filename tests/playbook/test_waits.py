"""raydap/waits reports which tasks wait for which, and which of them are deadlocked (docs/requests.md)."""

from typing import Any

import pytest

from raydap.analysis.ray_state import RayState, RayTask
from raydap.core.effects import AskRayState, WatchAlive
from raydap.core.events import RayStateListed
from raydap.core.process_info import ForkedWait, ForkedWaits
from raydap.protocol.types import WorkerKey
from support.playbook import Play
from support.waiting_workers import DRIVER, Hung, frame, label, objects, queued, running, stacks, thread


def test_a_tree_from_the_driver_down(hung: Hung) -> None:
    hung.add("d", "driver train.py", thread("main", 41, wait=objects("t1", "t2", "t3", "t9")))
    hung.add("w1", "Trainer.step", thread("step", 88, "self.lock.acquire"))
    hung.add("w2", "Trainer.step", thread("step", 90, "sum", activity="running"))
    hung.add("w3", "Trainer.step", thread("step", 90, "sum", activity="running"))
    hung.begin(RayState(tuple(running(f"t{each}", "Trainer.step", f"w{each}", f"a{each}") for each in (1, 2, 3))))
    answer = hung.ask()
    assert answer["text"].splitlines() == [
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:41)",
        "├─ Trainer 0 · step (pid 102 on 10.0.0.1): blocked in self.lock.acquire (train.py:88)",
        "└─ Trainer{1-2} · step: running step (train.py:90)",
    ]
    assert answer["lines"][1:] == [
        {
            "depth": 1,
            "text": "Trainer 0 · step (pid 102 on 10.0.0.1): blocked in self.lock.acquire (train.py:88)",
            "nodes": [1],
        },
        {"depth": 1, "text": "Trainer{1-2} · step: running step (train.py:90)", "nodes": [2, 3]},
    ]
    assert (answer["deadlocks"], answer["unread"], answer["problem"], answer["roots"]) == ([], [], "", [0])
    driver, first = answer["nodes"][:2]
    assert driver["waits"] == [{"node": number, "kind": "task", "certain": True} for number in (1, 2, 3)]
    assert (first["worker"], first["task"], first["stuck"]) == ("w1", "t1", False)
    assert first["location"] == {"name": "step", "path": "/app/train.py", "line": 88}
    assert hung.text(select="rank:0 actor:Trainer") == [
        "Trainer 0 · step (pid 102 on 10.0.0.1): blocked in self.lock.acquire (train.py:88)"
    ]


def two_actors(hung: Hung) -> RayState:
    """Return the state of two actors that each wait for a method of the other; the second method is queued."""
    hung.add("w1", "A.m", thread("m", 5, wait=objects("n")))
    hung.add("w2", "B.n", thread("n", 7, wait=objects("k")))
    return RayState(
        (running("m", "A.m", "w1", "a"), running("n", "B.n", "w2", "b"), queued("k", "A.k", "w1", "a")),
    )


def test_a_deadlock_of_actors(hung: Hung) -> None:
    hung.begin(two_actors(hung))
    answer = hung.ask()
    (deadlock,) = answer["deadlocks"]
    assert deadlock["certain"] is True
    assert deadlock["text"].splitlines() == [
        "  A · m (pid 101 on 10.0.0.1): blocked in ray.get (train.py:5)",
        "  -> B · n (pid 102 on 10.0.0.1): blocked in ray.get (train.py:7)",
        "  -> A.k: queued: A is busy with m",
        "  -> A · m",
    ]
    assert answer["text"].startswith("Deadlock:\n  A · m")
    assert [answer["nodes"][number]["stuck"] for number in deadlock["cycle"]] == [True] * 3


def test_what_is_over_at_the_second_look_is_no_deadlock(hung: Hung) -> None:
    state = two_actors(hung)
    # At the second look the queued call runs, because its actor runs several calls at once.
    others = (*state.tasks[:2], running("k", "A.k", "w1", "a"))
    hung.begin(state, RayState(others))
    assert hung.ask()["deadlocks"] == []
    assert not hung.play.bridge.state.run.state_questions


def test_an_actor_that_waits_for_itself_and_an_actor_that_may_stop_waiting(hung: Hung) -> None:
    hung.add("w1", "A.m", thread("m", 5, wait=objects("k")))
    hung.add("w2", "B.m", thread("m", 6, wait=objects("l", ends=True)))
    hung.begin(
        RayState(
            (
                *(running("m", "A.m", "w1", "a"), queued("k", "A.k", "w1", "a")),
                *(running("n", "B.m", "w2", "b"), queued("l", "B.l", "w2", "b")),
            )
        )
    )
    (deadlock,) = hung.ask()["deadlocks"]
    assert "A · m" in deadlock["text"]
    assert "B" not in deadlock["text"]


def test_a_task_whose_worker_is_not_known_yet(hung: Hung) -> None:
    """Ray lists a task as running before it lists its worker."""
    hung.add("d", "driver train.py", thread("<module>", 7, wait=objects("n", "m")))
    hung.begin(RayState((running("n", "new", ""), running("m", "moved", "w9"))))
    assert hung.text() == [
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:7)",
        "├─ moved: runs, but raydap has not found its worker",
        "└─ new: runs, but Ray has not reported its worker yet",
    ]


def test_one_of_several_objects_suffices(hung: Hung) -> None:
    hung.add("w1", "A.m", thread("m", 5, "ray.wait", wait=objects("k", "f", needed=1)))
    hung.add("w2", "f", thread("f", 9, "time.sleep"))
    tasks = (running("m", "A.m", "w1", "a"), queued("k", "A.k", "w1", "a"), running("f", "f", "w2"))
    hung.begin(RayState(tasks))
    answer = hung.ask()
    assert (answer["deadlocks"], answer["nodes"][0]["needed"]) == ([], 1)


def test_locks_of_threads(hung: Hung) -> None:
    lock = {"kind": "lock", "sure": True}
    first = thread("step", 12, "with self.b", ident=7, wait={**lock, "holder": 8})
    second = thread("load", 20, "with self.a", ident=8, main=False, name="loader", wait={**lock, "holder": 7})
    third = thread(
        "save", 30, "self.a.acquire", ident=9, main=False, name="saver", wait={**lock, "holder": 7, "sure": False}
    )
    fourth = thread("join", 40, "thread.join", ident=10, main=False, name="end", wait={"kind": "thread", "holder": 9})
    hung.add("w1", "A.step", first, second, third, fourth)
    hung.begin(RayState((running("m", "A.step", "w1", "a"),)))
    assert hung.text() == [
        "Deadlock:",
        "  A · step (pid 101 on 10.0.0.1): blocked in with self.b (train.py:12)",
        "  -> held by A · thread loader (pid 101 on 10.0.0.1): blocked in with self.a (train.py:20)",
        "  -> held by A · step",
        "",
        "A · thread end (pid 101 on 10.0.0.1): blocked in thread.join (train.py:40)",
        "└─ until the end of A · thread saver (pid 101 on 10.0.0.1): blocked in self.a.acquire (train.py:30)",
        "   └─ may be held by A · step (pid 101 on 10.0.0.1): blocked in with self.b (train.py:12)  [deadlock]",
        "      └─ held by A · thread loader (pid 101 on 10.0.0.1): blocked in with self.a (train.py:20)  [deadlock]",
        "         └─ held by A · step (see above)  [deadlock]",
    ]


def test_coroutines_and_an_event_loop_that_is_blocked(hung: Hung) -> None:
    loop = thread("block", 9, wait=objects("s"), name="AsyncIO Thread: default", main=False, ident=5)
    waits = thread("fetch", 12, "await ref", name="Task-1", main=False, ident=5, coroutine=True, task="c1")
    hung.add("w1", "S.serve", loop, {**waits, "wait": objects("t1")})
    other = thread("fetch", 12, "await ref", name="Task-1", main=False, ident=6, coroutine=True, task="c2")
    part = thread("inner", 14, "await x", name="Task-2", main=False, ident=6, coroutine=True, task="c2")
    hung.add("w2", "T.fetch", {**other, "wait": objects("t1")}, {**part, "wait": objects("t1")})
    hung.add("w3", "f", thread("f", 20, "sum", activity="busy"))
    hung.begin(
        RayState(
            (
                *(running("b", "S.block", "w1", "s"), running("s", "S.short", "w1", "s")),
                *(running("c1", "S.fetch", "w1", "s"), running("c2", "T.fetch", "w2", "t"), running("t1", "f", "w3")),
            )
        )
    )
    assert hung.text() == [
        "Deadlock:",
        "  S · block (pid 101 on 10.0.0.1): blocked in ray.get (train.py:9)",
        "  -> S · short (pid 101 on 10.0.0.1): has begun, but its event loop is busy",
        "  -> its event loop: S · block",
        "",
        "S · fetch (pid 101 on 10.0.0.1): blocked in await ref (train.py:12)",
        "└─ its event loop: S · block (pid 101 on 10.0.0.1): blocked in ray.get (train.py:9)  [deadlock]",
        "   └─ S · short (pid 101 on 10.0.0.1): has begun, but its event loop is busy  [deadlock]",
        "      └─ its event loop: S · block (see above)  [deadlock]",
        "T · fetch (pid 102 on 10.0.0.1): blocked in await ref (train.py:12)",
        "└─ f (pid 103 on 10.0.0.1): busy in native code below f (train.py:20)",
    ]


def test_a_task_in_one_of_several_threads(hung: Hung) -> None:
    threads = [thread("m", 5, name=str(number), main=False, ident=number, wait=objects("k")) for number in (3, 4)]
    for each in threads:
        each["frames"] = [*each["frames"], frame("actor_method_executor", owner=2)]
    hung.add("w1", "A", *threads)
    hung.add("d", "driver train.py", thread("main", 41, wait=objects("m1")))
    tasks = (running("m1", "A.m", "w1", "a"), running("m2", "A.m", "w1", "a"), queued("k", "A.k", "w1", "a"))
    hung.begin(RayState(tasks))
    answer = hung.ask()
    (deadlock,) = answer["deadlocks"]
    assert deadlock["certain"] is False
    assert answer["text"].startswith("Probably a deadlock:")
    assert "A.m (pid 101 on 10.0.0.1): runs in one of 2 threads" in answer["text"]


def test_workers_that_are_only_seen_from_outside(play: Play) -> None:
    client = play.session({"autoAttach": False})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    rows = [("d", "driver train.py", "main"), ("w1", "A.m", "m"), ("w2", "B.n", "n"), ("w3", "C.serve", "idle")]
    workers = [play.worker(key, label(name), **(DRIVER if key == "d" else {})) for key, name, _ in rows]
    for key, _, function in rows:
        seen = thread(function, 7, call="", ident=0)
        seen["frames"][0]["name"] = "get"
        seen["frames"].insert(0, frame("get_objects", owner=2))
        play.sampled[key] = stacks(seen) if key != "w3" else stacks()
    play.alive(*workers)
    client.inbox.clear()
    driver = "f" * 40 + "01000000"
    play.ray_states = [
        RayState(
            (
                running("m", "A.m", "w1", "a", parent=driver),
                running("n", "B.n", "w2", "b", parent="m"),
                RayTask("k", "A.k", "SUBMITTED_TO_WORKER", "01000000", "a", "n", WorkerKey("w1")),
                running("c", "C.serve", "w3", "c", parent=driver),
                running("e", "A.late", "w9", "e", parent="f" * 16 + "c"),
            )
        )
    ]
    answer = client.request("raydap/waits")
    assert answer["text"].splitlines() == [
        "Probably a deadlock:",
        "  A · m (pid 102 on 10.0.0.1): blocked in ray.get (train.py:7)",
        "  -> probably B · n (pid 103 on 10.0.0.1): blocked in ray.get (train.py:7)",
        "  -> probably A.k: queued: A is busy with m",
        "  -> A · m",
        "",
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:7)",
        "├─ probably A · m (pid 102 on 10.0.0.1): blocked in ray.get (train.py:7)  [deadlock]",
        "│  └─ probably B · n (pid 103 on 10.0.0.1): blocked in ray.get (train.py:7)  [deadlock]",
        "│     └─ probably A.k: queued: A is busy with m  [deadlock]",
        "│        └─ A · m (see above)  [deadlock]",
        "└─ probably C · serve (pid 104 on 10.0.0.1): runs, but in no known thread; it may be a coroutine",
        "   └─ probably A.late: runs, but raydap has not found its worker",
        "1 idle",
    ]
    client.request("raydap/workers")
    play.take(WatchAlive)


def test_workers_that_wait_at_a_breakpoint_or_do_not_answer(play: Play) -> None:
    client = play.session({"autoAttach": False})
    waiting, silent = play.worker("w1", label("A.m")), play.worker("w2", label("B.m"))
    play.paused(waiting, silent)
    client.inbox.clear()
    play.sampled = {"w1": stacks(thread("m", 7, call=""))}
    play.ray_states = [RayState(problem="The dashboard is down.")]
    answer = client.request("raydap/waits")
    assert answer["text"].splitlines() == [
        "A (pid 101 on 10.0.0.1): waits at breakpoint() for a debugger in m (train.py:7)",
        "1 could not be read",
        "Ray's list of waiting tasks is not available: The dashboard is down.",
    ]
    assert (answer["unread"], answer["problem"]) == (["w2"], "The dashboard is down.")


def test_a_worker_that_is_not_in_the_collective(hung: Hung) -> None:
    path = "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
    inner = {"name": "all_reduce", "path": path, "line": 9, "owner": 1}
    for number in range(3):
        there = thread("step", 90, "dist.all_reduce")
        there["frames"].insert(0, inner)
        there["user"] = 1
        hung.add(f"w{number}", "T.step", there if number else thread("load", 7, "queue.get"))
    hung.begin(RayState(tuple(running(f"t{each}", "T.step", f"w{each}", f"a{each}") for each in range(3))))
    answer = hung.ask()
    (collective,) = answer["collectives"]
    assert collective["text"] == "T{1-2} · step in all_reduce (torch.distributed); missing: T 0 · step"
    assert answer["text"].splitlines() == [
        f"{collective['text']}.",
        "T{1-2} · step: blocked in dist.all_reduce (train.py:90)",
        "└─ missing: T 0 · step (pid 101 on 10.0.0.1): blocked in queue.get (train.py:7)",
    ]


HOSTILE: list[Any] = [
    "nonsense",
    stacks(thread("m", 5, wait={"kind": "unknown"})),
    stacks(thread("m", 5, wait=objects("\udc80" * 100, "k"))),
    stacks(thread("m", 5, wait={"kind": "lock", "holder": 1, "sure": True})),
    stacks(thread("m", 5, wait={"kind": "lock", "holder": -1})),
    stacks(thread("m", 5, wait=objects("k", needed=10**6, puts=-5, more=10**9))),
    stacks(*[thread("m", number, wait=objects(*"abc")) for number in range(300)]),
    stacks(thread("m", 5, frames=[], user=7)),
    stacks(thread("\x1b[2J\n" * 9, 5, "\x1b]0;x\x07")),
]


@pytest.mark.parametrize("said", HOSTILE, ids=range(len(HOSTILE)))
def test_a_worker_is_not_trusted(hung: Hung, said: str) -> None:
    hung.add("w1", "A.m", thread("m", 5))
    hung.add("w2", "B.n", thread("n", 6, "time.sleep"))
    hung.begin(
        RayState((running("m", "A.m", "w1", "a"), queued("k", "A.k", "w1", "a"), running("n", "B.n", "w2", "b")))
    )
    hung.workers["w1"].blocked = said
    text = hung.ask()["text"]
    assert "B · n (pid 102 on 10.0.0.1): blocked in time.sleep (train.py:6)" in text
    assert "\x1b" not in text


def test_a_run_that_ends_before_the_answer(hung: Hung) -> None:
    hung.begin(RayState())
    hung.play.ray_states = []
    hung.client.send("raydap/waits")
    effect = hung.play.take(AskRayState)
    hung.client.send("disconnect")
    hung.client.inbox.clear()
    hung.play._effects.clear()
    hung.play.feed(RayStateListed(effect.number, RayState()))


def test_a_forked_child_that_waits_in_breakpoint_and_what_to_do(hung: Hung) -> None:
    hung.add("w1", "Loader.load", thread("load", 5, "queue.get"))
    hung.add("w2", "sum", thread("sum", 6, "queue.get"))
    waits = [ForkedWait(pid, 7, "MainThread", "read", "/app/train.py", 9) for pid in (101, 102)]
    hung.play.forked_waits = {"10.0.0.1": ForkedWaits(tuple(waits))}
    hung.begin(RayState())
    *lines, advice = hung.text()
    assert lines == [
        "Loader (pid 101 on 10.0.0.1): blocked in queue.get (train.py:5)",
        "child 7 of Loader (on 10.0.0.1): waits at breakpoint() for a debugger in read (train.py:9)",
        "child 7 of sum 102 (on 10.0.0.1): waits at breakpoint() for a debugger in read (train.py:9)",
        "sum 102 (on 10.0.0.1): blocked in queue.get (train.py:6)",
    ]
    assert advice.startswith("No debugger can attach to a forked child")
    answer = hung.ask(select="actor:Loader")
    assert [node["worker"] for node in answer["nodes"]] == ["w1", "w1/7"]
    assert (answer["nodes"][1]["state"], answer["roots"]) == ("paused", [0, 1])


def test_a_node_that_cannot_look_for_forked_children_hides_nothing_else(hung: Hung) -> None:
    hung.add("w1", "sum", thread("sum", 6, "queue.get"))
    hung.play.forked_waits = {"10.0.0.1": ForkedWaits(problem="py-spy is not installed")}
    hung.begin(RayState())
    assert hung.text() == ["sum 101 (on 10.0.0.1): blocked in queue.get (train.py:6)"]
