"""Contents that are too long for one message between the bridge and a worker."""

import json
from typing import Any

import pytest

from raydap.core.model import worker as workers
from raydap.core.workers import replies
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

TEXT = "".join(chr(code) for code in range(0x20, 0x3000)) * 50
"""A text that takes three parts."""

CUT = {"result": "cut", "variablesReference": 0, "raydapResult": 3}


def answer_parts(worker: FakeWorker, text: str) -> list[str]:
    """Answer all requests for parts of a text; return their expressions."""
    asked: list[str] = []
    while worker.heard:
        request = worker.heard.pop()
        start = len(asked) * calls.PART
        asked.append(request["arguments"]["expression"])
        assert request["arguments"]["context"] == "clipboard"
        worker.reply(request, {"result": json.dumps(text[start : start + calls.PART]), "variablesReference": 0})
    return asked


@pytest.fixture
def stopped(play: Play) -> tuple[FakeClient, FakeWorker, dict[str, Any]]:
    """Return a client, a worker that withholds answers to `evaluate`, and the arguments of an `evaluate`."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    frame = client.request("stackTrace", threadId=client.stop()["threadId"])["stackFrames"][0]["id"]
    worker.hold.add("evaluate")
    worker.commands()
    return client, worker, {"expression": "text", "frameId": frame, "context": "clipboard"}


def test_the_whole_of_a_cut_result_is_fetched_for_the_clipboard(
    stopped: tuple[FakeClient, FakeWorker, dict[str, Any]],
) -> None:
    client, worker, arguments = stopped
    seq = client.send("evaluate", **arguments)
    worker.reply(worker.heard.pop(), CUT)
    assert answer_parts(worker, TEXT) == [calls.result_part(3, start * calls.PART) for start in range(3)]
    assert client.answer(seq) == {"result": TEXT, "variablesReference": 0}


@pytest.mark.parametrize("context", ["repl", "watch", "hover"])
def test_elsewhere_a_result_stays_cut(stopped: tuple[FakeClient, FakeWorker, dict[str, Any]], context: str) -> None:
    client, worker, arguments = stopped
    seq = client.send("evaluate", **{**arguments, "context": context})
    worker.reply(worker.heard.pop(), CUT)
    assert client.answer(seq) == {"result": "cut", "variablesReference": 0}


def test_a_result_that_cannot_be_fetched_any_more_stays_cut(
    stopped: tuple[FakeClient, FakeWorker, dict[str, Any]],
) -> None:
    client, worker, arguments = stopped
    seq = client.send("evaluate", **arguments)
    worker.reply(worker.heard.pop(), CUT)
    worker.refuse(worker.heard.pop(), "LookupError: another long result has replaced it")
    assert client.answer(seq)["result"] == "cut"


@pytest.mark.parametrize("cut", [[3], "3", 3.5, True, {"a": 1}, None])
def test_an_odd_cut_result_stays_cut(stopped: tuple[FakeClient, FakeWorker, dict[str, Any]], cut: Any) -> None:
    client, worker, arguments = stopped
    seq = client.send("evaluate", **arguments)
    worker.reply(worker.heard.pop(), {**CUT, "raydapResult": cut})
    assert client.answer(seq) == {"result": "cut", "variablesReference": 0}


def test_a_worker_that_never_ends_a_text_is_not_asked_forever(
    stopped: tuple[FakeClient, FakeWorker, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "TEXT_LIMIT", 1_000_000)
    client, worker, arguments = stopped
    seq = client.send("evaluate", **arguments)
    worker.reply(worker.heard.pop(), CUT)
    assert len(answer_parts(worker, "x" * 10_000_000)) == 4
    assert client.answer(seq)["result"] == "cut"


def test_a_file_is_read_in_parts(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.missing = {worker.path}
    worker.stop()
    stack = client.request("stackTrace", threadId=client.stop()["threadId"])["stackFrames"]
    worker.hold.add("evaluate")
    worker.commands()
    seq = client.send("source", sourceReference=stack[0]["source"]["sourceReference"])
    assert answer_parts(worker, TEXT) == [calls.source_text(worker.path, start * calls.PART) for start in range(3)]
    assert client.answer(seq) == {"content": TEXT}


def test_a_request_that_debugpy_cannot_read_is_refused(
    stopped: tuple[FakeClient, FakeWorker, dict[str, Any]],
) -> None:
    client, worker, arguments = stopped
    long = "x" * workers.MESSAGE_LIMIT
    text = client.refused(Code.BAD_ARGUMENT, "evaluate", **{**arguments, "expression": long})
    assert "evaluate is longer than debugpy can read" in text
    assert worker.commands() == []


def test_a_slow_worker_is_sent_no_more_than_it_can_have_to_read(
    stopped: tuple[FakeClient, FakeWorker, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, worker, arguments = stopped
    long = {**arguments, "expression": "x" * 12_000_000, "context": "repl"}
    answers = [client.send("evaluate", **long) for _ in range(2)]
    assert "send evaluate again when it has" in client.refused(Code.WORKER_SILENT, "evaluate", **long)
    unanswered = client.play.bridge.state.workers[worker.key]._unanswered
    monkeypatch.setattr(workers, "UNANSWERED_LIMIT", unanswered)
    # A worker that never answers can still be paused and continued.
    client.send("evaluate", **{**arguments, "expression": "1", "context": "repl"})
    assert worker.commands() == ["evaluate"] * 3
    worker.release()
    assert all(client.answer(seq)["result"] for seq in answers)
    assert client.request("evaluate", **long)["result"]
    client.inbox.clear()
