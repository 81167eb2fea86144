"""Bad input from either side: nothing raises, no request is lost, and no other party is affected."""

import json
from typing import Any

import pytest

from raydap.core.effects import StopDiscovery
from raydap.core.requests import routing
from raydap.errors import Code
from support.playbook import VSCODE, Play

NO_MESSAGES = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"{",
    b"\xff\xfe",
    b'{"seq":1}',
    b'{"seq":1,"type":"letter"}',
    b'{"seq":1,"type":"request"}',
    b'{"seq":"1","type":"request","command":"threads"}',
    b'{"seq":1,"type":"request","command":7}',
    b'{"seq":1,"type":"event"}',
    b'{"seq":1,"type":"response","success":true,"command":"next"}',
    b"[" * 1_000_000,
    b'{"seq":1,"type":"event","event":"stopped","body":' + b"[" * 1_000_000,
    b'{"seq":1,"type":"request","command":"next","arguments":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
]


@pytest.mark.parametrize("data", NO_MESSAGES, ids=lambda data: repr(data[:60]))
def test_a_client_that_sends_no_dap_gets_a_message_and_stays(play: Play, data: bytes) -> None:
    client = play.session()
    client.raw(data)
    play.warned("sent a message that is not DAP")
    output = client.event("output")
    assert f"[raydap {Code.BAD_MESSAGE.value}]" in output["output"]
    assert client.request("threads") == {"threads": []}


@pytest.mark.parametrize("data", NO_MESSAGES, ids=lambda data: repr(data[:60]))
def test_a_worker_that_sends_no_dap_is_logged_and_stays(play: Play, data: bytes) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.raw(data)
    play.warned("sent a message that is not DAP")
    worker.stop()
    client.stop()


def test_answers_and_events_of_clients_are_ignored(play: Play) -> None:
    client = play.session()
    client.raw(b'{"seq":1,"type":"event","event":"stopped"}')
    client.raw(b'{"seq":1,"type":"response","request_seq":1,"success":true,"command":"startDebugging"}')
    client.nothing()


def test_messages_of_clients_that_are_gone_are_ignored(play: Play) -> None:
    client = play.session()
    client.hang_up()
    client.raw(b'{"seq":9,"type":"request","command":"threads"}')
    client.hang_up()
    client.nothing()
    play.take(StopDiscovery)


def test_a_client_that_has_left_hears_nothing_of_garbage(play: Play) -> None:
    client = play.session(**VSCODE)
    client.leave()
    client.raw(b"{")
    client.nothing()
    play.take(StopDiscovery)
    play.warned("not DAP")


@pytest.mark.parametrize("arguments", [7, "x", [], [1], True, 1.5])
@pytest.mark.parametrize("command", ["attach", "setBreakpoints", "stackTrace", "continue", "evaluate", "pause"])
def test_arguments_that_are_no_object_are_refused(play: Play, command: str, arguments: Any) -> None:
    client = play.client() if command == "attach" else play.session()
    client.open[99] = command
    client.raw(json.dumps({"seq": 99, "type": "request", "command": command, "arguments": arguments}).encode())
    assert "object" in client.refusal(Code.BAD_ARGUMENT, 99)


@pytest.mark.parametrize("arguments", [b"NaN", b"null", b'{"threadId":1e999}', b'{"threadId":"\\ud800"}'])
def test_arguments_that_are_hard_to_read_are_answered(play: Play, arguments: bytes) -> None:
    client = play.session()
    client.open[99] = "stackTrace"
    client.raw(b'{"seq":99,"type":"request","command":"stackTrace","arguments":%b}' % arguments)
    assert "not one of raydap's" in client.refusal(Code.STALE_ID, 99)


ANSWERS: list[Any] = [
    None,
    7,
    "x",
    [],
    [1],
    {},
    {"stackFrames": 5},
    {"stackFrames": True},
    {"stackFrames": "abc"},
    {"stackFrames": [None, 7, [], {}, {"id": None}, {"id": "x", "source": 3}, {"id": 1, "source": {"path": 5}}]},
    {"stackFrames": [{"id": 2**70, "name": "\udc80", "line": 1, "column": 1}]},
    {"stackFrames": [{"id": -5, "name": "f", "line": 1, "column": 1, "moduleId": []}]},
]


@pytest.mark.parametrize("body", ANSWERS, ids=repr)
def test_any_answer_of_a_worker_answers_the_request_once(rough_play: Play, body: Any) -> None:
    client = rough_play.session()
    (worker,) = rough_play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("stackTrace")
    seq = client.send("stackTrace", threadId=thread)
    request = worker.heard[-1]
    worker.reply(request, body)
    client.answer(seq)
    worker.reply(request, body)
    client.nothing()
    worker._held.clear()


BODIES: list[Any] = [None, 7, "x", [], {}, {"threadId": 1}, {"threadId": None}, {"breakpoint": 7}, {"category": []}]


@pytest.mark.parametrize("body", BODIES, ids=repr)
@pytest.mark.parametrize("event", ["stopped", "continued", "thread", "breakpoint", "output", "process", "initialized"])
def test_any_event_of_a_worker_is_harmless(rough_play: Play, event: str, body: Any) -> None:
    client = rough_play.session()
    odd, good = rough_play.attached("odd", "good")
    odd.say(event, body)
    client.inbox.clear()
    rough_play._effects.clear()
    good.stop()
    client.stop()
    assert client.request("threads")["threads"]


def test_lone_surrogates_pass(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.raw(b'{"seq":1,"type":"event","event":"output","body":{"category":"stdout","output":"\\udc80"}}')
    assert client.event("output")["output"] == "[worker 101] \udc80"


@pytest.mark.parametrize("body", [None, 7, {"breakpoints": 7}, {"breakpoints": [7, None]}, {"breakpoints": [{}] * 9}])
def test_any_answer_to_breakpoints_is_harmless(rough_play: Play, body: Any) -> None:
    client = rough_play.session()
    (worker,) = rough_play.attached("w1")
    worker.hold.add("setBreakpoints")
    client.request("setBreakpoints", source={"path": "/a.py"}, breakpoints=[{"line": 1}])
    worker.reply(worker.heard[-1], body)
    client.inbox.clear()
    worker._held.clear()
    worker.stop()
    client.stop()


def test_a_mistake_in_a_handler_is_an_answer_too(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler fails before it waits for a worker, or after that."""

    def before(*_: object) -> None:
        raise MemoryError

    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    play.errors_expected = True
    for name in ("to_local_ids", "answer_to_client"):
        with monkeypatch.context() as broken:
            broken.setattr(routing, name, before)
            assert "please report" in client.refused(Code.INTERNAL, "stackTrace", threadId=thread)
    assert client.request("stackTrace", threadId=thread)["stackFrames"]
