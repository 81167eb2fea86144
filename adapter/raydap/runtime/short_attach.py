"""A short attach to a worker that waits in breakpoint(): it evaluates one expression, and the worker keeps waiting.

debugpy's wait ends only at `configurationDone`, which is never sent here. A `disconnect` would not be safe: for a
moment after it, another client makes the adapter useless. So the worker ends the connection to its adapter, which
exits, and listens again with a new one. The design is in docs/design/adapter.md.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from raydap.bounded_wait import wait_for
from raydap.core.workers.attach import HANDSHAKE_TIMEOUT_S, INITIALIZE
from raydap.core.workers.detach import DISCONNECT_TIMEOUT_S
from raydap.inworker import calls
from raydap.transport.peer import Peer
from raydap.wire import envelope
from raydap.wire.envelope import Body, Envelope

log = logging.getLogger("raydap")

_ATTACH = {
    "rules": [{"module": "ray.util.debugpy", "include": True}],
    "autoReload": {"watchDirectories": ["/"]},
}
"""The arguments of `attach` (core/workers/attach.py) without those that debugpy would keep for the next client."""


class Dial(Protocol):
    """Connects to the debug port of the worker, like WorkerDialer.dial."""

    async def __call__(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
        """Return the connection. Raises OSError."""


async def ask(dial: Dial, expression: str, timeout_s: float) -> str:
    """Return the result of an expression, or the error message of debugpy if there is none.

    `timeout_s` is for the expression alone. Raises OSError with a text for users. Never cancel this before the event
    `initialized`: the adapter would stay useless, and the worker would wait forever. After the first evaluation, the
    worker survives any end of the connection.
    """
    messages = _Messages()
    peer = await dial(messages.received.put_nowait, messages.end)

    async def evaluate(seq: int, text: str, seconds: float) -> Envelope:
        arguments: Body = {"expression": text, "context": "clipboard"}
        peer.send(envelope.request(seq, "evaluate", arguments))
        return await messages.until(lambda message: message.request_seq == seq, seconds)

    try:
        peer.send(envelope.request(1, "initialize", INITIALIZE))
        peer.send(envelope.request(2, "attach", _ATTACH))
        await messages.until(lambda message: message.event == "initialized", HANDSHAKE_TIMEOUT_S)
        prepared = await evaluate(3, calls.keep_waiting(), HANDSHAKE_TIMEOUT_S)
        if not prepared.success:
            peer.send(envelope.request(4, "disconnect", {"terminateDebuggee": False}))
            # The adapter first answers `attach` with an error. If raydap closed the connection then, the adapter would
            # never end the session.
            await messages.wait_for_end(DISCONNECT_TIMEOUT_S)
            # The message is a traceback, whose last line begins with the type of the error.
            raise OSError((prepared.message or "").strip().rpartition("\n")[2].partition(": ")[2])
        answer = await evaluate(4, expression, timeout_s + HANDSHAKE_TIMEOUT_S)
        # The end of the connection to the adapter can come before the answer.
        with suppress(OSError):
            await evaluate(5, calls.lose_debugger(), DISCONNECT_TIMEOUT_S)
    finally:
        peer.close()
    return _result(answer)


def _result(answer: Envelope) -> str:
    if not answer.success:
        return answer.message or ""
    body = None
    with suppress(envelope.EnvelopeError):
        body = envelope.load(answer.body or b"null")
    return str(body.get("result", "")) if isinstance(body, dict) else ""


class _Messages:
    """The messages of a worker, in the order of their arrival."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[bytes] = asyncio.Queue()

    def end(self, reason: str) -> None:
        """Note the end of the connection."""
        log.debug("the connection of a short attach has ended: %s", reason)
        self.received.put_nowait(b"")

    async def wait_for_end(self, seconds: float) -> None:
        """Wait until the adapter has closed the connection, for this time at most."""
        with suppress(asyncio.TimeoutError):
            await wait_for(self._read_to_end(), seconds)

    async def _read_to_end(self) -> None:
        while await self.received.get():
            pass

    async def until(self, is_wanted: Callable[[Envelope], bool], seconds: float) -> Envelope:
        """Return the next message for which `is_wanted` returns True.

        Raises OSError if none comes in time, if the worker refuses the attach, and if its process ends.
        """
        try:
            return await wait_for(self._next(is_wanted), seconds)
        except asyncio.TimeoutError:
            # Before Python 3.11, asyncio.TimeoutError is not the built-in TimeoutError.
            raise TimeoutError(f"no answer within {seconds:g} s") from None

    async def _next(self, is_wanted: Callable[[Envelope], bool]) -> Envelope:
        while True:
            data = await self.received.get()
            if not data:
                raise ConnectionError("its process has ended, or it has another debugger")
            try:
                message = envelope.read(data)
            except envelope.EnvelopeError as error:
                raise OSError(str(error).rstrip(".")) from None
            if is_wanted(message):
                return message
            if message.event == "terminated":
                raise ConnectionError("its process has ended")
            if message.success is False and message.command != "evaluate":
                raise OSError(message.message or f"it refused {message.command}")
