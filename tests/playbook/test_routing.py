"""Requests to one worker: ids in both directions, lifetimes, answers of every kind (invariants 3, 4 and 9)."""

from typing import Any

import pytest

from raydap.core.effects import StopDiscovery
from raydap.core.requests.table import TABLE
from raydap.errors import Code
from raydap.inworker import calls
from raydap.protocol.id_fields import COMMANDS
from support.playbook import NEEDED, Play


def test_the_same_ids_of_two_workers_are_different_handles(play: Play) -> None:
    client = play.session()
    shown: list[list[int]] = []
    for worker in play.attached("w1", "w2"):
        worker.stop()
        thread = client.stop()["threadId"]
        frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
        scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        (variable,) = client.request("variables", variablesReference=scope)["variables"]
        assert variable["name"].startswith(f"{worker.key}:")
        shown.append([thread, frame, scope, variable["variablesReference"]])
    handles = [handle for each in shown for handle in each]
    assert len(set(handles)) == len(handles)
    assert min(handles) >= 1000


def test_the_same_thing_has_the_same_handle_during_a_stop_and_another_in_the_next(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    before = client.request("stackTrace", threadId=thread)
    assert client.request("stackTrace", threadId=thread) == before
    client.resume(thread, "next")
    worker.stop(reason="step")
    client.stop()
    after = client.request("stackTrace", threadId=thread)
    assert after["stackFrames"][0]["id"] > before["stackFrames"][1]["id"]


@pytest.mark.parametrize("command", ["stackTrace", "next", "continue", "pause", "exceptionInfo"])
def test_a_request_for_a_wrong_thread_names_the_stopped_ones(play: Play, command: str) -> None:
    client = play.session()
    workers = play.attached("w1", "w2", "w3", "w4")
    assert client.refused(Code.STALE_ID, command, threadId=1).endswith("refresh the view. [raydap 1006]")
    threads = []
    for worker in workers:
        worker.stop()
        threads.append(client.stop()["threadId"])
    text = client.refused(Code.STALE_ID, command, threadId=1)
    assert "; stopped threads: " in text
    assert [str(thread) in text for thread in threads] == [True, True, True, False]
    assert text.endswith(" and 1 more. [raydap 1006]")


def test_a_request_for_a_running_thread_names_the_stopped_ones(play: Play) -> None:
    client = play.session()
    first, second = play.attached("w1", "w2")
    first.stop()
    running = client.stop()["threadId"]
    client.resume(running)
    second.stop()
    stopped = client.stop()["threadId"]
    for command in ("stackTrace", "next"):
        assert f"; stopped threads: {stopped} (" in client.refused(Code.NOT_STOPPED, command, threadId=running)


def test_ids_of_a_stop_that_is_over_are_stale(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    client.resume(thread)
    worker.commands()
    assert "no longer valid" in client.refused(Code.STALE_ID, "scopes", frameId=frame)
    assert "no longer valid" in client.refused(Code.STALE_ID, "variables", variablesReference=scope)
    assert "no longer valid" in client.refused(Code.STALE_ID, "evaluate", expression="x", frameId=frame)
    assert "runs" in client.refused(Code.NOT_STOPPED, "stackTrace", threadId=thread)
    assert "runs" in client.refused(Code.NOT_STOPPED, "exceptionInfo", threadId=thread)
    assert worker.commands() == []


BY_ARGUMENT = {name: row.route for name, row in TABLE.items() if row.route is not None and row.route.argument}

BAD_IDS = [0, -1, 1, 999, 10**6, 2**31, 2**70, "1000", True, False, None, 1000.5, [1000], {"id": 1000}]


@pytest.mark.parametrize("bad", BAD_IDS, ids=repr)
@pytest.mark.parametrize("command", BY_ARGUMENT)
def test_what_is_no_id_of_ours_is_refused(play: Play, command: str, bad: object) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.commands()
    if BY_ARGUMENT[command].else_focused and bad is None:
        client.request(command, **NEEDED[command], frameId=None)
        assert "frameId" not in worker.heard[-1]["arguments"]
        return
    arguments = {**NEEDED.get(command, {}), BY_ARGUMENT[command].argument: bad}
    assert "not one of raydap's" in client.refused(Code.STALE_ID, command, **arguments)
    assert worker.commands() == []


def test_an_id_of_another_kind_is_refused(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    worker.commands()
    client.refused(Code.STALE_ID, "scopes", frameId=thread)
    client.refused(Code.STALE_ID, "variables", variablesReference=frame)
    client.refused(Code.STALE_ID, "continue", threadId=frame)
    client.refused(Code.STALE_ID, "stackTrace", threadId=frame)
    assert worker.commands() == []


def test_an_answer_that_comes_after_the_stop_is_over_shows_nothing(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("stackTrace")
    late = client.send("stackTrace", threadId=thread)
    worker.resume(1)
    client.event("continued")
    worker.stop()
    client.stop()
    worker.release()
    assert "runs" in client.refusal(Code.NOT_STOPPED, late)


def test_an_expression_without_a_frame_goes_to_a_stopped_worker(play: Play) -> None:
    client = play.session()
    assert "No worker is stopped" in client.refused(Code.NOT_STOPPED, "evaluate", expression="x")
    one, two = play.attached("w1", "w2")
    assert "No worker is stopped" in client.refused(Code.NOT_STOPPED, "evaluate", expression="x")
    two.stop()
    client.stop()
    assert client.request("evaluate", expression="x")["result"] == "x of w2"
    one.stop()
    client.stop()
    assert client.request("evaluate", expression="x")["result"] == "x of w2"


def test_a_workers_own_failure_is_passed_on(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    assert client.refused(None, "evaluate", expression="fail") == "evaluation failed"


def test_exception_info_and_unknown_fields_pass_as_they_came(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(reason="exception", text="ValueError", _private={"a": [1]})
    stop = client.stop()
    assert stop["text"] == "ValueError"
    assert stop["_private"] == {"a": [1]}
    info = client.request("exceptionInfo", threadId=stop["threadId"])
    assert info == {"exceptionId": "ValueError", "breakMode": "unhandled"}


@pytest.mark.parametrize("reason", ["breakpoint", "step", "pause"])
def test_a_stop_without_an_exception_has_no_exception_info(play: Play, reason: str) -> None:
    """pydevd would print a traceback of its own into the program's output."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(reason=reason)
    thread = client.stop()["threadId"]
    worker.commands()
    assert "has stopped for an exception" in client.refused(Code.BAD_ARGUMENT, "exceptionInfo", threadId=thread)
    assert worker.commands() == []


def test_a_slow_worker_delays_no_other_and_its_requests_are_answered(play: Play) -> None:
    client = play.session()
    slow, quick = play.attached("w1", "w2")
    slow.stop()
    quick.stop()
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    slow.hold.add("stackTrace")
    waiting = client.send("stackTrace", threadId=first)
    client.request("stackTrace", threadId=second)
    play.tick(TABLE["stackTrace"].timeout_s - 1)
    client.nothing()
    play.tick(1)
    assert "worker 101 on 10.0.0.1 did not answer" in client.refusal(Code.WORKER_SILENT, waiting).lower()
    slow.release()
    client.nothing()


def test_what_the_user_evaluates_may_take_long(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.hold.add("evaluate")
    waiting = client.send("evaluate", expression="train()")
    play.tick(600)
    worker.release()
    assert client.answer(waiting)["result"] == "train() of w1"


def test_output_of_workers_is_shown_but_telemetry_and_private_events_are_not(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.say("output", {"category": "stdout", "output": "x = 1\n", "source": {"path": "/a"}, **worker.reference()})
    body = client.event("output")
    assert body["output"] == "[worker 101] x = 1\n"
    assert body["data"] == {"worker": "w1"}
    assert len(client.request("variables", variablesReference=body["variablesReference"])["variables"]) == 1
    worker.say("output", {"category": "telemetry", "output": "ptvsd"})
    # pydevd prints a warning about each `evaluate` that takes long, including raydap's own.
    for own in (calls.blocked_threads([1]), calls.resume_thread(1)):
        worker.say(
            "output", {"category": "important", "output": f"Evaluating: {own} did not finish after 3.00 seconds."}
        )
    for private in ("debugpySockets", "debugpyAttach", "exited", "loadedSource", "capabilities", "x"):
        worker.say(private, {"exitCode": 0})
    client.nothing()


def test_reverse_requests_of_workers_are_refused(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.commands()
    for command in ("runInTerminal", "startDebugging", "evaluate"):
        worker._send({"type": "request", "command": command, "arguments": {"args": ["rm"]}})
    assert [answer["success"] for answer in worker.heard] == [False] * 3
    assert worker.commands() == ["runInTerminal", "startDebugging", "evaluate"]
    client.nothing()


ARGUMENTS: dict[str, dict[str, Any]] = {
    "setBreakpoints": {"source": {"path": "/a.py"}, "breakpoints": []},
    "setFunctionBreakpoints": {"breakpoints": []},
    "setExceptionBreakpoints": {"filters": []},
    "pause": {"threadId": 0},
}


@pytest.mark.parametrize("command", sorted(COMMANDS | {"launchMissiles", "\udc80", "-"}))
def test_every_command_is_answered_once(play: Play, command: str) -> None:
    client = play.session()
    play.attached("w1")
    if command in TABLE:
        seq = client.send(command, **ARGUMENTS.get(command, {}))
        (answer,) = client.inbox
        assert answer["request_seq"] == seq
        client.inbox.clear()
        if command == "disconnect":
            play.take(StopDiscovery)
    else:
        assert "is not supported" in client.refused(Code.UNSUPPORTED, command)


def test_terminate_reaches_no_worker(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.commands()
    client.refused(Code.UNSUPPORTED, "terminate")
    client.refused(Code.UNSUPPORTED, "terminateThreads", threadIds=[1])
    client.request("disconnect", terminateDebuggee=True)
    assert [message["arguments"] for message in worker.heard][-1] == {"terminateDebuggee": False}
    play.take(StopDiscovery)


def test_what_editors_ask_too_late_by_themselves_is_no_notification(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    client.resume(thread)
    for command, arguments, shown in (
        ("scopes", {"frameId": frame}, False),
        ("stackTrace", {"threadId": thread}, False),
        ("nonsense", {}, True),
    ):
        seq = client.send(command, **arguments)
        answer = next(message for message in client.inbox if message.get("request_seq") == seq)
        assert answer["body"]["error"]["showUser"] is shown, command
        client.inbox.remove(answer)


def test_what_a_lost_worker_leaves_unanswered_is_no_notification_beside_that_of_its_loss(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold = {"stackTrace"}
    client.send("stackTrace", threadId=thread)
    worker.die()
    client.told(Code.WORKER_GONE)
    answer = next(message for message in client.inbox if message["type"] == "response")
    assert answer["body"]["error"]["id"] == Code.WORKER_GONE
    assert answer["body"]["error"]["showUser"] is False
    client.inbox.clear()
