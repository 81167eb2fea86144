"""Short attaches to debuggers that fail (runtime/short_attach.py). tests/e2e has the real debugpy."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from raydap.runtime import short_attach
from raydap.transport import tcp
from raydap.transport.peer import Peer

Answer = Callable[[str, int], list[dict[str, Any] | None]]
"""Returns the messages that answer a command with this `seq`; None ends the connection."""

PREPARE, EXPRESSION, LOSE = 3, 4, 5
"""The `seq` of each `evaluate`."""

BODIES = {"evaluate": {"result": "7"}}


def response(command: str, seq: int, error: str = "") -> dict[str, Any]:
    failed = {"success": False, "message": error} if error else {"success": True, "body": BODIES.get(command, {})}
    return {"seq": 1, "type": "response", "request_seq": seq, "command": command, **failed}


def works(command: str, seq: int) -> list[dict[str, Any] | None]:
    """Answer like debugpy, which answers `attach` after `configurationDone` only."""
    if command == "attach":
        return [{"seq": 1, "type": "event", "event": "initialized"}]
    if seq == LOSE:
        return [{"seq": 1, "type": "event", "event": "terminated"}, None]
    return [response(command, seq)]


def ask(answer: Answer) -> tuple[str, list[str]]:
    """Return the result of a short attach to a debugger that answers so, and the commands that it has received."""
    commands: list[str] = []

    async def run() -> str:
        def serve() -> Peer:
            def take(data: bytes) -> None:
                message = json.loads(data)
                commands.append(message["command"])
                for each in answer(message["command"], message["seq"]):
                    if each is None:
                        peer.close()
                    else:
                        peer.send(json.dumps(each).encode())

            peer = Peer(take, lambda reason: None)
            return peer

        listener = await tcp.listen("127.0.0.1", 0, serve)
        try:
            return await short_attach.ask(
                lambda message, gone: tcp.dial("127.0.0.1", listener.port, message, gone, 5), "7", 0.0
            )
        finally:
            listener.close()

    return asyncio.run(run()), commands


def test_an_answer() -> None:
    assert ask(works) == ("7", ["initialize", "attach", "evaluate", "evaluate", "evaluate"])


@pytest.mark.parametrize(
    ("failing", "answers", "error"),
    [
        (2, [response("attach", 2, "another client debugs it")], "another client debugs it"),
        (2, [None], "its process has ended"),
        (PREPARE, [{"seq": 1, "type": "event", "event": "terminated"}], "its process has ended"),
        (EXPRESSION, [{"seq": 1, "type": "event", "event": "terminated"}], "its process has ended"),
        (EXPRESSION, [{"seq": 1}], "not a DAP message"),
        (EXPRESSION, [], "no answer within 0.1 s"),
    ],
)
def test_a_debugger_that_fails(
    failing: int, answers: list[dict[str, Any] | None], error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not answers:
        monkeypatch.setattr(short_attach, "HANDSHAKE_TIMEOUT_S", 0.1)
    with pytest.raises(OSError, match=error):
        ask(lambda command, seq: answers if seq == failing else works(command, seq))


def test_a_worker_that_cannot_listen_again_is_asked_nothing() -> None:
    commands: list[str] = []

    def answer(command: str, seq: int) -> list[dict[str, Any] | None]:
        commands.append(command)
        if command == "disconnect":
            return [{"seq": 1, "type": "event", "event": "terminated"}, response(command, seq), None]
        text = "Traceback\nRuntimeError: it has no port"
        return [response(command, seq, text)] if seq == PREPARE else works(command, seq)

    with pytest.raises(OSError, match=r"^it has no port$"):
        ask(answer)
    assert commands == ["initialize", "attach", "evaluate", "disconnect"]


def test_the_adapter_closes_the_connection_to_such_a_worker() -> None:
    """It answers `attach` with an error before that. If raydap closes the connection then, the adapter is useless."""
    first: list[str] = []

    async def run() -> None:
        def take(data: bytes) -> None:
            message = json.loads(data)
            if message["command"] == "disconnect":
                peer.send(json.dumps(response("attach", 2, "the session has ended")).encode())
                asyncio.get_running_loop().call_later(0.1, close)
            elif message["seq"] == PREPARE:
                peer.send(json.dumps(response("evaluate", PREPARE, "RuntimeError: it has no port")).encode())
            else:
                for each in works(message["command"], message["seq"]):
                    peer.send(json.dumps(each).encode())

        def close() -> None:
            first.append("adapter")
            peer.close()

        peer = Peer(take, lambda reason: first.append("raydap"))
        listener = await tcp.listen("127.0.0.1", 0, lambda: peer)
        try:
            with pytest.raises(OSError, match=r"^it has no port$"):
                await short_attach.ask(
                    lambda message, gone: tcp.dial("127.0.0.1", listener.port, message, gone, 5), "7", 0.0
                )
        finally:
            listener.close()

    asyncio.run(run())
    assert first == ["adapter"]


def test_an_expression_that_fails() -> None:
    result, _ = ask(lambda command, seq: [response(command, seq, "no")] if seq == EXPRESSION else works(command, seq))
    assert result == "no"


def test_a_debugger_that_keeps_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_attach, "DISCONNECT_TIMEOUT_S", 0.1)
    assert ask(lambda command, seq: [] if seq == LOSE else works(command, seq))[0] == "7"
