"""A connection with DAP's framing, over any asyncio transport."""

import asyncio
import socket
from collections.abc import Callable

from raydap.wire.framing import MAX_BODY, Decoder, FramingError, encode

MAX_QUEUED = 64 * 1024 * 1024
"""The bytes that may be queued for a peer. With more, the peer counts as not reading, and the connection is aborted."""

CLOSE_TIMEOUT_S = 5.0
"""Seconds that the peer has to read the bytes queued at `close()`, before the connection is aborted."""

_QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class Peer(asyncio.Protocol):
    """One connection that sends and receives DAP messages.

    `on_message` gets the JSON of one message, without its header. `on_gone` is called exactly once, with a readable
    reason, unless `close()` ends the connection. After `close()` neither is called. Both are called from the event
    loop, never from inside `send` or `close`.

    `quick_ack` keeps Linux from delaying acknowledgements on this socket. debugpy's adapter writes header and body
    separately without TCP_NODELAY, so it would wait 40 ms for each acknowledgement (tcp(7), TCP_QUICKACK).

    `max_body` is the length of the longest message in bytes that is accepted, and `max_queued` the number of bytes that
    may be queued; `set_limits` changes both. A `decoder` replaces the default one, and then `max_body` is not used.
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
        """Queue one message. Do nothing if the connection is closing, because its end is reported anyway."""
        if self._transport is None or self._closing or self._reason is not None:
            return
        # After a failed write, asyncio logs a warning for each further one until it reports the end.
        if not self._transport.is_closing():
            self._transport.write(encode(body))

    def close(self) -> None:
        """Close the connection when all queued messages are written, at the latest after CLOSE_TIMEOUT_S.

        `on_gone` is not called.
        """
        if self._closing:
            return
        self._closing = True
        if self._transport is None:
            # `connection_made` may never be called: a listener that is closed drops connections it has just accepted.
            self._ended.set()
        else:
            self._start_closing(self._transport)
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, self._transport.abort)

    def abort(self, reason: str) -> None:
        """End the connection without waiting for the peer; `on_gone` is called later, from the event loop."""
        if self._transport is not None and self._reason is None:
            self._reason = reason
            self._transport.abort()

    def set_limits(self, max_body: int, max_queued: int) -> None:
        """Change the limits: the longest message, from the next one on, and the queue, both in bytes."""
        self._decoder.max_body = max_body
        self._max_queued = max_queued
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=max_queued)

    async def wait_closed(self) -> None:
        """Return when the connection has ended and nothing is left to write."""
        await self._ended.wait()

    # asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set the limits of the queue and the options of the socket."""
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
        """Decode the messages and call `on_message` for each; abort the connection if the framing is wrong."""
        self._acknowledge_quickly()
        try:
            self._deliver(self._decoder.feed(data))
        except FramingError as error:
            self._deliver(error.bodies)
            self.abort(str(error))

    def pause_writing(self) -> None:
        """Abort the connection, because more than `max_queued` bytes are queued."""
        self.abort("does not read its messages")

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection by `on_gone`, unless it was closed by `close`."""
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
        # The kernel resets this option at any time, so set it again after every receive.
        if self._socket is not None and self._quick_ack is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, self._quick_ack, 1)


def _reason(exc: Exception | None) -> str:
    if exc is None:
        return "closed"
    if isinstance(exc, (ConnectionResetError, BrokenPipeError)):
        return "connection reset"
    return str(exc) or type(exc).__name__
