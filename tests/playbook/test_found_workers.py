"""Prepared workers that raydap finds, or that wait for it: the effect of `reach` in `attach`."""

from typing import Any

import pytest

from raydap.core.effects import ReleaseAgent, StartDiscovery
from raydap.core.events import AgentCalled, AgentFound, DiscoveryFailed, DiscoveryReady, WorkerGone
from raydap.core.model.attaching import AT_ONCE
from raydap.errors import Code, Problem
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, NO_LINES, call, launched, prepared


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
    # No breakpoint is known yet, so the worker need not wait for a user.
    assert play.take(ReleaseAgent).worker == "w2"
    client.request("setBreakpoints", **LINES)
    assert worker.dials == 0
    client.request("configurationDone")
    assert worker.complete
    assert late.complete
    client.event("breakpoint")


@pytest.mark.parametrize("ends", [False, True])
def test_what_is_found_just_before_it_calls_waits_for_its_breakpoints(play: Play, ends: bool) -> None:
    client = play.session()
    client.request("setBreakpoints", **LINES)
    worker = prepared(play, "w1")
    worker.hold.add("dial")
    find(play, worker)
    call(play, worker)
    assert not [effect for effect in play._effects if isinstance(effect, ReleaseAgent)]
    if ends:
        play.feed(WorkerGone(worker.key, "it has ended", True))
    else:
        worker.release("dial")
        assert worker.complete
        client.event("breakpoint")
    assert play.take(ReleaseAgent).worker == "w1"


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


def test_a_driver_is_none_of_the_actors_that_are_wanted(play: Play) -> None:
    client = play.session({"actor": "Trainer"})
    client.request("setBreakpoints", **LINES)
    worker, driver = prepared(play, "w1"), prepared(play, "w2", worker_type="DRIVER")
    find(play, worker, driver)
    # Ray may not have reported yet what the worker runs.
    assert worker.complete
    assert driver.dials == 0
    client.event("breakpoint")


def test_a_program_that_waits_is_attached_though_nothing_can_stop_it(play: Play) -> None:
    play.session({"actor": "Trainer"})
    waiting = prepared(play, "pid-7", worker_type="DRIVER")
    play.feed(AgentCalled(waiting.row, waits=True))
    assert waiting.complete


def test_a_child_at_a_breakpoint_is_attached_though_nothing_else_can_stop_it(play: Play) -> None:
    play.session()
    parent = prepared(play, "w1")
    find(play, parent)
    child = prepared(play, "pid-8", worker_type="CHILD", parent="w1")
    play.feed(AgentCalled(child.row))
    assert play.take(ReleaseAgent).worker == "pid-8"
    play.feed(AgentCalled(child.row, stops=True))
    assert child.complete
    assert parent.dials == 0


def test_a_child_at_a_breakpoint_is_released_if_the_user_wants_no_children(play: Play) -> None:
    play.session({"subProcess": False})
    child = prepared(play, "pid-8", worker_type="CHILD", parent="w1")
    play.feed(AgentCalled(child.row, stops=True))
    assert play.take(ReleaseAgent).worker == "pid-8"
    assert child.dials == 0


def test_a_program_that_waits_may_start_the_cluster_that_is_attached_to(play: Play) -> None:
    """Its agent calls again when the client has set its breakpoints."""
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
    # raydap cannot reach the driver before its agent calls again.
    assert waiting.dials == 0
    play.feed(AgentCalled(waiting.row, waits=True))
    assert waiting.complete
    play.feed(DiscoveryReady("the cluster"))
    play.feed(DiscoveryFailed(Problem(Code.NO_CLUSTER, "It has ended.")))
    client.told(Code.NO_CLUSTER)


def test_processes_that_have_ended_do_not_delay_living_ones(play: Play) -> None:
    """The only sign of their end is that they refuse connections. No time passes in this test."""
    client = launched(play)
    children = [prepared(play, f"pid-{number}", worker_type="CHILD") for number in range(3 * AT_ONCE)]
    worker = prepared(play, "w1")
    for child in children:
        child.hold.add("dial")
    call(play, *children, worker)
    play.take_all(ReleaseAgent)
    client.request("setBreakpoints", **LINES)
    for child in children:
        assert child.dials == 1
        child.connected = False
        play.feed(WorkerGone(child.key, "it has ended", refused=True))
    assert worker.complete
    client.event("breakpoint")


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
    # Neither another breakpoint nor a little time makes raydap dial again.
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


def test_it_is_detached_when_nothing_can_stop_it_any_more(play: Play) -> None:
    """raydap detaches neither at the moment when the user moves a breakpoint nor while the worker is stopped."""
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


def test_only_so_many_are_attached_at_once_but_waiting_ones_always(play: Play) -> None:
    client = play.session()
    workers = [prepared(play, f"w{number}") for number in range(AT_ONCE + 8)]
    for worker in workers:
        worker.hold.add("dial")
    find(play, *workers)
    client.request("setBreakpoints", **LINES)
    assert sum(worker.dials for worker in workers) == AT_ONCE
    late = prepared(play, "late")
    call(play, late)
    assert late.complete
    for worker in workers:
        worker.release()
    play.tick(1)
    assert all(worker.complete for worker in workers)
    client.inbox.clear()
