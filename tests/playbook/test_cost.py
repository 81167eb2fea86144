"""The cost of one worker does not depend on how many others are attached. The tests count work, not time."""

from collections import Counter
from typing import Any

import pytest

from raydap.core.events import AgentsEnded, WorkerGone
from raydap.core.process_info import RayFacts
from raydap.core.workers import worker_entries
from support.counted_lines import Counted
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import call, launched, prepared

MANY = 60
"""How many workers are many: each worker that a loop visits adds lines, so 60 show a loop as well as 1,000."""


@pytest.fixture(params=[{}, {"task": "train*"}, {"maxWorkers": MANY + 1}], ids=["all", "filtered", "limited"])
def arguments(request: pytest.FixtureRequest) -> Any:
    return request.param


def crowd(count: int, arguments: dict[str, Any]) -> tuple[Play, FakeClient, list[FakeWorker]]:
    """Return a session with `count` attached workers. A filter, if given, excludes as many others."""
    play = Play(conform=False)
    client = play.session(arguments)
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    workers = [play.worker(f"w{number}", RayFacts(task="train")) for number in range(count)]
    others = []
    if "task" in arguments:
        others = [play.worker(f"x{number}", RayFacts(task="other")) for number in range(count)]
    play.paused(*others, *workers)
    assert all(worker.complete for worker in workers)
    assert not any(worker.connected for worker in others)
    client.inbox.clear()
    return play, client, workers


def look_and_go_on(client: FakeClient, worker: FakeWorker) -> None:
    """Stop a worker, send all requests of an editor that shows the stop, and continue."""
    worker.stop(hitBreakpointIds=[0])
    thread = client.stop()["threadId"]
    client.request("threads")
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    client.request("variables", variablesReference=scope)
    client.request("evaluate", expression="total", frameId=frame, context="watch")
    client.resume(thread)
    client.inbox.clear()


def cost(count: int, arguments: dict[str, Any]) -> tuple[Counter[str], int, int]:
    """Return the effects, the worker's messages and the lines of Python for one stop of one of `count` workers."""
    play, client, workers = crowd(count, arguments)
    look_and_go_on(client, workers[0])  # Leave out work that only the first stop of a worker causes.
    held = len(play.bridge.state.handles)
    heard = len(workers[0].said)
    counted = Counted(play)
    look_and_go_on(client, workers[0])
    assert len(play.bridge.state.handles) == held, "the handles of a stop are freed when it is over"
    return counted.effects, len(workers[0].said) - heard, counted.lines


def test_a_stop_costs_the_same_beside_many_workers(arguments: dict[str, Any]) -> None:
    alone = cost(1, arguments)
    assert alone[0]["SendToClient"] >= 8
    assert alone[0]["SendToWorker"] == 5
    assert cost(MANY, arguments) == alone


