"""One connection that speaks DAP's framing, whatever carries it."""

import asyncio
import socket
from collections.abc import Callable

from raydap.wire.framing import MAX_BODY, Decoder, FramingError, encode

MAX_QUEUED = 64 * 1024 * 1024
"""Bytes that may wait for a peer before it counts as one that does not read."""

CLOSE_GRACE = 5.0
"""Seconds that close() leaves the peer to read what is still queued."""

_QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class Peer(asyncio.Protocol):
    """Turns a byte stream into DAP messages and back.

    `on_message` gets the JSON of one message, without its header. `on_gone` is called exactly once, with a
    readable reason, when the connection ends by anything but our own `close()`; after `close()` neither is called
    again. Both are called from the event loop, never from inside `send` or `close`.

    `quick_ack` keeps Linux from delaying acknowledgements on this socket: debugpy's adapter writes header and body
    separately without TCP_NODELAY, and each second write would wait 40 ms for ours (tcp(7), TCP_QUICKACK).

    `max_body` is the largest message in bytes that is taken; `allow` changes it.
    """

    def __init__(
        self,
        on_message: Callable[[bytes], None],
        on_gone: Callable[[str], None],
        max_queued: int = MAX_QUEUED,
        quick_ack: bool = False,
        max_body: int = MAX_BODY,
    ) -> None:
        self._on_message = on_message
        self._on_gone = on_gone
        self._max_queued = max_queued
        self._quick_ack = _QUICK_ACK if quick_ack else None
        self._decoder = Decoder(max_body)
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._reason: str | None = None
        self._closing = False
        self._ended = asyncio.Event()

    def send(self, body: bytes) -> None:
        """Frames and queues one message. Does nothing once the connection is ending: its end is reported anyway."""
        if self._transport is not None and not self._closing and self._reason is None:
            self._transport.write(encode(body))

    def close(self) -> None:
        """Closes once everything sent so far is written, or after CLOSE_GRACE seconds. `on_gone` is not called."""
        if self._closing:
            return
        self._closing = True
        if self._transport is not None:
            self._say_goodbye(self._transport)
            asyncio.get_running_loop().call_later(CLOSE_GRACE, self._transport.abort)

    def cut_off(self, reason: str) -> None:
        """Ends the connection without waiting for the peer; `on_gone` follows from the event loop."""
        if self._transport is not None and self._reason is None:
            self._reason = reason
            self._transport.abort()

    def allow(self, max_body: int) -> None:
        """From the next message on, so many bytes are taken."""
        self._decoder.max_body = max_body

    async def wait_closed(self) -> None:
        """Returns when the connection is down and nothing is left to write."""
        await self._ended.wait()

    # What the event loop calls.

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
            self.cut_off(str(error))

    def pause_writing(self) -> None:
        self.cut_off("does not read")

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

    def _say_goodbye(self, transport: asyncio.Transport) -> None:
        transport.close()

    def _acknowledge_quickly(self) -> None:
        # The kernel forgets this setting by itself, so it is made again after every receive.
        if self._socket is not None and self._quick_ack is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, self._quick_ack, 1)


def _reason(exc: Exception | None) -> str:
    if exc is None:
        return "closed"
    if isinstance(exc, (ConnectionResetError, BrokenPipeError)):
        return "connection reset"
    return str(exc) or type(exc).__name__
