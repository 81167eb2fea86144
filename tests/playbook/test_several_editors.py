"""Breakpoints and filters of one client survive the requests of others, and clients may come and leave at any time."""

import json
from typing import Any

import pytest

from raydap.core.effects import OpenChildPort, StartDebuggee, StartDiscovery, StopDiscovery
from raydap.core.events import ChildPortOpened, DebuggeeExited, DiscoveryReady
from raydap.core.workers.child_sessions import SESSION_TIMEOUT_S
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import call, launched, prepared

FILE = {"path": "/app/train.py"}

SPECS: list[dict[str, Any]] = [
    {"line": 7},
    {"line": 7, "condition": "step == 9000"},
    {"line": 7, "hitCondition": "> 3"},
    {"line": 7, "logMessage": "{step}"},
]


def sent(worker: FakeWorker) -> list[dict[str, Any]]:
    """Return the breakpoints that the worker has now."""
    arguments: dict[str, Any] = [m for m in worker.heard if m["command"] == "setBreakpoints"][-1]["arguments"]
    found: list[dict[str, Any]] = arguments["breakpoints"]
    return found


def pair(play: Play, spec: dict[str, Any]) -> tuple[FakeClient, FakeClient, FakeWorker]:
    """Return two editors and a worker. The first has set this breakpoint; the second got an event with its line."""
    first = play.session()
    (worker,) = play.attached("w1")
    first.request("setBreakpoints", source=FILE, breakpoints=[spec])
    second = play.joined()
    assert second.event("breakpoint")["breakpoint"]["line"] == 7
    return first, second, worker


def clear(*clients: FakeClient) -> None:
    for client in clients:
        client.inbox.clear()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("repeats", [True, False])
def test_a_change_in_the_same_file_leaves_the_breakpoints_of_others(
    play: Play, spec: dict[str, Any], repeats: bool
) -> None:
    """VS Code sends every line that it shows. Other editors send only their own lines."""
    first, second, worker = pair(play, spec)
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}, {"line": 9}] if repeats else [{"line": 9}])
    assert sent(worker) == [spec, {"line": 9}]
    clear(first, second)


def test_a_barrier_of_another_stays(play: Play) -> None:
    first, second, _ = pair(play, {"line": 7, "hitCondition": "all"})
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}, {"line": 9}])
    assert play.bridge.state.run.breakpoints.has_barriers
    clear(first, second)


def test_a_client_removes_what_it_has_shown(play: Play) -> None:
    first, second, worker = pair(play, SPECS[1])
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}])
    second.request("setBreakpoints", source=FILE, breakpoints=[])
    assert sent(worker) == []
    assert first.event("breakpoint")["reason"] == "changed"
    clear(first, second)


def test_a_client_changes_the_condition_of_another_if_it_sends_one(play: Play) -> None:
    first, second, worker = pair(play, SPECS[1])
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7, "condition": "x"}])
    assert sent(worker) == [{"line": 7, "condition": "x"}]
    clear(first, second)


def test_its_author_takes_a_condition_away(play: Play) -> None:
    first, second, worker = pair(play, SPECS[1])
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}])
    first.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}])
    assert sent(worker) == [{"line": 7}]
    clear(first, second)


def test_a_client_that_has_read_the_conditions_can_remove_them(play: Play) -> None:
    """A terminal shows all breakpoints, and its user can remove another client's breakpoint by its number."""
    first, second, worker = pair(play, SPECS[1])
    second.request("raydap/breakpoints")
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}])
    assert sent(worker) == [{"line": 7}]
    second.request("setBreakpoints", source=FILE, breakpoints=[])
    assert sent(worker) == []
    clear(first, second)


