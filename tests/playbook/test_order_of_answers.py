"""The answer to a request that resumes a thread comes before the thread's next stop, as DAP requires."""

from typing import Any

import pytest

from support.fake_client import names
from support.playbook import Play


@pytest.mark.parametrize("command", ["continue", "next", "stepIn", "stepOut"])
def test_the_answer_comes_before_the_next_stop(command: str) -> None:
    play = Play(conform=False)
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    thread = client.stop()["threadId"]
    worker.hold = {"evaluate", command}
    client.send(command, threadId=thread)
    worker.resume(1)
    worker.stop(1)  # The thread stops before the worker answers the request.
    heard = names(client.inbox)
    assert heard.index(command) < heard.index("stopped")
    client.inbox.clear()
    worker.hold = set()
    client.request("stackTrace", threadId=thread)


def test_a_step_that_fails_is_an_error() -> None:
    play = Play(conform=False)
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    thread = client.stop()["threadId"]
    worker.hold = {"next"}
    seq = client.send("next", threadId=thread)
    (asked,) = [each for each in worker.heard if each["command"] == "next"]
    worker.refuse(asked, "no")
    answer: dict[str, Any] = next(each for each in client.inbox if each.get("request_seq") == seq)
    assert not answer["success"]


def test_a_mistake_at_a_tick_does_not_end_all_deadlines(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    from raydap.core.workers import barriers, holding

    play.errors_expected = True
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    for module, name in ((holding, "end_overdue"), (barriers, "examine_again")):
        monkeypatch.setattr(module, name, lambda state: 1 / 0)
    worker.hold = {"stackTrace"}
    seq = client.send("stackTrace", threadId=thread)
    play.tick(600)
    assert seq not in client.open
    monkeypatch.undo()
    play._effects.clear()
    client.inbox.clear()
