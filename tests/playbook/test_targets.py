"""Changed values, completions, targets of steps and jumps, and modules."""

from typing import Any

import pytest

from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def look(client: FakeClient, worker: FakeWorker) -> tuple[int, int, int]:
    """Stop this worker; return the thread, its innermost frame and the reference of the frame's variables."""
    worker.stop()
    thread = client.stop()["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    worker.commands()
    return thread, frame, scope


def test_a_variable_is_set_in_its_own_worker_and_what_it_is_now_can_be_opened(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    _, _, first = look(client, one)
    look(client, two)
    answer = client.request("setVariable", variablesReference=first, name="x", value="[2]", format={"hex": True})
    assert answer["value"] == "[2]"
    (asked,) = one.heard
    assert asked["arguments"] == {"variablesReference": 4, "name": "x", "value": "[2]", "format": {"hex": True}}
    assert client.request("variables", variablesReference=answer["variablesReference"])["variables"]
    assert two.commands() == []


def test_an_expression_is_set_in_its_frame_or_where_the_user_looks(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    _, first, _ = look(client, one)
    look(client, two)
    answer = client.request("setExpression", expression="x.y", value="[2]", frameId=first)
    assert one.heard[-1]["arguments"] == {"expression": "x.y", "value": "[2]", "frameId": 2}
    assert client.request("variables", variablesReference=answer["variablesReference"])["variables"]
    client.request("setExpression", expression="x.y", value="3")
    assert two.heard[-1]["arguments"] == {"expression": "x.y", "value": "3"}


def test_completions_come_from_the_frame_or_where_the_user_looks(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    _, first, _ = look(client, one)
    look(client, two)
    answer = client.request("completions", text="ob", column=3, frameId=first)
    assert answer == {"targets": [{"label": "ob of w1"}]}
    assert client.request("completions", text="ob", column=3) == {"targets": [{"label": "ob of w2"}]}


def test_a_step_goes_into_the_target_chosen(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread, frame, _ = look(client, worker)
    (target,) = client.request("stepInTargets", frameId=frame)["targets"]
    assert target["id"] >= 1000
    worker.commands()
    client.request("stepIn", threadId=thread, targetId=target["id"])
    assert worker.heard[0]["arguments"] == {"threadId": 1, "targetId": 5}
    assert client.event("continued")["threadId"] == thread


def test_a_jump_goes_to_the_target_chosen_and_stops_there(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    thread, _, _ = look(client, one)
    two.stop()
    client.stop()
    line = {"source": {"path": "/app/train.py"}, "line": 9}
    (target,) = client.request("gotoTargets", **line)["targets"]
    assert one.heard[-1]["arguments"] == line
    one.commands()
    client.request("goto", threadId=thread, targetId=target["id"])
    assert one.heard[0]["arguments"] == {"threadId": 1, "targetId": 5}
    assert client.event("continued")["threadId"] == thread
    one.stop(reason="goto")
    stop = client.event("stopped")
    assert (stop["reason"], stop["preserveFocusHint"]) == ("goto", False)
    assert "configurationDone" in two.commands()


@pytest.mark.parametrize(("ask", "use"), [("stepInTargets", "stepIn"), ("gotoTargets", "goto")])
def test_targets_end_with_the_stop_and_belong_to_one_worker(play: Play, ask: str, use: str) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    thread, frame, _ = look(client, one)
    other, _, _ = look(client, two)
    about: dict[str, Any] = {"frameId": frame}
    if ask == "gotoTargets":
        one.resume(1)
        client.event("continued")
        thread, _, _ = look(client, one)
        about = {"source": {"path": "/app/train.py"}, "line": 9}
    (target,) = client.request(ask, **about)["targets"]
    two.commands()
    assert "different workers" in client.refused(Code.STALE_ID, use, threadId=other, targetId=target["id"])
    assert two.commands() == []
    client.resume(thread)
    one.stop()
    client.stop()
    one.commands()
    assert "no longer valid" in client.refused(Code.STALE_ID, use, threadId=thread, targetId=target["id"])
    assert one.commands() == []
    client.resume(thread)


def test_a_jump_of_a_thread_that_runs_is_refused(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread, _, _ = look(client, worker)
    client.resume(thread)
    worker.commands()
    assert "runs" in client.refused(Code.NOT_STOPPED, "goto", threadId=thread, targetId=1)
    assert worker.commands() == []


def test_a_jump_that_fails_leaves_the_thread_stopped(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread, _, _ = look(client, worker)
    (target,) = client.request("gotoTargets", source={"path": "/app/train.py"}, line=9)["targets"]
    worker.hold.add("goto")
    seq = client.send("goto", threadId=thread, targetId=target["id"])
    worker.refuse(worker.heard[-1], "can't jump into the middle of a block")
    assert "middle of a block" in client.refusal(None, seq)
    worker._held.clear()
    client.resume(thread)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("setVariable", {"name": "x", "value": "2"}),
        ("setExpression", {"expression": "x", "value": "2"}),
        ("completions", {"text": "x", "column": 2}),
        ("stepInTargets", {}),
    ],
)
def test_ids_of_a_stop_that_is_over_are_stale(play: Play, command: str, arguments: dict[str, Any]) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread, frame, scope = look(client, worker)
    client.resume(thread)
    worker.commands()
    late = {"variablesReference": scope} if command == "setVariable" else {"frameId": frame}
    assert "no longer valid" in client.refused(Code.STALE_ID, command, **arguments, **late)
    assert worker.commands() == []


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("setExpression", {"expression": "x", "value": "2"}),
        ("completions", {"text": "x", "column": 2}),
        ("gotoTargets", {"source": {"path": "/app/train.py"}, "line": 9}),
        ("modules", {}),
    ],
)
def test_without_a_stopped_thread_requests_are_refused(play: Play, command: str, arguments: dict[str, Any]) -> None:
    client = play.session()
    assert "No worker is stopped" in client.refused(Code.NOT_STOPPED, command, **arguments)
    (worker,) = play.attached("w1")
    worker.commands()
    assert "No worker is stopped" in client.refused(Code.NOT_STOPPED, command, **arguments)
    assert worker.commands() == []


def test_modules_come_from_the_focused_worker_and_have_ids_of_their_own(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    look(client, one)
    assert client.modules[-1]["reason"] == "new"
    (first,) = client.request("modules", startModule=0, moduleCount=10)["modules"]
    look(client, two)
    (second,) = client.request("modules")["modules"]
    assert first["id"] != second["id"]
    assert [event["module"]["id"] for event in client.modules] == [first["id"], second["id"]]


@pytest.mark.parametrize("line", [None, "x", "9", True, 9.5, 0, -1, 2**31, [9]])
def test_what_is_no_line_never_reaches_the_worker(play: Play, line: Any) -> None:
    """debugpy offers a target for it, and loses the thread when `goto` cannot read that target."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.heard.clear()
    client.refused(Code.BAD_ARGUMENT, "gotoTargets", source={"path": "/app/train.py"}, line=line)
    assert worker.commands() == []
