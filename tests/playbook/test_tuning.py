"""The changes that make a worker faster. Each of them can be switched off."""

import pytest

from raydap.core.effects import Log, StopDiscovery
from raydap.core.workers import shown_arrays
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def test_a_tuned_worker_is_tuned_at_attach_and_put_back_at_detach(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    client.leave()
    play.take(StopDiscovery)
    asked = [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]
    assert asked == [calls.enter(True), calls.leave(True)]
    assert worker.commands()[-2:] == ["evaluate", "disconnect"]


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_step_is_one_message_and_so_is_continue(play: Play, command: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    for resume, heard in ((command, [command]), ("continue", ["evaluate"])):
        worker.stop()
        thread = client.stop()["threadId"]
        worker.commands()
        client.resume(thread, resume)
        assert worker.commands() == heard


def test_an_untuned_worker_is_only_changed_to_report_each_thread(play: Play) -> None:
    client = play.session({"tuneWorkers": False})
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    client.leave()
    play.take(StopDiscovery)
    asked = [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]
    assert asked == [calls.enter(False), calls.leave(False)]


def asked(worker: FakeWorker) -> list[str]:
    return [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]


def scope_of(client: FakeClient, thread: int) -> int:
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    scope: int = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    return scope


def test_a_worker_shows_large_arrays_by_their_numbers_from_the_first_list_of_variables_on(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    scope = scope_of(client, client.stop()["threadId"])
    assert asked(worker) == [calls.enter(True)]
    worker.hold = {"evaluate"}
    lists = [client.send("variables", variablesReference=scope) for _ in range(2)]
    assert asked(worker) == [calls.enter(True), calls.show_arrays()]
    assert "variables" not in worker.commands()
    worker.release()
    for each in lists:
        assert client.answer(each)["variables"]
    client.request("variables", variablesReference=scope)
    assert asked(worker) == []


def test_a_worker_that_cannot_do_that_lists_its_variables(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    scope = scope_of(client, client.stop()["threadId"])
    worker.hold = {"evaluate"}
    listed = client.send("variables", variablesReference=scope)
    play.tick(shown_arrays.TIMEOUT_S)
    assert client.answer(listed)["variables"]
    assert "shows large arrays without statistics" in play.take(Log).text


def test_a_thread_that_resumes_before_the_answer_has_no_variables(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    scope = scope_of(client, thread)
    worker.hold = {"evaluate"}
    listed = client.send("variables", variablesReference=scope)
    client.resume(thread, "next")
    worker.release()
    assert "runs" in client.refusal(Code.NOT_STOPPED, listed)
    assert "variables" not in worker.commands()


def test_an_untuned_worker_shows_arrays_as_it_always_does(play: Play) -> None:
    client = play.session({"tuneWorkers": False})
    (worker,) = play.attached("w1")
    worker.stop()
    client.request("variables", variablesReference=scope_of(client, client.stop()["threadId"]))
    assert asked(worker) == [calls.enter(False)]
