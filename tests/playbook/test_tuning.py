"""What is changed in a worker so that it is quick, and that all of it has a switch."""

import pytest

from raydap.core import handshake, stops
from raydap.core.events import StopDiscovery
from support.playbook import Play


def test_a_tuned_worker_is_tuned_at_attach_woken_after_each_step_and_put_back_when_it_is_let_go(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    client.leave()
    play.take(StopDiscovery)
    asked = [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]
    assert asked == [handshake.TUNE, stops.WAKE.format(1), handshake.UNTUNE]
    assert worker.commands()[-3:] == ["evaluate", "evaluate", "disconnect"]


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_every_step_is_woken_after_its_answer_and_continue_wakes_by_itself(play: Play, command: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    for resume, heard in ((command, [command, "evaluate"]), ("continue", ["evaluate"])):
        worker.stop()
        thread = client.stop()["threadId"]
        worker.commands()
        client.resume(thread, resume)
        assert worker.commands() == heard


def test_an_untuned_worker_is_left_as_it_is(play: Play) -> None:
    client = play.session({"tuneWorkers": False})
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.resume(thread, "next")
    client.leave()
    play.take(StopDiscovery)
    assert "evaluate" not in worker.commands()
