"""One connection that speaks DAP's framing, over any asyncio transport."""

import asyncio
import socket
from collections.abc import Callable

from raydap.wire.framing import MAX_BODY, Decoder, FramingError, encode

MAX_QUEUED = 64 * 1024 * 1024
"""Bytes that may be queued for a peer. A peer with more does not read, and its connection is ended."""

CLOSE_TIMEOUT_S = 5.0
"""Seconds in which the peer can read what is queued at close()."""

_QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class Peer(asyncio.Protocol):
    """Turns a byte stream into DAP messages and back.

    `on_message` gets the JSON of one message, without its header. `on_gone` is called exactly once, with a readable
    reason, unless our own `close()` ends the connection. After `close()` neither is called again. Both are called from
    the event loop, never from inside `send` or `close`.

    `quick_ack` keeps Linux from delaying acknowledgements on this socket: debugpy's adapter writes header and body
    separately without TCP_NODELAY, so each second write would wait 40 ms for ours (tcp(7), TCP_QUICKACK).

    `max_body` is the largest message in bytes that is accepted; `set_limits` changes it. A `decoder` is used in the
    place of one with `max_body`.
    """

    def __init__(
        self,
        on_message: Callable[[bytes], None],
        on_gone: Callable[[str], None],
        max_queued: int = MAX_QUEUED,
        quick_ack: bool = False,
        max_body: int = MAX_BODY,
        decoder: Decoder | None = None,
    ) -> None:
        self._on_message = on_message
        self._on_gone = on_gone
        self._max_queued = max_queued
        self._quick_ack = _QUICK_ACK if quick_ack else None
        self._decoder = Decoder(max_body) if decoder is None else decoder
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._reason: str | None = None
        self._closing = False
        self._ended = asyncio.Event()

    def send(self, body: bytes) -> None:
        """Frames and queues one message. Does nothing once the connection is ending, because its end is reported."""
        if self._transport is None or self._closing or self._reason is not None:
            return
        # asyncio logs a warning for each write after a failed one until it reports the end.
        if not self._transport.is_closing():
            self._transport.write(encode(body))

    def close(self) -> None:
        """Closes once everything sent so far is written, or after CLOSE_TIMEOUT_S seconds. `on_gone` is not called."""
        if self._closing:
            return
        self._closing = True
        if self._transport is None:
            # The connection may never be made: a listener that is closed drops those that it has just accepted.
            self._ended.set()
        else:
            self._start_closing(self._transport)
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, self._transport.abort)

    def abort(self, reason: str) -> None:
        """Ends the connection without waiting for the peer; `on_gone` follows from the event loop."""
        if self._transport is not None and self._reason is None:
            self._reason = reason
            self._transport.abort()

    def set_limits(self, max_body: int, max_queued: int) -> None:
        """Change the length of messages, from the next one on, and the bytes that may be queued."""
        self._decoder.max_body = max_body
        self._max_queued = max_queued
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=max_queued)

    async def wait_closed(self) -> None:
        """Returns when the connection is down and nothing is left to write."""
        await self._ended.wait()

    # asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=self._max_queued)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            self._socket = connection
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._acknowledge_quickly()
        if self._closing:
            transport.close()

    def data_received(self, data: bytes) -> None:
        self._acknowledge_quickly()
        try:
            self._deliver(self._decoder.feed(data))
        except FramingError as error:
            self._deliver(error.bodies)
            self.abort(str(error))

    def pause_writing(self) -> None:
        self.abort("does not read")

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()
        if not self._closing:
            self._closing = True
            self._on_gone(self._reason or _reason(exc))

    def _deliver(self, bodies: list[bytes]) -> None:
        for body in bodies:
            if self._closing or self._reason is not None:
                return
            self._on_message(body)

    def _start_closing(self, transport: asyncio.Transport) -> None:
        transport.close()

    def _acknowledge_quickly(self) -> None:
        # The kernel resets this option by itself, so it is set again after every receive.
        if self._socket is not None and self._quick_ack is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, self._quick_ack, 1)


def _reason(exc: Exception | None) -> str:
    if exc is None:
        return "closed"
    if isinstance(exc, (ConnectionResetError, BrokenPipeError)):
        return "connection reset"
    return str(exc) or type(exc).__name__
