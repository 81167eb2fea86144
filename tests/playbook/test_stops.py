"""Stops, and the requests that resume them."""

from typing import Any

import pytest

from raydap.errors import Code
from raydap.inworker import calls
from support.fake_worker import PLUMBING
from support.playbook import Play


def test_every_stop_of_every_worker_shows_up_and_resumes_alone(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    two.stop()
    first, second = client.stop(), client.stop()
    assert len({first["threadId"], second["threadId"]}) == 2
    names = [thread["name"] for thread in client.request("threads")["threads"]]
    assert names == ["worker · 101 · 10.0.0.1", "worker · 102 · 10.0.0.1"]
    client.resume(first["threadId"])
    assert 1 not in one.stopped
    assert 1 in two.stopped
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [second["threadId"]]
    one.stop()
    again = client.event("stopped")
    assert again["threadId"] == first["threadId"]
    assert one.dials == two.dials == 1


def test_continue_resumes_one_thread_by_evaluate(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.commands()
    assert client.request("continue", threadId=thread) == {"allThreadsContinued": False}
    assert client.event("continued") == {"threadId": thread, "allThreadsContinued": False}
    (evaluate,) = worker.heard
    assert evaluate["arguments"] == {"expression": calls.resume_thread(1), "context": "clipboard"}


def test_continue_falls_back_on_debugpys_own(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("evaluate")
    seq = client.send("continue", threadId=thread)
    worker.refuse(worker.heard[-1], "pydevd has changed")
    play.warned("cannot resume one thread alone: pydevd has changed")
    assert client.answer(seq) == {"allThreadsContinued": False}
    assert client.event("continued") == {"threadId": thread, "allThreadsContinued": False}
    assert worker.heard[-1]["command"] == "continue"
    assert worker.heard[-1]["arguments"] == {"threadId": 1}
    worker._held.clear()


def test_a_continue_that_fails_altogether_leaves_the_thread_stopped(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold |= {"evaluate", "continue"}
    seq = client.send("continue", threadId=thread)
    worker.refuse(worker.heard[-1], "no")
    play.warned("cannot resume one thread alone")
    worker.refuse(worker.heard[-1], "never")
    assert client.refusal(None, seq) == "never"
    worker._held.clear()
    worker.hold.clear()
    client.resume(thread)


def test_a_second_continue_is_answered_and_not_sent(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("evaluate")
    worker.commands()
    first = client.send("continue", threadId=thread)
    assert client.request("continue", threadId=thread) == {"allThreadsContinued": False}
    assert worker.commands() == ["evaluate"]
    worker.release()
    client.answer(first)
    client.event("continued")
    assert client.request("continue", threadId=thread) == {"allThreadsContinued": False}
    assert worker.commands() == []


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_step_resumes_and_stops_the_same_thread(play: Play, command: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, command)
    assert "runs" in client.refused(Code.NOT_STOPPED, command, threadId=thread)
    worker.stop(reason="step")
    assert client.event("stopped")["reason"] == "step"


def test_a_resume_without_an_answer_can_be_tried_again(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("evaluate")
    seq = client.send("continue", threadId=thread)
    play.tick(31)
    assert "did not answer" in client.refusal(Code.WORKER_SILENT, seq)
    worker._held.clear()
    worker.hold.clear()
    client.resume(thread)


def test_several_threads_of_one_worker_are_verified_before_they_are_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    worker.stop(2)
    worker.stop(3)
    handles = [client.stop()["threadId"] for _ in range(3)]
    assert worker.commands().count("stackTrace") == 2
    listed = client.request("threads")["threads"]
    assert [thread["name"].rpartition(" · ")[2] for thread in listed] == ["#1", "#2", "#3"]
    client.resume(handles[1])
    assert set(worker.stopped) == {1, 3}


def test_a_phantom_stop_is_dropped(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    worker.stop(2)
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    client.resume(second)
    worker.commands()
    worker.say("stopped", {"reason": "breakpoint", "threadId": 2, "allThreadsStopped": True})
    client.nothing()
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [first]
    # No client could resume a thread that is stopped and not shown.
    assert worker.commands() == ["stackTrace", "evaluate"]


def test_a_real_stop_that_follows_a_phantom_is_not_resumed(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    worker.stop(2)
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    client.resume(first)
    client.resume(second)
    worker.hold = {"evaluate"}
    worker.say("stopped", {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": False})
    worker.stop(1)
    thread = client.stop()["threadId"]
    worker.release("evaluate")  # The command that ends the phantom arrives only now.
    assert 1 in worker.stopped
    client.resume(thread)


def test_a_thread_that_ends_while_its_stop_is_verified_is_never_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    client.stop()
    worker.hold.add("stackTrace")
    worker.stop(2)
    worker.exit(2)
    play.tick(31)
    client.nothing()
    assert len(client.request("threads")["threads"]) == 1
    worker._held.clear()


def test_a_stop_whose_check_has_no_answer_is_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    client.stop()
    worker.hold.add("stackTrace")
    worker.stop(2)
    client.nothing()
    play.tick(31)
    client.stop()


def test_a_stop_without_a_thread_is_not_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    for thread in (None, "1", True, 1.5):
        worker.say("stopped", {"reason": "breakpoint", "threadId": thread})
        play.warned("without a thread")
    client.nothing()


def test_a_worker_that_resumes_by_itself_is_reported(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    worker.stop(2)
    handles = {client.stop()["threadId"], client.stop()["threadId"]}
    worker.say("continued", {"threadId": 1})  # Without allThreadsContinued, DAP defines it as true.
    told = [client.event("continued") for _ in range(2)]
    assert {body["threadId"] for body in told} == handles
    assert all(body["allThreadsContinued"] is False for body in told)
    assert client.request("threads") == {"threads": []}


def test_the_end_of_a_thread_is_reported_only_if_it_was_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.exit(9)
    client.nothing()
    worker.stop(1)
    thread = client.stop()["threadId"]
    worker.exit(1)
    assert client.event("thread") == {"reason": "exited", "threadId": thread}
    assert "no longer valid" in client.refused(Code.STALE_ID, "stackTrace", threadId=thread)


def test_ray_frames_are_subtle(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    user, ray = client.request("stackTrace", threadId=thread)["stackFrames"]
    assert user["source"]["path"] == worker.path
    assert "presentationHint" not in user
    assert ray["source"]["path"] == PLUMBING
    assert ray["presentationHint"] == "subtle"


def test_pause_of_everything_and_of_one_thread(play: Play) -> None:
    client = play.session()
    assert "nothing to pause" in client.refused(Code.NO_WORKER, "pause", threadId=0)
    one, two = play.attached("w1", "w2")
    one.stop()
    thread = client.stop()["threadId"]
    one.commands()
    two.commands()
    client.request("pause", threadId=0)
    assert one.commands() == two.commands() == ["pause"]
    client.request("pause", threadId=thread)
    assert one.commands() == []
    client.resume(thread)
    one.commands()
    client.request("pause", threadId=thread)
    assert one.heard[-1]["arguments"]["expression"] == calls.pause_thread(1)
    assert two.commands() == []
    for bad in (False, None, "0", -1, 5):
        client.refused(Code.STALE_ID, "pause", threadId=bad)
    assert two.commands() == []


def test_a_new_stop_leaves_the_focus_where_the_user_looks(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    first = client.stop()
    assert first["preserveFocusHint"] is False
    two.stop()
    second = client.stop()
    assert second["preserveFocusHint"] is True
    client.resume(first["threadId"], "next")
    one.stop(reason="step")
    assert client.event("stopped")["preserveFocusHint"] is False


def test_a_stop_during_a_step_does_not_take_the_focus(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    client.resume(client.stop()["threadId"], "next")
    two.stop()
    assert client.stop()["preserveFocusHint"] is True


def test_once_the_thread_looked_at_runs_freely_the_next_stop_takes_the_focus(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    client.resume(client.stop()["threadId"])
    two.stop()
    assert client.stop()["preserveFocusHint"] is False
    assert one.commands()


def test_looking_at_another_stop_moves_the_focus(play: Play) -> None:
    client = play.session()
    one, two, three = play.attached("w1", "w2", "w3")
    one.stop()
    two.stop()
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    frame = client.request("stackTrace", threadId=second)["stackFrames"][0]["id"]
    client.request("scopes", frameId=frame)
    assert client.request("evaluate", expression="x")["result"] == "x of w2"
    one.resume(1)
    assert client.event("continued")["threadId"] == first
    three.stop()
    assert client.stop()["preserveFocusHint"] is True


def test_breakpoints_that_a_worker_does_not_name_are_not_named(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    assert "hitBreakpointIds" not in client.stop()
    worker.stop(hitBreakpointIds=[])
    assert client.stop()["hitBreakpointIds"] == []


@pytest.mark.parametrize(
    ("reason", "body", "description"),
    [
        ("breakpoint", {}, "break"),
        ("function breakpoint", {}, "break"),
        ("step", {}, "step"),
        ("instruction breakpoint", {}, "instructi…"),
        ("exception", {"text": "ValueError", "description": "no data " * 50}, "ValueError"),
        ("exception", {"text": "ray.exceptions.OutOfMemoryError", "description": "too much"}, "OutOfMemo…"),
        ("exception", {"text": "KeyError       (note: full exception trace is shown but ...)"}, "KeyError"),
        ("exception", {"text": 7}, "exception"),
        ("exception", {}, "exception"),
    ],
)
def test_the_description_is_short(reason: str, body: dict[str, Any], description: str) -> None:
    """VS Code shows it beside the worker's name, and cuts the name."""
    play = Play(conform=False)
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1, reason, **body)
    stop = client.stop()
    assert stop["description"] == description
    assert stop.get("text") == body.get("text"), "what the worker says is passed on"
    play.finish()
