"""The changes that make a worker quick; all of them have a switch."""

import pytest

from raydap.core.effects import StopDiscovery
from raydap.inworker import calls
from support.playbook import Play


def test_a_tuned_worker_is_tuned_at_attach_and_put_back_when_it_is_let_go(play: Play) -> None:
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


def test_an_untuned_worker_is_only_told_to_report_each_thread(play: Play) -> None:
    client = play.session({"tuneWorkers": False})
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    client.leave()
    play.take(StopDiscovery)
    asked = [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]
    assert asked == [calls.enter(False), calls.leave(False)]
