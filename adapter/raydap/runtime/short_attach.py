"""A short attach to a worker that waits in breakpoint(): it evaluates one expression, and the worker keeps waiting.

debugpy's wait ends only at `configurationDone`, which is never sent here. After `disconnect` the adapter closes the
connection, and from then on it can serve another client. The design is in docs/design/adapter.md.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from raydap.bounded_wait import wait_for
from raydap.core.workers.attach import HANDSHAKE_TIMEOUT_S, INITIALIZE
from raydap.core.workers.detach import DISCONNECT_TIMEOUT_S
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

    `timeout_s` is for the expression alone. Raises OSError with a text for users. Never cancel this: debugpy's adapter
    exits when it cannot forward an answer because its client is gone, and then the worker waits forever.
    """
    messages = _Messages()
    peer = await dial(messages.received.put_nowait, messages.end)
    try:
        peer.send(envelope.request(1, "initialize", INITIALIZE))
        peer.send(envelope.request(2, "attach", _ATTACH))
        await messages.until(lambda message: message.event == "initialized", HANDSHAKE_TIMEOUT_S)
        arguments: Body = {"expression": expression, "context": "clipboard"}
        peer.send(envelope.request(3, "evaluate", arguments))
        # If the worker does not answer in time, give it more time: closing the connection would end its adapter.
        answer = await messages.until(lambda message: message.request_seq == 3, timeout_s + HANDSHAKE_TIMEOUT_S)
        try:
            peer.send(envelope.request(4, "disconnect", {"terminateDebuggee": False}))
            await wait_for(messages.ended.wait(), DISCONNECT_TIMEOUT_S)
        except asyncio.TimeoutError:
            log.warning("a worker that waits at breakpoint() has not closed the connection of a short attach")
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
        self.ended = asyncio.Event()
        """Set at the end of the connection."""

    def end(self, reason: str) -> None:
        """Note the end of the connection."""
        log.debug("the connection of a short attach has ended: %s", reason)
        self.ended.set()
        self.received.put_nowait(b"")

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
            if message.success is False:
                raise OSError(message.message or f"it refused {message.command}")
