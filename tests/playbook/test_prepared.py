"""Prepared workers: their processes call raydap when they start, and are attached if something can stop them."""

from typing import Any

import pytest

from raydap.core.effects import ReleaseAgent
from raydap.core.events import FactsListed, WorkerGone
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from raydap.protocol.types import WorkerKey
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, call, launched, prepared


def test_a_worker_has_the_breakpoints_before_its_first_line(play: Play) -> None:
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    call(play, worker)
    assert "setBreakpoints" in worker.commands()
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    worker.stop()
    client.stop()


def test_a_worker_is_listed_as_running_when_it_has_its_breakpoints(play: Play) -> None:
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    worker.hold = {"configurationDone"}
    call(play, worker)
    # pydevd, which has no adapter here, has answered `attach`.
    assert worker.complete
    (listed,) = client.request("raydap/workers")["workers"]
    assert listed["state"] == "attaching"
    worker.release()
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    (listed,) = client.event("raydap/workersChanged")["workers"]
    assert listed["state"] == "running"


def test_a_worker_that_nothing_can_stop_runs_undebugged(play: Play) -> None:
    launched(play)
    worker = prepared(play, "w1")
    call(play, worker)
    assert play.take(ReleaseAgent).worker == "w1"
    assert worker.dials == 0


def test_it_is_attached_when_a_client_sets_a_breakpoint(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    call(play, worker)
    play.take(ReleaseAgent)
    client.request("setBreakpoints", **LINES)
    assert worker.dials == 1
    assert client.event("breakpoint")["breakpoint"]["verified"] is True


@pytest.mark.parametrize("filters", [["raised"], ["uncaught", "userUnhandled"]])
def test_it_is_attached_for_exceptions_that_can_stop_it(play: Play, filters: list[str]) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    call(play, worker)
    play.take(ReleaseAgent)
    client.request("setExceptionBreakpoints", filters=filters)
    assert worker.dials == 1


def test_the_driver_is_always_debugged(play: Play) -> None:
    launched(play)
    driver = prepared(play, "pid-4711", worker_type="DRIVER")
    call(play, driver)
    assert driver.complete


def test_a_process_that_calls_after_the_end_of_the_session_is_released(play: Play) -> None:
    client = launched(play, LINES)
    client.request("disconnect", terminateDebuggee=True)
    play._effects.clear()
    worker = prepared(play, "w1")
    call(play, worker)
    assert play.take(ReleaseAgent).worker == "w1"


def test_filters_hold_for_prepared_workers(play: Play) -> None:
    client = launched(play, LINES, node="10.0.0.2", actor="Trainer")
    elsewhere = prepared(play, "w1", node="10.0.0.1")
    call(play, elsewhere)
    assert play.take(ReleaseAgent).worker == "w1"
    trainer, other = prepared(play, "w2", node="10.0.0.2"), prepared(play, "w3", node="10.0.0.2")
    call(play, trainer, other)
    # Ray does not report what they run before their first task, so both are attached.
    assert trainer.dials == other.dials == 1
    play.feed(FactsListed({trainer.key: RayFacts(actor="Trainer"), other.key: RayFacts(actor="Rollout")}))
    assert trainer.connected
    assert not other.connected
    client.inbox.clear()


def child_of(play: Play, parent: FakeWorker, key: str, **row: Any) -> FakeWorker:
    child = prepared(play, key, worker_type="CHILD", parent=parent.key, **row)
    call(play, child)
    return child


def test_a_child_is_named_after_its_parent(play: Play) -> None:
    client = launched(play, LINES)
    parent = prepared(play, "w1")
    call(play, parent)
    client.event("breakpoint")
    child = child_of(play, parent, "pid-7", pid=7)
    (attach,) = (message["arguments"] for message in child.heard if message["command"] == "attach")
    assert "subProcessId" not in attach
    child.stop()
    client.event("thread")
    (name,) = (thread["name"] for thread in client.request("threads")["threads"])
    assert name.startswith("child of worker 101 · 7")
    play.feed(FactsListed({parent.key: RayFacts(task="train")}))
    (name,) = (thread["name"] for thread in client.request("threads")["threads"])
    assert name.startswith("child of train 101 · 7")
    client.inbox.clear()


def test_a_child_that_nothing_can_stop_runs_undebugged(play: Play) -> None:
    launched(play)
    driver = prepared(play, "pid-4711", worker_type="DRIVER")
    call(play, driver)
    child = child_of(play, driver, "pid-7")
    assert play.take(ReleaseAgent).worker == "pid-7"
    assert child.dials == 0


def test_a_child_is_attached_if_its_parent_is_wanted(play: Play) -> None:
    client = launched(play, LINES, actor="Trainer")
    trainer, other = prepared(play, "w2"), prepared(play, "w3")
    call(play, trainer, other)
    play.feed(FactsListed({trainer.key: RayFacts(actor="Trainer"), other.key: RayFacts(actor="Rollout")}))
    wanted = child_of(play, trainer, "pid-7")
    grandchild = child_of(play, wanted, "pid-8")
    assert wanted.dials == grandchild.dials == 1
    # The label of a worker that is not attached may be out of date, so raydap asks Ray again.
    unwanted = child_of(play, other, "pid-9")
    play.feed(FactsListed({other.key: RayFacts(actor="Rollout")}))
    assert wanted.connected
    assert not unwanted.connected
    # A process can claim any parent, even itself.
    liar = prepared(play, "pid-10", worker_type="CHILD", parent=WorkerKey("pid-10"))
    call(play, liar)
    assert liar.dials == 0
    play.take(ReleaseAgent)
    client.inbox.clear()


def test_no_more_workers_are_attached_than_the_user_allows(play: Play) -> None:
    client = launched(play, LINES, maxWorkers=1)
    first, second = prepared(play, "w1"), prepared(play, "w2")
    call(play, first, second)
    assert (first.dials, second.dials) == (1, 0)
    client.event("breakpoint")
    client.told(Code.TOO_MANY_WORKERS)
    assert play.take(ReleaseAgent).worker == "w2"
    first.connected = False
    play.feed(WorkerGone(first.key, "closed"))
    assert second.complete, "at once, not at the next trial"
    client.inbox.clear()


def test_a_worker_that_ended_before_the_dial_is_not_reported(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    worker.hold.add("dial")
    call(play, worker)
    play.take(ReleaseAgent)
    client.request("setBreakpoints", **LINES)
    worker.connected = False
    play.feed(WorkerGone(worker.key, "it has ended", refused=True))
    client.request("setBreakpoints", **LINES)
    assert worker.dials == 1


def test_a_worker_that_another_debugger_holds_is_reported(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    worker.hold.add("dial")
    call(play, worker)
    play.take(ReleaseAgent)
    client.request("setBreakpoints", **LINES)
    worker.connected = False
    play.feed(WorkerGone(worker.key, "raydap with pid 7 debugs it"))
    assert "cannot be debugged (raydap with pid 7 debugs it)" in client.told(Code.WORKER_BUSY)


def test_the_end_of_a_process_ends_its_connection(play: Play) -> None:
    """There is no adapter that would report it."""
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    call(play, worker)
    client.event("breakpoint")
    worker.stop()
    stop = client.stop()
    worker.connected = False
    play.feed(WorkerGone(WorkerKey("w1"), "closed"))
    assert client.event("thread") == {"reason": "exited", "threadId": stop["threadId"]}
    play.tick(60)
    client.event("breakpoint")
    assert "its process has ended" in client.told(Code.WORKER_GONE)


def test_a_process_that_ends_when_it_is_resumed_counts_as_resumed(play: Play) -> None:
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    call(play, worker)
    client.event("breakpoint")
    worker.stop()
    stop = client.stop()
    worker.hold.add("evaluate")
    seq = client.send("continue", threadId=stop["threadId"])
    worker.connected = False
    play.feed(WorkerGone(WorkerKey("w1"), "closed"))
    assert client.answer(seq)["allThreadsContinued"] is False
    client.event("continued")
    client.event("thread")
    play.tick(60)
    client.event("breakpoint")
    client.nothing()
