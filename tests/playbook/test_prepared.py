"""Prepared workers: processes that call when they begin, or are found, and are attached if something can stop them."""

from typing import Any

import pytest

from raydap.core.effects import ReleaseAgent, StartDebuggee, StartDiscovery
from raydap.core.errors import Code, Problem
from raydap.core.events import (
    AgentCalled,
    AgentFound,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    WorkerGone,
    WorkerLabel,
    WorkersLabelled,
)
from raydap.protocol.types import WorkerKey
from support.fake_worker import FakeWorker
from support.playbook import FakeClient, Play

LINES = {"source": {"path": "/app/train.py"}, "breakpoints": [{"line": 7}]}
NO_LINES = {"source": {"path": "/app/train.py"}, "breakpoints": []}


def launched(play: Play, breakpoints: dict[str, Any] = NO_LINES, **arguments: Any) -> FakeClient:
    """A client whose program runs."""
    client = play.client()
    seq = client.send("launch", program="train.py", **arguments)
    client.event("capabilities")
    client.event("initialized")
    client.request("setBreakpoints", **breakpoints)
    client.request("setExceptionBreakpoints", filters=["uncaught"])
    client.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    return client


def prepared(play: Play, key: str, label: WorkerLabel | None = None, **row: Any) -> FakeWorker:
    return play.worker(key, label, port=0, agent=f"/sockets/{key}", **row)


def call(play: Play, *workers: FakeWorker) -> None:
    for worker in workers:
        play.feed(AgentCalled(worker.row))


def test_a_worker_has_the_breakpoints_before_its_first_line(play: Play) -> None:
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    call(play, worker)
    assert "setBreakpoints" in worker.commands()
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    worker.stop()
    client.stop()


def test_a_worker_that_nothing_can_stop_runs_undebugged(play: Play) -> None:
    launched(play)
    worker = prepared(play, "w1")
    call(play, worker)
    assert play.take(ReleaseAgent).worker == "w1"
    assert worker.dials == 0


def test_it_is_attached_when_somebody_sets_a_breakpoint(play: Play) -> None:
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


def test_a_process_that_calls_when_nobody_debugs_any_more_runs_on(play: Play) -> None:
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
    # Before their first task Ray does not say what they run, so both are attached.
    assert trainer.dials == other.dials == 1
    play.feed(WorkersLabelled({trainer.key: WorkerLabel(actor="Trainer"), other.key: WorkerLabel(actor="Rollout")}))
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
    assert name.startswith("child of worker · 7")
    play.feed(WorkersLabelled({parent.key: WorkerLabel(task="train")}))
    (name,) = (thread["name"] for thread in client.request("threads")["threads"])
    assert name.startswith("child of train · 7")
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
    play.feed(WorkersLabelled({trainer.key: WorkerLabel(actor="Trainer"), other.key: WorkerLabel(actor="Rollout")}))
    wanted = child_of(play, trainer, "pid-7")
    grandchild = child_of(play, wanted, "pid-8")
    assert wanted.dials == grandchild.dials == 1
    # The label of a worker that is not attached may be out of date, so Ray is asked again.
    unwanted = child_of(play, other, "pid-9")
    play.feed(WorkersLabelled({other.key: WorkerLabel(actor="Rollout")}))
    assert wanted.connected
    assert not unwanted.connected
    # Nobody has to believe a process.
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
    client.inbox.clear()
    play.tick(5)
    assert second.complete
    client.event("breakpoint")


def test_a_worker_that_has_ended_meanwhile_is_no_news(play: Play) -> None:
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


def test_a_worker_that_another_one_debugs_is_told_of(play: Play) -> None:
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
    """There is no adapter that would tell of it."""
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


def test_a_process_that_ends_when_it_is_resumed_has_run_on(play: Play) -> None:
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


def find(play: Play, *workers: FakeWorker) -> None:
    for worker in workers:
        play.feed(AgentFound(worker.row))


def test_attach_looks_for_prepared_programs_where_they_are(play: Play) -> None:
    play.session()
    assert play.reached == [""]
    play.feed(DiscoveryReady("the cluster", "/tmp/ray/session/sockets"))
    assert play.reached == ["", "/tmp/ray/session/sockets"]


@pytest.mark.parametrize("arguments", [{"reach": "paused"}, {"workers": ["10.0.0.1:5678"], "reach": "paused"}])
def test_it_looks_nowhere_if_the_user_wants_what_pauses_only(play: Play, arguments: dict[str, Any]) -> None:
    play.session(arguments)
    play.feed(DiscoveryReady("the cluster", "/tmp/ray/session/sockets"))
    assert play.reached == []


def test_a_launch_reaches_its_own_program_only(play: Play) -> None:
    launched(play)
    play.feed(DiscoveryReady("the cluster", "/tmp/ray/session/sockets"))
    assert play.reached == []


def test_what_runs_already_is_attached_while_something_can_stop_it(play: Play) -> None:
    client = play.session()
    worker, driver = prepared(play, "w1"), prepared(play, "w2", worker_type="DRIVER")
    find(play, worker, driver)
    assert worker.dials == driver.dials == 0
    client.request("setBreakpoints", **LINES)
    assert worker.complete
    assert driver.complete
    client.event("breakpoint")


