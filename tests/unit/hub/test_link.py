"""What an editor hears through `raydap connect`, above all when the hub has gone."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from raydap.core.errors import Code, Problem
from raydap.hub import link
from raydap.hub.link import Link
from support.conformance import validate

WAIT = 30.0


class Side:
    """Stands in for a peer and keeps what is sent to it."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.sent.append(data)

    def take(self) -> list[dict[str, Any]]:
        taken, self.sent = [json.loads(data) for data in self.sent], []
        return taken


class Scene:
    def __init__(self, token: str | None = None, problem: Problem | None = None) -> None:
        self.link = Link("tcp://hub:1", token)
        self.editor, self.hub = Side(), Side()
        self.link.editor = self.editor  # type: ignore[assignment]
        if problem is None:
            self.link.hub = self.hub  # type: ignore[assignment]
        self.link.problem = problem

    def ask(self, seq: int, command: str, **arguments: Any) -> None:
        message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
        self.link.from_editor(json.dumps(message).encode())

    def answer(self, seq: int, to: int, command: str, success: bool = True, **body: Any) -> None:
        message = {"seq": seq, "type": "response", "request_seq": to, "command": command, "success": success}
        self.link.from_hub(json.dumps({**message, "body": body}).encode())

    def heard(self) -> list[dict[str, Any]]:
        messages = self.editor.take()
        for message in messages:
            validate(message)
        return messages

    async def ended(self) -> None:
        await asyncio.wait_for(self.link.wait_ended(), WAIT)


def run(script: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(script())  # type: ignore[arg-type]


def test_messages_pass_as_they_came() -> None:
    async def script() -> None:
        scene = Scene()
        odd = b'{"seq" : 1, "type":"request","command":"x","arguments":{"a":"\\udc80"}}'
        for data in (odd, b"no JSON", b'{"seq":1,"type":"response","request_seq":1,"success":true,"command":"y"}'):
            scene.link.from_editor(data)
            scene.link.from_hub(data)
        assert scene.hub.sent == scene.editor.sent
        assert scene.hub.sent[0] is odd

    run(script)


def test_the_token_goes_into_attach_and_launch_unless_the_editor_has_its_own() -> None:
    async def script() -> None:
        scene = Scene(token="ours")
        scene.ask(1, "initialize", a=1)
        scene.ask(2, "attach", a=1)
        scene.ask(3, "launch", token="theirs")
        assert [message["arguments"] for message in scene.hub.take()] == [
            {"a": 1},
            {"token": "ours", "a": 1},
            {"token": "theirs"},
        ]
        scene.link.from_editor(b'{"seq":4,"type":"request","command":"attach"}')
        scene.link.from_editor(b'{"seq":5,"type":"request","command":"attach","arguments":[1]}')
        assert [message["arguments"] for message in scene.hub.take()] == [{"token": "ours"}, [1]]

    run(script)


def test_a_hub_that_is_lost_is_told_once_and_everything_open_is_answered() -> None:
    async def script() -> None:
        scene = Scene()
        scene.ask(1, "initialize")
        scene.answer(1, 1, "initialize")
        scene.ask(2, "threads")
        scene.ask(3, "evaluate")
        scene.heard()
        scene.link.hub_gone("connection reset")
        threads, evaluate, output, terminated = scene.heard()
        assert [message["seq"] for message in (threads, evaluate, output, terminated)] == [2, 3, 4, 5]
        assert [threads["request_seq"], evaluate["request_seq"]] == [2, 3]
        assert threads["body"]["error"]["id"] == Code.HUB_LOST
        assert output["body"]["category"] == "important"
        assert "tcp://hub:1 is lost (connection reset)" in output["body"]["output"]
        assert output["body"]["output"].endswith("[raydap 5003]\n")
        assert terminated["event"] == "terminated"
        scene.ask(4, "threads")
        scene.ask(5, "disconnect")
        assert [message["success"] for message in scene.heard()] == [False, True]
        await scene.ended()
        assert scene.link.problem is not None

    run(script)


def test_an_editor_that_does_not_take_its_leave_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        scene = Scene()
        scene.link.hub_gone("closed")
        await scene.ended()

    monkeypatch.setattr(link, "FAREWELL", 0.01)
    run(script)


def test_a_hub_that_ended_the_session_may_go() -> None:
    async def script() -> None:
        scene = Scene()
        scene.link.from_hub(b'{"seq":1,"type":"event","event":"terminated"}')
        scene.link.hub_gone("closed")
        assert [message.get("event") for message in scene.heard()] == ["terminated"]
        scene.ask(1, "threads")
        scene.ask(2, "disconnect")
        assert [message["success"] for message in scene.heard()] == [False, True]
        await scene.ended()
        assert scene.link.problem is None

    run(script)


def test_after_disconnect_nothing_is_said() -> None:
    """Nor of a `continue` that was under way: dap-mode sends both at once."""

    async def script() -> None:
        scene = Scene()
        scene.ask(1, "continue", threadId=1)
        scene.ask(2, "disconnect")
        scene.answer(1, 2, "disconnect")
        scene.heard()
        scene.link.hub_gone("closed")
        assert scene.heard() == []
        await scene.ended()
        assert scene.link.problem is None

    run(script)


def test_a_hub_that_goes_instead_of_answering_disconnect_is_left_as_well() -> None:
    async def script() -> None:
        scene = Scene()
        scene.ask(1, "threads")
        scene.ask(2, "disconnect")
        scene.link.hub_gone("closed")
        assert [(message["command"], message["success"]) for message in scene.heard()] == [
            ("threads", False),
            ("disconnect", True),
        ]
        await scene.ended()
        assert scene.link.problem is None

    run(script)


def test_an_editor_that_goes_ends_it() -> None:
    async def script() -> None:
        scene = Scene()
        scene.link.editor_gone("closed")
        await scene.ended()

    run(script)


def test_without_a_hub_the_first_request_gets_the_reason() -> None:
    async def script() -> None:
        scene = Scene(problem=Problem(Code.HUB_UNREACHABLE, "No hub."))
        scene.ask(1, "initialize")
        (answer,) = scene.heard()
        assert answer["message"] == "No hub. [raydap 5001]"
        assert answer["body"]["error"] == {"id": 5001, "format": "No hub. [raydap 5001]", "showUser": True}
        scene.ask(2, "disconnect")
        await scene.ended()

    run(script)


def test_a_token_that_is_refused_at_attach_is_the_problem() -> None:
    async def script() -> None:
        scene = Scene(token="wrong")
        scene.ask(1, "attach")
        scene.answer(1, 1, "attach", False, error={"id": 1004, "format": "x"})
        assert scene.link.problem is None
        scene.ask(2, "attach")
        scene.answer(2, 2, "attach", False, error={"id": 1011, "format": "x"})
        assert scene.link.problem is not None
        assert scene.link.problem.code is Code.HUB_REFUSED
        assert "refuses the token" in scene.link.problem.text
        assert len(scene.heard()) == 2

    run(script)
