"""DAP over WebSocket (RFC 6455): each message is a WebSocket text message, without a Content-Length header."""

import asyncio
from collections.abc import Callable

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Protocol, State

from raydap.transport.peer import MAX_QUEUED, Peer

PING_INTERVAL_S = 20.0
"""Seconds between two pings. If the peer sends nothing in this time after a ping, the connection is aborted."""


class WebSocketPeer(Peer):
    """A connection after its opening handshake (websocket_handshake.py), on either side; `protocol` is open.

    A binary frame, text that is not UTF-8, a message longer than the protocol's `max_size`, and any other violation of
    RFC 6455 ends the connection with the matching close code. The connection also ends if the peer sends nothing within
    `ping_interval_s` after a ping, because a half-open connection gives no other sign.
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
        """Queue one message. Do nothing if the connection is closing."""
        if self._is_open:
            self._protocol.send_text(_text(body))
            self._flush()

    # asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the pings, and deliver the frames that arrived with the handshake."""
        super().connection_made(transport)
        self._next_ping = asyncio.get_running_loop().call_later(self._ping_interval_s, self._ping)
        # Deliver them later, because on_message must not be called from inside dial().
        asyncio.get_running_loop().call_soon(self._take_all)

    def data_received(self, data: bytes) -> None:
        """Deliver the messages that the bytes complete."""
        self._silent = False
        self._protocol.receive_data(data)
        self._take_all()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the pings, and report the end, with the peer's reason from its close frame if it has one."""
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
        """Send a close frame; the connection ends when the peer has answered it."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
        self._flush()

    def _flush(self) -> None:
        if self._transport is not None:
            write(self._transport, self._protocol)

    def _ping(self) -> None:
        assert self._transport is not None
        if not self._is_open:
            # The connection is still closing: without abort(), a peer that reads nothing would keep it open.
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
    """Write the protocol's output. An empty chunk in it means that the connection must be closed."""
    for data in protocol.data_to_send():
        if data and not transport.is_closing():  # As in `Peer.send`.
            transport.write(data)
        elif not data:
            transport.close()


def _text(body: bytes) -> bytes:
    """Return the bytes as valid UTF-8, with a replacement character for each invalid byte.

    A worker's messages are forwarded undecoded, and one that is not UTF-8 would end the client's connection.
    """
    return body if _is_text(body) else body.decode("utf-8", "replace").encode()


def _is_text(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
