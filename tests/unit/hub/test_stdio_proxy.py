"""The messages that an editor gets through `raydap connect`, above all after the hub has gone."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import raydap
from raydap.errors import Code, Problem
from raydap.hub import stdio_proxy
from raydap.hub.stdio_proxy import StdioProxy
from raydap.protocol.raydap_messages import PROTOCOL
from support.conformance import validate

WAIT = 30.0


class Side:
    """Stands in for a peer and keeps the sent messages."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.sent.append(data)

    def take(self) -> list[dict[str, Any]]:
        taken, self.sent = [json.loads(data) for data in self.sent], []
        return taken


class Scene:
    """A proxy between an editor and a hub. `hub_lives` is whether the hub answers a new connection."""

    def __init__(self, token: str | None = None, problem: Problem | None = None) -> None:
        self.said: list[str] = []
        self.hub_lives: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.proxy = StdioProxy("tcp://hub:1", token, self.said.append, lambda: self.hub_lives)
        self.editor, self.hub = Side(), Side()
        self.proxy.editor = self.editor  # type: ignore[assignment]
        if problem is None:
            self.proxy.hub = self.hub  # type: ignore[assignment]
        self.proxy.problem = problem

    def ask(self, seq: int, command: str, **arguments: Any) -> None:
        message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
        self.proxy.from_editor(json.dumps(message).encode())

    def answer(self, seq: int, to: int, command: str, success: bool = True, **body: Any) -> None:
        message = {"seq": seq, "type": "response", "request_seq": to, "command": command, "success": success}
        self.proxy.from_hub(json.dumps({**message, "body": body}).encode())

    def heard(self) -> list[dict[str, Any]]:
        messages = self.editor.take()
        for message in messages:
            validate(message)
        return messages

    async def lost(self, hub_lives: bool = True) -> None:
        """End the connection to the hub, and wait until the proxy has checked whether the hub still answers."""
        self.proxy.hub_gone("connection reset")
        self.hub_lives.set_result(hub_lives)
        looking = self.proxy._looking
        assert looking is not None
        await looking

    async def ended(self) -> None:
        await asyncio.wait_for(self.proxy.wait_ended(), WAIT)


