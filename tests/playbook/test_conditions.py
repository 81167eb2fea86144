"""A thread resumes if its exception does not meet the condition of its filter."""

import pytest

from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

BREAK_MODES = {"raised": "always", "uncaught": "unhandled", "userUnhandled": "userUnhandled"}


def raise_in(worker: FakeWorker, mode: str, value: str | None) -> None:
    """Stop a thread for an exception, and answer what raydap asks about it."""
    worker.hold |= {"exceptionInfo", "evaluate"}
    worker.commands()
    worker.stop(reason="exception")
    worker.reply(worker.heard[-1], {"exceptionId": "KeyError", "breakMode": mode})
    asked = worker.heard[-1]
    if asked["command"] == "evaluate" and value is not None:
        worker.reply(asked, {"result": value, "variablesReference": 0})
    elif asked["command"] == "evaluate":
        worker.refuse(asked, "NameError")
    worker.hold.clear()


def session(play: Play, filter_id: str) -> tuple[FakeClient, FakeWorker]:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("setExceptionBreakpoints", filters=[], filterOptions=[{"filterId": filter_id, "condition": "x > 1"}])
    assert worker.heard[-1]["arguments"] == {"filters": [filter_id]}
    return client, worker


@pytest.mark.parametrize("filter_id", BREAK_MODES)
def test_only_what_meets_the_condition_is_shown(play: Play, filter_id: str) -> None:
    client, worker = session(play, filter_id)
    raise_in(worker, BREAK_MODES[filter_id], "False")
    assert "bool(x > 1\n)" in [each["arguments"].get("expression") for each in worker.heard]
    assert worker.commands()[-1] == "evaluate"  # This request resumes the thread.
    client.nothing()
    raise_in(worker, BREAK_MODES[filter_id], "True")
    assert client.stop()["reason"] == "exception"


@pytest.mark.parametrize(("mode", "value"), [("always", None), ("always", "maybe"), ("never", "False"), ("?", "False")])
def test_what_cannot_be_judged_is_shown(play: Play, mode: str, value: str | None) -> None:
    client, worker = session(play, "raised")
    raise_in(worker, mode, value)
    client.stop()


def test_other_stops_are_not_held_back(play: Play) -> None:
    client, worker = session(play, "raised")
    worker.commands()
    worker.stop()
    client.stop()
    assert worker.commands() == []


def test_a_filter_that_is_also_set_without_a_condition_stops_always(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    options = [{"filterId": "raised", "condition": "x"}, {"filterId": "uncaught"}]
    client.request("setExceptionBreakpoints", filters=["raised"], filterOptions=options)
    assert worker.heard[-1]["arguments"] == {"filters": ["raised", "uncaught"]}
    worker.stop(reason="exception")
    client.stop()


def test_a_worker_that_goes_while_it_is_asked_is_shown_no_more(play: Play) -> None:
    client, worker = session(play, "raised")
    worker.hold.add("exceptionInfo")
    worker.stop(reason="exception")
    worker.die()
    client.nothing()


def test_an_exception_that_is_not_wanted_leaves_the_step_of_its_thread_alone(play: Play) -> None:
    client, worker = session(play, "raised")
    worker.stop()
    client.request("next", threadId=client.stop()["threadId"])
    client.event("continued")
    raise_in(worker, "always", "False")
    assert worker.heard[-1]["arguments"]["expression"] == calls.resume_step(1)
    client.nothing()
    worker.stop(reason="step")
    assert client.stop()["reason"] == "step"


def test_a_thread_that_cannot_be_resumed_is_shown(play: Play) -> None:
    client, worker = session(play, "raised")
    worker.hold |= {"exceptionInfo", "evaluate"}
    worker.commands()
    worker.stop(reason="exception")
    worker.reply(worker.heard[-1], {"exceptionId": "KeyError", "breakMode": "always"})
    worker.reply(worker.heard[-1], {"result": "False", "variablesReference": 0})
    worker.refuse(worker.heard[-1], "no attribute raydap")
    play.warned("no attribute raydap")
    assert client.stop()["reason"] == "exception"
    worker._held.clear()
