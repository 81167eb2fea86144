"""Breakpoints as desired state (invariant 5)."""

from typing import Any

import pytest

from raydap.core.model.breakpoints import MAX_COMPLAINT, WAITING
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

SOURCE = {"path": "/app/train.py", "name": "train.py"}


def set_lines(client: FakeClient, *specs: dict[str, Any]) -> list[dict[str, Any]]:
    body = client.request("setBreakpoints", source=SOURCE, breakpoints=list(specs))
    found: list[dict[str, Any]] = body["breakpoints"]
    return found


def test_breakpoints_are_answered_at_once_and_verified_by_events(play: Play) -> None:
    client = play.session()
    (before,) = set_lines(client, {"line": 7})
    assert before == {"id": before["id"], "verified": False, "line": 7, "source": SOURCE, "message": WAITING}
    play.attached("w1")
    after = client.event("breakpoint")
    assert after["reason"] == "changed"
    assert after["breakpoint"] == {"id": before["id"], "verified": True, "line": 7, "source": SOURCE}


def test_they_are_sent_to_every_present_and_later_worker(play: Play) -> None:
    client = play.session()
    early, busy = play.worker("early"), play.worker("busy")
    busy.hold.add("initialized")
    play.paused(early, busy)
    early.commands()
    condition = {"line": 7, "condition": "x > 1", "hitCondition": "3", "logMessage": "{x}"}
    set_lines(client, condition)
    asked = next(message for message in early.heard if message["command"] == "setBreakpoints")
    assert asked["arguments"] == {"source": SOURCE, "breakpoints": [condition]}
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    busy.release()
    (late,) = play.attached("late")
    for worker in (busy, late):
        (told,) = [message for message in worker.heard if message["command"] == "setBreakpoints"]
        assert told["arguments"]["breakpoints"] == [condition]


def test_a_breakpoint_without_its_worker_is_not_verified_any_more(play: Play) -> None:
    client = play.session()
    set_lines(client, {"line": 7})
    one, two = play.attached("w1", "w2")
    client.event("breakpoint")
    one.die()
    client.nothing()
    two.die()
    assert client.event("breakpoint")["breakpoint"]["verified"] is False


def test_a_message_of_a_worker_about_a_breakpoint_is_one_short_line(play: Play) -> None:
    """Editors show it at the end of the line."""
    client = play.session()
    worker = play.worker("w1")
    worker.hold.add("setBreakpoints")
    set_lines(client, {"line": 7})
    play.paused(worker)
    (request,) = [message for message in worker.heard if message["command"] == "setBreakpoints"]
    message = "no\nsuch \x1b[31mline " + "x" * 1000
    worker.reply(request, {"breakpoints": [{"verified": False, "id": 0, "message": message}]})
    shown = client.event("breakpoint")["breakpoint"]["message"]
    assert (len(shown), shown.isprintable(), shown[-1]) == (MAX_COMPLAINT, True, "…")


def test_what_workers_say_of_a_breakpoint_is_merged(play: Play) -> None:
    client = play.session()
    one, two = play.worker("w1"), play.worker("w2")
    one.hold.add("setBreakpoints")
    two.hold.add("setBreakpoints")
    (breakpoint,) = set_lines(client, {"line": 7})
    play.paused(one, two)
    requests = [message for worker in (one, two) for message in worker.heard if message["command"] == "setBreakpoints"]
    one.reply(requests[0], {"breakpoints": [{"verified": False, "id": 0, "message": "no such line"}]})
    assert client.event("breakpoint")["breakpoint"]["message"] == "no such line"
    two.reply(requests[1], {"breakpoints": [{"verified": True, "id": 0, "line": 9}]})
    merged = client.event("breakpoint")["breakpoint"]
    assert merged == {
        "id": breakpoint["id"],
        "verified": False,
        "message": "Set in 1 of 2 workers. no such line",
        "line": 9,
        "source": SOURCE,
    }
    two.say("breakpoint", {"reason": "changed", "breakpoint": {"id": 0, "verified": True, "line": 10}})
    assert client.event("breakpoint")["breakpoint"]["line"] == 10
    for unknown in (5, "0", None, False, -1):
        two.say("breakpoint", {"reason": "changed", "breakpoint": {"id": unknown, "verified": True, "line": 11}})
    client.nothing()
    one.say("breakpoint", {"reason": "changed", "breakpoint": {"id": 0, "verified": True, "line": 10}})
    both = client.event("breakpoint")["breakpoint"]
    assert both == {"id": breakpoint["id"], "verified": True, "line": 10, "source": SOURCE}
    one._held.clear()
    two._held.clear()