def test_what_is_found_while_the_client_attaches_gets_its_breakpoints(play: Play) -> None:
    client = play.client()
    seq = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(seq)
    worker, late = prepared(play, "w1"), prepared(play, "w2")
    find(play, worker)
    call(play, late)
    # Nobody knows yet what could stop it; it need not wait for a user.
    assert play.take(ReleaseAgent).worker == "w2"
    client.request("setBreakpoints", **LINES)
    assert worker.dials == 0
    client.request("configurationDone")
    assert worker.complete
    assert late.complete
    client.event("breakpoint")


def test_the_user_can_choose_a_prepared_worker(play: Play) -> None:
    client = play.session({"autoAttach": False})
    worker, other = prepared(play, "w1"), prepared(play, "w2")
    find(play, worker, other)
    client.request("setBreakpoints", **LINES)
    assert worker.dials == other.dials == 0
    client.request("raydap/attach", workers=["w1"])
    assert worker.complete
    assert other.dials == 0
    client.event("breakpoint")
    client.request("raydap/attach")
    assert other.complete


def test_a_program_that_waits_is_attached_though_nothing_can_stop_it(play: Play) -> None:
    play.session({"actor": "Trainer"})
    waiting = prepared(play, "pid-7", worker_type="DRIVER")
    play.feed(AgentCalled(waiting.row, waits=True))
    assert waiting.complete


def test_a_program_that_waits_may_start_the_cluster_that_is_attached_to(play: Play) -> None:
    """It calls again when the client has set its breakpoints."""
    client = play.client()
    seq = client.send("attach")
    play.take(StartDiscovery)
    waiting = prepared(play, "pid-7", worker_type="DRIVER")
    play.feed(AgentCalled(waiting.row, waits=True))
    assert play.take(ReleaseAgent).worker == "pid-7"
    play.feed(DiscoveryFailed(Problem(Code.NO_CLUSTER, "There is none.")))
    client.event("initialized")
    client.answer(seq)
    client.request("configurationDone")
    # Nobody could call it.
    assert waiting.dials == 0
    play.feed(AgentCalled(waiting.row, waits=True))
    assert waiting.complete
    play.feed(DiscoveryReady("the cluster"))
    play.feed(DiscoveryFailed(Problem(Code.NO_CLUSTER, "It has ended.")))
    client.told(Code.NO_CLUSTER)


def hold(play: Play, worker: FakeWorker, reason: str = "raydap with pid 7 debugs it") -> None:
    worker.connected = False
    play.feed(WorkerGone(worker.key, reason))


def test_many_workers_that_another_one_debugs_are_one_sentence(play: Play) -> None:
    client = play.session()
    workers = [prepared(play, key) for key in ("w1", "w2", "w3")]
    for worker in workers:
        worker.hold.add("dial")
    find(play, *workers)
    client.request("setBreakpoints", **LINES)
    for worker in workers:
        hold(play, worker)
    assert "raydap with pid 7 debugs it" in client.told(Code.WORKER_BUSY)
    # Neither another breakpoint nor the clock makes raydap dial at once.
    client.request("setBreakpoints", **LINES)
    play.tick(4)
    assert [worker.dials for worker in workers] == [1, 1, 1]
    play.tick(1)
    assert [worker.dials for worker in workers] == [2, 2, 2]
    for worker in workers:
        hold(play, worker)
    play.tick(9)
    assert [worker.dials for worker in workers] == [2, 2, 2]
    for worker in workers:
        worker.hold.clear()
    play.tick(1)
    assert all(worker.complete for worker in workers)
    client.event("breakpoint")
    client.inbox.clear()


def test_it_is_let_go_when_nothing_can_stop_it_any_more(play: Play) -> None:
    """Not in the moment in which the user moves a breakpoint, and not while the user looks at it."""
    client = play.session()
    worker, looked_at, chosen = (prepared(play, key) for key in ("w1", "w2", "w3"))
    find(play, worker, looked_at, chosen)
    client.request("raydap/attach", workers=["w3"])
    client.request("setBreakpoints", **LINES)
    client.event("breakpoint")
    client.inbox.clear()
    looked_at.stop()
    stop = client.stop()
    client.request("setBreakpoints", **NO_LINES)
    assert worker.connected
    play.tick(1)
    assert (worker.connected, looked_at.connected, chosen.connected) == (False, True, True)
    client.request("continue", threadId=stop["threadId"])
    client.event("continued")
    play.tick(1)
    assert not looked_at.connected
    client.event("thread")
    client.request("setBreakpoints", **LINES)
    assert (worker.dials, looked_at.dials, chosen.dials) == (2, 2, 1)
    client.event("breakpoint")
    client.inbox.clear()


def test_it_comes_back_if_it_is_needed_while_it_is_left(play: Play) -> None:
    client = play.session()
    worker = prepared(play, "w1")
    find(play, worker)
    client.request("setBreakpoints", **LINES)
    client.event("breakpoint")
    worker.hold.add("disconnect")
    client.request("setBreakpoints", **NO_LINES)
    play.tick(1)
    client.request("setBreakpoints", **LINES)
    worker.release()
    assert not worker.connected
    play.tick(1)
    assert worker.connected
    client.event("breakpoint")


def test_not_all_of_many_are_attached_at_once_but_those_that_wait(play: Play) -> None:
    client = play.session()
    workers = [prepared(play, f"w{number}") for number in range(40)]
    for worker in workers:
        worker.hold.add("dial")
    find(play, *workers)
    client.request("setBreakpoints", **LINES)
    assert sum(worker.dials for worker in workers) == 32
    late = prepared(play, "late")
    call(play, late)
    assert late.complete
    for worker in workers:
        worker.release()
    play.tick(1)
    assert all(worker.complete for worker in workers)
    client.inbox.clear()
