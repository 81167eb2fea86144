"""DAP over WebSocket (RFC 6455): one message for each text frame, and no Content-Length."""

import asyncio
from collections.abc import Callable

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Protocol, State

from raydap.transport.peer import MAX_QUEUED, Peer

PING_INTERVAL_S = 20.0
"""Seconds between two pings. Something has to come within as many seconds after a ping."""


class WebSocketPeer(Peer):
    """A connection after its opening handshake (websocket_handshake.py), on either side; `protocol` is open.

    The connection ends, with the right close code, after a binary frame, text that is not UTF-8, a message longer than
    the protocol's `max_size`, and all else that breaks RFC 6455. It ends also when nothing comes within
    `ping_interval_s` after a ping, because a connection can be dead without a sign (half-open).
    """

    def __init__(
        self,
        on_message: Callable[[bytes], None],
        on_gone: Callable[[str], None],
        protocol: Protocol,
        max_queued: int = MAX_QUEUED,
        ping_interval_s: float = PING_INTERVAL_S,
    ) -> None:
        super().__init__(on_message, on_gone, max_queued)
        self._protocol = protocol
        self._ping_interval_s = ping_interval_s
        self._next_ping: asyncio.TimerHandle | None = None
        self._silent = False
        self._message = bytearray()

    def send(self, body: bytes) -> None:
        """Queues one message. Does nothing once the connection is ending."""
        if self._is_open:
            self._protocol.send_text(_text(body))
            self._flush()

    # asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._next_ping = asyncio.get_running_loop().call_later(self._ping_interval_s, self._ping)
        # Frames may have come right behind the handshake, and on_message is never called from inside dial().
        asyncio.get_running_loop().call_soon(self._take_all)

    def data_received(self, data: bytes) -> None:
        self._silent = False
        self._protocol.receive_data(data)
        self._take_all()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._next_ping is not None:
            self._next_ping.cancel()
        closed_by_peer = self._protocol.close_rcvd
        if self._reason is None and closed_by_peer is not None and closed_by_peer.reason:
            self._reason = f"closed: {closed_by_peer.reason}"
        super().connection_lost(exc)

    @property
    def _is_open(self) -> bool:
        wanted = self._transport is not None and not self._closing and self._reason is None
        return wanted and self._protocol.state is State.OPEN

    def _take_all(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and not self._closing and self._reason is None:
                self._take_frame(event)
        if self._protocol.parser_exc is not None and self._reason is None:
            self._reason = f"broke the WebSocket protocol: {self._protocol.parser_exc}"
        self._flush()

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.BINARY:
            self._fail(CloseCode.UNSUPPORTED_DATA, "DAP is text, one message for each text frame")
        elif frame.opcode in (Opcode.TEXT, Opcode.CONT):
            self._message += frame.data
            if frame.fin:
                body = bytes(self._message)
                self._message.clear()
                if _is_text(body):
                    self._on_message(body)
                else:
                    self._fail(CloseCode.INVALID_DATA, "text has to be UTF-8")

    def _fail(self, code: CloseCode, text: str) -> None:
        self._reason = f"broke the WebSocket protocol: {text}"
        self._protocol.fail(code, text)

    def _start_closing(self, transport: asyncio.Transport) -> None:
        """Sends a close frame; the connection ends when the peer has answered it."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
        self._flush()

    def _flush(self) -> None:
        if self._transport is not None:
            write(self._transport, self._protocol)

    def _ping(self) -> None:
        assert self._transport is not None
        if not self._is_open:
            # A peer that reads nothing keeps a connection up that is closing.
            self._transport.abort()
            return
        if self._silent:
            self.abort("does not answer pings")
            return
        self._silent = True
        self._protocol.send_ping(b"")
        self._flush()
        self._next_ping = asyncio.get_running_loop().call_later(self._ping_interval_s, self._ping)


def write(transport: asyncio.Transport, protocol: Protocol) -> None:
    """Writes the protocol's output. Its empty chunk means: close the connection."""
    for data in protocol.data_to_send():
        if data and not transport.is_closing():  # As in `Peer.send`.
            transport.write(data)
        elif not data:
            transport.close()


def _text(body: bytes) -> bytes:
    """The bytes as valid UTF-8. A worker's bytes are forwarded as they came; those that are not UTF-8 would end the
    client's connection."""
    return body if _is_text(body) else body.decode("utf-8", "replace").encode()


def _is_text(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