def run(script: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(script())  # type: ignore[arg-type]


def test_messages_pass_as_they_came() -> None:
    async def script() -> None:
        scene = Scene()
        odd = b'{"seq" : 1, "type":"request","command":"x","arguments":{"a":"\\udc80"}}'
        for data in (odd, b"no JSON", b'{"seq":1,"type":"response","request_seq":1,"success":true,"command":"y"}'):
            scene.proxy.from_editor(data)
            scene.proxy.from_hub(data)
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
        scene.proxy.from_editor(b'{"seq":4,"type":"request","command":"attach"}')
        scene.proxy.from_editor(b'{"seq":5,"type":"request","command":"attach","arguments":[1]}')
        assert [message["arguments"] for message in scene.hub.take()] == [{"token": "ours"}, [1]]

    run(script)


@pytest.mark.parametrize(
    ("lives", "told"),
    [
        (
            True,
            "The connection to the hub at tcp://hub:1 is lost (connection reset), but the hub still runs; start the",
        ),
        (
            False,
            "The hub at tcp://hub:1 no longer answers (connection reset): it has ended, or its port is no longer",
        ),
    ],
)
def test_a_hub_that_is_lost_is_reported_once_and_everything_open_is_answered(lives: bool, told: str) -> None:
    async def script() -> None:
        scene = Scene()
        scene.ask(1, "initialize")
        scene.answer(1, 1, "initialize")
        scene.ask(2, "threads")
        scene.ask(3, "evaluate")
        scene.heard()
        await scene.lost(lives)
        threads, evaluate, output, terminated = scene.heard()
        assert [message["seq"] for message in (threads, evaluate, output, terminated)] == [2, 3, 4, 5]
        assert [threads["request_seq"], evaluate["request_seq"]] == [2, 3]
        assert threads["body"]["error"]["id"] == Code.HUB_LOST
        assert output["body"]["category"] == "important"
        assert output["body"]["output"].startswith(told)
        assert ("start the session again" in output["body"]["output"]) is lives
        assert output["body"]["output"].endswith("[raydap 5003]\n")
        assert terminated["event"] == "terminated"
        scene.ask(4, "threads")
        scene.ask(5, "disconnect")
        assert [message["success"] for message in scene.heard()] == [False, True]
        await scene.ended()
        assert scene.proxy.problem is not None

    run(script)


def test_an_editor_that_does_not_disconnect_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script() -> None:
        scene = Scene()
        await scene.lost()
        await scene.ended()

    monkeypatch.setattr(stdio_proxy, "DISCONNECT_TIMEOUT_S", 0.01)
    run(script)


def test_what_is_asked_while_the_hub_is_looked_for_waits_except_disconnect() -> None:
    async def script() -> None:
        scene = Scene()
        scene.proxy.hub_gone("closed")
        scene.ask(1, "threads")
        assert scene.heard() == []
        scene.hub_lives.set_result(True)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        assert [message["type"] for message in scene.heard()] == ["response", "event", "event"]

        scene = Scene()
        scene.proxy.hub_gone("closed")
        scene.ask(1, "disconnect")
        assert [message["success"] for message in scene.heard()] == [True]
        await scene.ended()
        assert scene.proxy.problem is None
        scene.hub_lives.set_result(True)

    run(script)


def test_a_hub_that_ended_the_session_may_go() -> None:
    async def script() -> None:
        scene = Scene()
        scene.proxy.from_hub(b'{"seq":1,"type":"event","event":"terminated"}')
        scene.proxy.hub_gone("closed")
        assert [message.get("event") for message in scene.heard()] == ["terminated"]
        scene.ask(1, "threads")
        scene.ask(2, "disconnect")
        assert [message["success"] for message in scene.heard()] == [False, True]
        await scene.ended()
        assert scene.proxy.problem is None

    run(script)


def test_after_disconnect_nothing_is_sent() -> None:
    """A pending `continue` gets no message either, because dap-mode sends both requests at once."""

    async def script() -> None:
        scene = Scene()
        scene.ask(1, "continue", threadId=1)
        scene.ask(2, "disconnect")
        scene.answer(1, 2, "disconnect")
        scene.heard()
        scene.proxy.hub_gone("closed")
        assert scene.heard() == []
        await scene.ended()
        assert scene.proxy.problem is None

    run(script)


def test_a_hub_that_goes_instead_of_answering_disconnect_is_left_as_well() -> None:
    async def script() -> None:
        scene = Scene()
        scene.ask(1, "threads")
        scene.ask(2, "disconnect")
        scene.proxy.hub_gone("closed")
        assert [(message["command"], message["success"]) for message in scene.heard()] == [
            ("threads", False),
            ("disconnect", True),
        ]
        await scene.ended()
        assert scene.proxy.problem is None

    run(script)


def test_an_editor_that_goes_ends_it() -> None:
    async def script() -> None:
        scene = Scene()
        scene.proxy.editor_gone("closed")
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
        before = scene.proxy.problem
        assert before is None
        scene.ask(2, "attach")
        scene.answer(2, 2, "attach", False, error={"id": 1011, "format": "x"})
        assert scene.proxy.problem is not None
        assert scene.proxy.problem.code is Code.HUB_REFUSED
        assert "refuses the token" in scene.proxy.problem.text
        assert len(scene.heard()) == 2

    run(script)


def same_version(**more: Any) -> dict[str, Any]:
    return {"version": raydap.__version__, "protocol": PROTOCOL, **more}


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"version": "9.0.0", "protocol": PROTOCOL + 1}, r"This raydap \(.*\) is older than the hub at .* \(9\.0\.0\)"),
        (
            {"version": "0.0.1", "protocol": PROTOCOL - 1},
            r"The hub at tcp://hub:1 \(0\.0\.1\) is older than this raydap",
        ),
        ({"protocol": PROTOCOL + 1}, r"older than the hub at tcp://hub:1; run `[\w -]+` here\. \[raydap 5005\]$"),
        ({}, r"The hub at tcp://hub:1 is older than .*; run `pip install --upgrade raydap` where the hub runs, and"),
        (None, r"The hub at tcp://hub:1 is older than this raydap"),
        ("odd", r"The hub at tcp://hub:1 is older than this raydap"),
        ({"version": 7, "protocol": "odd"}, r"The hub at tcp://hub:1 is older than this raydap"),
    ],
)
def test_a_hub_of_another_version_is_reported_and_the_session_continues(server: Any, told: str) -> None:
    async def script() -> None:
        scene = Scene()
        scene.ask(1, "initialize")
        scene.answer(1, 1, "initialize", **({} if server is None else {"raydap": server}))
        answer, output = scene.heard()
        assert answer["command"] == "initialize"
        assert output["event"] == "output"
        assert output["body"]["category"] == "important"
        assert output["body"]["data"] == {"raydap": {"code": Code.HUB_VERSION}}
        (line,) = scene.said
        assert output["body"]["output"] == f"{line}\n"
        assert re.search(told, line)
        scene.ask(2, "threads")
        assert scene.hub.take()[-1]["command"] == "threads"
        assert scene.proxy.problem is None

    run(script)


def test_the_same_protocol_is_no_news_in_whatever_version() -> None:
    async def script() -> None:
        scene = Scene()
        for seq, server in enumerate((same_version(), same_version(version="9.0.0"), same_version(more=1)), 1):
            scene.ask(seq, "initialize")
            scene.answer(seq, seq, "initialize", raydap=server)
        scene.ask(4, "initialize")
        scene.answer(4, 4, "initialize", success=False)
        scene.answer(5, 5, "threads", threads=[])
        assert [message["type"] for message in scene.heard()] == ["response"] * 5
        assert scene.said == []

    run(script)
