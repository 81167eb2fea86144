"""raydap/places gives the place of each worker in one line (docs/requests.md)."""

from dataclasses import replace
from typing import Any

from raydap.core.effects import WatchAlive
from raydap.core.process_info import ForkedWait, ForkedWaits, RayFacts
from support.fake_worker import blocked
from support.playbook import Play

TRAINER = RayFacts(task="Trainer.step", actor="Trainer", job="01")
BLOCKED = "blocked in lock.acquire (train.py:41)"


def test_stopped_and_running_workers_say_where_they_are(play: Play) -> None:
    client = play.session()
    workers = [play.worker(f"w{number}", replace(TRAINER, started=2.5 * number)) for number in range(3)]
    play.paused(*workers)
    client.inbox.clear()
    workers[0].stop()
    thread = client.stop()["threadId"]
    workers[1].blocked = blocked(1)
    workers[2].blocked = blocked()
    answer = client.request("raydap/places")
    told = [(each["label"], each["rank"], each["text"], each.get("thread")) for each in answer["places"]]
    assert told == [
        ("Trainer 0", 0, "stopped in step (train.py:7)", thread),
        ("Trainer 1", 1, BLOCKED, None),
        ("Trainer 2", 2, "idle", None),
    ]
    assert [each["location"] for each in answer["places"]] == [
        {"name": "step", "path": "/app/train.py", "line": 7},
        {"name": "step", "path": "/app/train.py", "line": 41},
        None,
    ]
    assert answer["unread"] == []
    # Ray does not report when the first task started.
    assert [each.get("started") for each in answer["places"]] == [None, 2.5, 5.0]
    assert len(client.request("raydap/places", select="rank:1")["places"]) == 1


def test_a_thread_that_cannot_stop_says_what_it_waits_for(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(1)
    client.request("raydap/pause", workers=["w1"])
    play.tick(2)
    thread = client.stop()["threadId"]
    (place,) = client.request("raydap/places")["places"]
    assert (place["thread"], place["text"], place["location"]["line"]) == (thread, BLOCKED, 41)


def test_workers_that_wait_unattached_are_looked_into_from_outside(play: Play) -> None:
    client = play.session({"autoAttach": False})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    play.sampled = {"w1": blocked(0)}
    play.paused(play.worker("w1"), play.worker("w2"))
    client.inbox.clear()
    assert client.request("raydap/places") == {"places": [], "unread": [], "children": []}
    answer: dict[str, Any] = client.request("raydap/places", outside=True)
    assert ([each["worker"] for each in answer["places"]], answer["unread"]) == (["w1"], ["w2"])
    client.request("raydap/workers")
    play.take(WatchAlive)


def test_a_worker_that_does_not_answer_is_named(play: Play) -> None:
    client = play.session()
    silent, other = play.attached("w1", "w2")
    silent.hold = {"evaluate"}
    other.stop()
    client.stop()
    seq = client.send("raydap/places")
    play.tick(3)
    answer = client.answer(seq)
    assert ([each["worker"] for each in answer["places"]], answer["unread"]) == (["w2"], ["w1"])
    silent.release()


def test_forked_children_that_wait_in_breakpoint_are_found(play: Play) -> None:
    """raydap runs on 10.0.0.1, and starts no relay for a node whose workers are all idle."""
    client = play.session({"autoAttach": False, "pathMappings": [{"localRoot": "/home/me", "remoteRoot": "/app"}]})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    # Ray lists the task of the second worker late.
    play.alive(play.worker("w1", TRAINER), play.worker("w2"), play.worker("w3", host="10.0.0.2"))
    client.inbox.clear()
    waits = [ForkedWait(pid, 7, thread, "load", "/app/train.py", 9) for pid in (102, 999) for thread in ("a", "b")]
    idle = ForkedWaits((replace(waits[0], parent=103),))
    play.forked_waits = {"10.0.0.1": ForkedWaits(tuple(waits)), "10.0.0.2": idle}
    assert client.request("raydap/places")["children"] == []
    (child,) = client.request("raydap/places", outside=True)["children"]
    assert "raydap debug PROGRAM.py" in child.pop("problem")
    place = {"name": "load", "path": "/home/me/train.py", "line": 9}
    assert child == {"parent": "w2", "pid": 7, "location": place}
    assert client.request("raydap/places", outside=True, select="actor:Trainer")["children"] == []
    client.request("raydap/workers")
    play.take(WatchAlive)
    assert not play.bridge.state.run.forked_searches


def test_the_child_of_an_idle_worker_is_found_on_raydaps_own_machine(play: Play) -> None:
    client = play.session({"autoAttach": False})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    play.alive(play.worker("w1"))
    client.inbox.clear()
    play.forked_waits = {"10.0.0.1": ForkedWaits((ForkedWait(101, 7, "MainThread", "load", "/app/train.py", 9),))}
    (child,) = client.request("raydap/places", outside=True)["children"]
    assert (child["parent"], child["pid"]) == ("w1", 7)
    client.request("raydap/workers")
    play.take(WatchAlive)