def test_function_breakpoints_of_another_stay(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    first.request("setFunctionBreakpoints", breakpoints=[{"name": "train", "condition": "x"}])
    second = play.joined()
    second.request("setFunctionBreakpoints", breakpoints=[])
    second.request("setFunctionBreakpoints", breakpoints=[{"name": "step"}])
    told = [m for m in worker.heard if m["command"] == "setFunctionBreakpoints"][-1]["arguments"]["breakpoints"]
    assert told == [{"name": "train", "condition": "x"}, {"name": "step"}]
    clear(first, second)


def filters(worker: FakeWorker) -> set[str]:
    return set([m for m in worker.heard if m["command"] == "setExceptionBreakpoints"][-1]["arguments"]["filters"])


def test_exception_filters_are_those_of_all_clients(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    first.request("setExceptionBreakpoints", filters=["raised"])
    second = play.joined()
    second.request("setExceptionBreakpoints", filters=["uncaught"])
    assert filters(worker) == {"raised", "uncaught"}
    first.request("setExceptionBreakpoints", filters=[])
    assert filters(worker) == {"uncaught"}
    first.request("setExceptionBreakpoints", filters=["userUnhandled"])
    second.leave()
    assert filters(worker) == {"userUnhandled"}, "what the one who has left wanted does not stop the others' workers"


def test_conditions_of_filters_are_those_of_all_clients(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    options = [{"filterId": "raised", "condition": "x  # mine"}]
    first.request("setExceptionBreakpoints", filters=[], filterOptions=options)
    second = play.joined()
    options = [{"filterId": "raised", "condition": "y"}]
    second.request("setExceptionBreakpoints", filters=[], filterOptions=options)
    condition = play.bridge.state.run.breakpoints.conditions["raised"]
    met = {(x, y) for x in (0, 1) for y in (0, 1) if eval(f"bool({condition}\n)", {"x": x, "y": y})}
    assert met == {(0, 1), (1, 0), (1, 1)}
    second.request("setExceptionBreakpoints", filters=["raised"])
    assert play.bridge.state.run.breakpoints.conditions == {}, "one of them stops always"
    assert filters(worker) == {"raised"}


def test_exception_options_alone_attach_prepared_workers(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    call(play, worker)
    play._effects.clear()
    wanted = [{"breakMode": "always", "path": [{"names": ["Python Exceptions"]}]}]
    client.request("setExceptionBreakpoints", filters=[], exceptionOptions=wanted)
    assert worker.complete


def test_an_observer_does_not_start_the_program_of_another(play: Play) -> None:
    editor = play.client()
    launch = editor.send("launch", program="train.py")
    editor.event("capabilities")
    editor.event("initialized")
    observer = play.client()
    attach = observer.send("attach", role="observer")
    observer.request("configurationDone")
    assert not play._effects, "the editor has not sent its breakpoints yet"
    editor.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    assert launch in editor.open
    assert attach in observer.open
    editor.hang_up()
    play._effects.clear()
    clear(observer)
    observer.open.clear()


def test_a_client_that_comes_after_the_end_of_the_program_is_notified(play: Play) -> None:
    first = launched(play)
    second = play.client()
    attach = second.send("attach")
    second.event("initialized")
    second.answer(attach)
    play.feed(DebuggeeExited(0))
    for event in ("output", "exited", "terminated"):
        first.event(event)
    clear(second)
    second.request("configurationDone")
    second.event("terminated")


def test_a_client_that_once_joined_has_a_session_of_its_own_later(play: Play) -> None:
    editor = play.session()
    tool = play.client()
    attach = tool.send("attach", join=True)
    tool.event("initialized")
    tool.answer(attach)
    tool.request("configurationDone")
    editor.leave()
    play.take(StopDiscovery)
    tool.event("terminated")
    again = tool.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    tool.event("initialized")
    tool.answer(again)
    tool.request("configurationDone")
    (worker,) = play.attached("w1")
    worker.stop()
    tool.stop()
    guest = play.joined()
    guest.stop()
    guest.leave()
    tool.nothing()


def test_clients_that_leave_while_they_wait_to_join_are_forgotten(play: Play) -> None:
    for _ in range(20):
        client = play.client()
        client.send("attach", join=True)
        client.hang_up()
        client.open.clear()
    assert not play.bridge.state.run.begun


@pytest.mark.parametrize("comes", [True, False])
def test_a_worker_whose_child_session_does_not_come_is_shown_by_the_parent(play: Play, comes: bool) -> None:
    parent = play.client(supportsStartDebuggingRequest=True)
    attach = parent.send("attach", sessions="perWorker")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("there"))
    play.take(OpenChildPort)
    play.feed(ChildPortOpened(1, "t"))
    parent.event("initialized")
    parent.answer(attach)
    parent.request("configurationDone")
    (worker,) = play.attached("w1")
    asked = parent.inbox.pop()
    answer = {"seq": 99, "type": "response", "request_seq": asked["seq"], "success": True, "command": "startDebugging"}
    parent.raw(json.dumps(answer).encode())
    if comes:
        child = play.client(child_session=True)
        ticket = asked["arguments"]["configuration"]["__raydap"]
        joining = child.send("attach", __raydap=ticket)
        child.event("initialized")
        child.answer(joining)
        child.request("configurationDone")
        worker.stop()
        child.stop()
        play.tick(2 * SESSION_TIMEOUT_S)
        parent.nothing()
        return
    worker.stop()
    parent.nothing()
    play.tick(SESSION_TIMEOUT_S)
    parent.stop()
    play.tick(SESSION_TIMEOUT_S)
    parent.nothing()
    play._effects.clear()


@pytest.mark.parametrize("how", ["leaves", "vanishes"])
def test_the_breakpoints_of_a_client_that_has_gone_can_be_changed_by_the_others(play: Play, how: str) -> None:
    first, second, worker = pair(play, SPECS[1])
    clear(first)
    first.leave() if how == "leaves" else first.hang_up("connection reset")
    second.request("setBreakpoints", source=FILE, breakpoints=[{"line": 7}, {"line": 9}])
    assert sent(worker) == [{"line": 7}, {"line": 9}]
    second.request("setBreakpoints", source=FILE, breakpoints=[])
    assert sent(worker) == []
    clear(second)
    play._effects.clear()


def test_a_malformed_request_changes_no_breakpoint_and_no_filter_of_another(play: Play) -> None:
    first, second, worker = pair(play, SPECS[1])
    first.request("setExceptionBreakpoints", filters=["raised"])
    malformed: list[tuple[str, dict[str, Any]]] = [
        ("setBreakpoints", {"source": {"path": 7}}),
        ("setBreakpoints", {"source": FILE, "breakpoints": [7]}),
        ("setBreakpoints", {"source": FILE, "breakpoints": 7}),
        ("setExceptionBreakpoints", {"filters": ["odd"]}),
        ("setExceptionBreakpoints", {"filters": 7}),
        ("setExceptionBreakpoints", {"filters": [], "filterOptions": [{"filterId": 7}]}),
    ]
    for command, arguments in malformed:
        second.refused(Code.BAD_ARGUMENT, command, **arguments)
    assert sent(worker) == [SPECS[1]]
    assert filters(worker) == {"raised"}
    clear(first, second)