@pytest.mark.parametrize("label", [RayFacts(task="train"), RayFacts(task="train", actor="Trainer")])
def test_an_arrival_at_a_barrier_costs_the_same_beside_many_workers(label: RayFacts) -> None:
    def arrival(count: int) -> tuple[Counter[str], int]:
        play = Play(conform=False)
        client = play.session()
        breakpoints = [{"line": 7, "hitCondition": "all"}]
        client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=breakpoints)
        workers = [play.worker(f"w{number}", label) for number in range(count)]
        play.paused(*workers)
        client.inbox.clear()
        for worker in workers[: count // 2]:
            worker.stop(hitBreakpointIds=[0])
        counted = Counted(play)
        workers[-2].stop(hitBreakpointIds=[0])
        client.nothing()
        return counted.effects, counted.lines

    assert arrival(MANY) == arrival(4)


def test_a_stop_costs_the_same_beside_many_alive_workers() -> None:
    def stop(count: int) -> tuple[Counter[str], int]:
        play, client, (worker,) = crowd(1, {})
        play.joined().request("raydap/workers", all=True)
        play.alive(*(play.worker(f"a{number}") for number in range(count)))
        look_and_go_on(client, worker)
        counted = Counted(play)
        look_and_go_on(client, worker)
        return counted.effects, counted.lines

    assert stop(MANY) == stop(1)


def test_the_handles_of_many_stops_are_those_of_one_times_as_many() -> None:
    def held(count: int) -> int:
        play, _, workers = crowd(count, {})
        before = len(play.bridge.state.handles)
        for worker in workers:
            worker.stop()
        return len(play.bridge.state.handles) - before

    assert held(100) == 100 * held(1) > 0


def test_an_attach_costs_the_same_beside_many_workers(arguments: dict[str, Any]) -> None:
    def attach(count: int) -> tuple[Counter[str], int]:
        play, client, _ = crowd(count, arguments)
        late = play.worker("late", RayFacts(task="train"))
        # The list of paused workers is read row by row. The work after that must not grow with the rows.
        counted = Counted(play)
        late.hold = {"dial"}
        play.paused(late, *(worker for key, worker in play.workers.items() if key.startswith("x")))
        listed = counted.lines
        late.release()
        assert late.complete
        assert client.inbox == []
        return counted.effects, counted.lines - listed

    assert attach(MANY) == attach(1)


def test_the_texts_of_breakpoints_are_sent_once_a_second_however_many_workers_answer(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    odd, *workers = (play.worker(f"w{number}") for number in range(MANY))
    odd.refuses_lines = True
    play.paused(odd, *workers)
    assert len(client.inbox) <= 2, "it is not set in one worker, and then set in another one"
    client.inbox.clear()
    play.tick(1)
    assert client.event("breakpoint")["breakpoint"]["message"].startswith(f"Set in {MANY - 1} of {MANY} workers")
    for worker in workers[1:]:
        worker.stop()
        worker.die("closed")
    client.inbox.clear()
    play.tick(1)
    assert client.event("breakpoint")["breakpoint"]["message"].startswith("Set in 1 of 2 workers")
    play.tick(10)
    client.inbox.clear()
    play._effects.clear()


def test_children_that_have_ended_are_forgotten() -> None:
    play = Play(conform=False)
    client = launched(play, {"source": {"path": "/app/train.py"}, "breakpoints": [{"line": 7}]})
    call(play, prepared(play, "w1"))
    for number in range(10):
        child = prepared(play, f"pid-{number}", worker_type="CHILD", parent="w1")
        call(play, child)
        assert child.complete
        child.connected = False
        play.feed(WorkerGone(child.key, "closed"))
    assert not any(process.children or process.origin for process in play.bridge.state.run.processes)
    client.inbox.clear()


def test_nothing_is_kept_of_the_ranks_of_ended_actors(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers", all=True)
    for number in range(16):
        label = [RayFacts(actor="Trainer", job="01", rank=each, created=4) for each in range(4)]
        play.alive(*(play.worker(f"{number}-{each}", label[each]) for each in range(4)))
        entries = client.request("raydap/select", select="actor:Trainer", running=True)
        assert len(entries["workers"]) == 4
        members = worker_entries.members(play.bridge.state)
        assert [member.title for member in members.values()] == [f"Trainer {each}" for each in range(4)]
    client.inbox.clear()
    play.alive()
    client.inbox.clear()
    play._effects.clear()


def test_processes_that_came_and_went_are_forgotten() -> None:
    play = Play(conform=False)
    client = launched(play, actor="Trainer")
    workers = [prepared(play, f"w{number}", RayFacts(actor="Other")) for number in range(20)]
    call(play, *workers)
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    play.tick(10)
    play.feed(AgentsEnded({worker.row.agent for worker in workers}))
    for worker in workers:
        if worker.connected:
            worker.connected = False
            play.feed(WorkerGone(worker.key, "closed"))
    assert len(play.bridge.state.run.processes) == 0
    dials = [worker.dials for worker in workers]
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 8}])
    play.tick(100)
    assert [worker.dials for worker in workers] == dials
    client.inbox.clear()


def test_alive_workers_that_came_and_went_are_forgotten(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers", all=True)
    workers = [play.worker(f"w{number}", RayFacts(actor="Trainer")) for number in range(20)]
    play.alive(*workers)
    client.request("raydap/attach", workers=[worker.key for worker in workers])
    play.alive()
    assert len(play.bridge.state.run.processes) == 0
    client.inbox.clear()
    play._effects.clear()


def test_a_tick_while_workers_wait_at_a_barrier_costs_little_for_each() -> None:
    """It costs a line or two for each missing worker, and nothing for the others."""

    def lines(count: int) -> int:
        play = Play(conform=False)
        client = play.session()
        breakpoints = [{"line": 7, "hitCondition": "all"}]
        client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=breakpoints)
        workers = [play.worker(f"w{number}", RayFacts(task="train", actor="Trainer")) for number in range(count)]
        play.paused(*workers)
        for worker in workers[: count // 2]:
            worker.stop(hitBreakpointIds=[0])
        for _ in range(5):
            play.tick(1)
        counted = Counted(play)
        play.tick(1)
        return counted.lines

    assert (lines(60) - lines(20)) / 40 < 6


def test_a_breakpoint_attaches_prepared_workers_at_once_and_at_the_same_cost_for_each() -> None:
    def lines(count: int) -> int:
        play = Play(conform=False)
        client = launched(play)
        workers = [prepared(play, f"w{number}", node=f"10.0.1.{number % 4}") for number in range(count)]
        call(play, *workers)
        counted = Counted(play)
        client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
        assert all(worker.complete for worker in workers)
        return counted.lines

    assert lines(60) < 3.3 * lines(20)


def test_the_end_of_a_worker_costs_the_same_beside_many_that_a_filter_keeps_out() -> None:
    def lines(count: int) -> int:
        play = Play(conform=False)
        play.session({"task": "train*"})
        others = [play.worker(f"x{number}", RayFacts(task="other")) for number in range(count)]
        worker = play.worker("w", RayFacts(task="train"))
        play.paused(*others, worker)
        counted = Counted(play)
        worker.die("closed")
        return counted.lines

    assert lines(60) == lines(5)