def test_breakpoints_that_are_set_just_before_a_continue_are_there_when_the_thread_runs(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.commands()
    set_lines(client, {"line": 7})
    client.request("continue", threadId=thread)
    assert worker.commands()[0] == "setBreakpoints"
    client.inbox.clear()


def test_the_id_0_of_a_worker_is_an_id(play: Play) -> None:
    client = play.session()
    (breakpoint,) = set_lines(client, {"line": 7})
    (worker,) = play.attached("w1")
    client.event("breakpoint")
    worker.stop(hitBreakpointIds=[0])
    assert client.stop()["hitBreakpointIds"] == [breakpoint["id"]]
    worker.stop(hitBreakpointIds=[8, "0", False])
    assert client.stop()["hitBreakpointIds"] == []


def test_a_breakpoint_that_stays_keeps_its_id_and_the_others_get_new_ones(play: Play) -> None:
    client = play.session()
    first, second = set_lines(client, {"line": 7}, {"line": 8})
    same, changed = set_lines(client, {"line": 8}, {"line": 7, "condition": "x"})
    assert same["id"] == second["id"]
    assert changed["id"] not in (first["id"], second["id"])


def test_the_deprecated_lines_set_breakpoints(play: Play) -> None:
    client = play.session()
    source = {"path": "/app/train.py"}
    answer = client.request("setBreakpoints", source=source, lines=[7, 9])["breakpoints"]
    assert [each["line"] for each in answer] == [7, 9]
    (worker,) = play.attached("w1")
    (sent,) = [each["arguments"] for each in worker.heard if each["command"] == "setBreakpoints"]
    assert sent["breakpoints"] == [{"line": 7}, {"line": 9}]
    for _ in range(2):
        client.event("breakpoint")
    assert client.request("setBreakpoints", source=source, lines=[7], breakpoints=[])["breakpoints"] == []
    text = client.refused(Code.BAD_ARGUMENT, "setBreakpoints", source=source, lines=["7"])
    assert text.startswith('The argument "lines"')


def stop_in_link(play: Play, **further: Any) -> tuple[FakeClient, FakeWorker, str]:
    """Set a breakpoint in link/train.py, and stop a worker that has imported real/train.py."""
    client = play.session()
    client.request("setBreakpoints", source={"path": "/link/train.py"}, breakpoints=[{"line": 7}])
    (worker,) = play.attached("w1")
    worker.path = "/real/train.py"
    client.event("breakpoint")
    worker.stop(hitBreakpointIds=[0])
    thread = client.stop()["threadId"]
    body = client.request("stackTrace", threadId=thread, **further)
    return client, worker, body["stackFrames"][0]["source"]["path"]


def test_a_stop_shows_a_linked_file_by_the_path_of_its_breakpoint(play: Play) -> None:
    client, worker, path = stop_in_link(play)
    assert path == "/link/train.py"
    thread = client.request("threads")["threads"][0]["id"]
    client.resume(thread, "next")
    worker.stop(reason="step")
    client.stop()
    (frame, *_) = client.request("stackTrace", threadId=thread)["stackFrames"]
    assert frame["source"]["path"] == "/link/train.py"
    client.request("setBreakpoints", source={"path": "/real/train.py"}, breakpoints=[{"line": 7}])
    client.event("breakpoint")
    client.resume(thread)
    worker.stop(hitBreakpointIds=[0, 1])
    client.stop()
    (frame, *_) = client.request("stackTrace", threadId=thread)["stackFrames"]
    assert frame["source"]["path"] == "/real/train.py"


def test_a_part_of_a_stack_teaches_no_path(play: Play) -> None:
    assert stop_in_link(play, startFrame=1)[2] == "/real/train.py"


def test_sources_and_functions_do_not_replace_each_other(play: Play) -> None:
    client = play.session()
    set_lines(client, {"line": 7})
    client.request("setBreakpoints", source={"path": ""}, breakpoints=[{"line": 1}])
    client.request("setBreakpoints", source={"path": "/app/other.py"}, breakpoints=[{"line": 3}])
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "f"}])
    client.request("setBreakpoints", source={"path": "/app/other.py"}, breakpoints=[])
    worker = play.worker("w1")
    worker.hold |= {"setBreakpoints", "setFunctionBreakpoints"}
    play.paused(worker)
    told = [message["arguments"] for message in worker.heard if message["command"].endswith("nBreakpoints")]
    sources = [message["arguments"] for message in worker.heard if message["command"] == "setBreakpoints"]
    assert [arguments["source"]["path"] for arguments in sources] == ["/app/train.py", ""]
    assert {"breakpoints": [{"name": "f"}]} in told


def test_breakpoints_removed_before_the_answer_are_not_reported_again(play: Play) -> None:
    client = play.session()
    set_lines(client, {"line": 7})
    worker = play.worker("w1")
    worker.hold.add("setBreakpoints")
    play.paused(worker)
    set_lines(client)
    worker.release()
    client.nothing()


def test_a_worker_that_refuses_breakpoints_is_logged(play: Play) -> None:
    client = play.session()
    set_lines(client, {"line": 7})
    worker = play.worker("w1")
    worker.hold.add("setBreakpoints")
    play.paused(worker)
    (request,) = [message for message in worker.heard if message["command"] == "setBreakpoints"]
    worker.refuse(request, "no")
    play.warned("failed setBreakpoints: no")


def test_uncaught_exceptions_stop_until_a_client_says_otherwise(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")

    def filters() -> list[str]:
        told = [message for message in worker.heard if message["command"] == "setExceptionBreakpoints"]
        found: list[str] = told[-1]["arguments"]["filters"]
        return found

    assert filters() == ["uncaught"]
    client.request("setExceptionBreakpoints", filters=["raised", "userUnhandled"])
    assert filters() == ["raised", "userUnhandled"]
    assert "raised" in client.refused(Code.BAD_ARGUMENT, "setExceptionBreakpoints", filters=["all"])
    assert filters() == ["raised", "userUnhandled"]


@pytest.mark.parametrize(
    ("command", "arguments", "name"),
    [
        ("setBreakpoints", {"breakpoints": []}, "source"),
        ("setBreakpoints", {"source": {"sourceReference": 3}, "breakpoints": []}, "source"),
        ("setBreakpoints", {"source": SOURCE, "breakpoints": {"line": 1}}, "breakpoints"),
        ("setFunctionBreakpoints", {"breakpoints": ["f"]}, "breakpoints"),
        ("setExceptionBreakpoints", {"filters": "uncaught"}, "filters"),
        ("setExceptionBreakpoints", {"filters": [None, {}]}, "filters"),
    ],
)
def test_wrong_arguments_are_named(play: Play, command: str, arguments: dict[str, Any], name: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.commands()
    assert f'"{name}"' in client.refused(Code.BAD_ARGUMENT, command, **arguments)
    assert worker.commands() == []
