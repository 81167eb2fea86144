"""The opening handshake of WebSocket (RFC 6455, section 4), for servers and clients."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ssl import SSLContext

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request
from websockets.protocol import Protocol, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from raydap.transport import tcp
from raydap.transport.peer import Peer
from raydap.transport.websocket import WebSocketPeer, write
from raydap.wire.framing import MAX_BODY

SUBPROTOCOL = Subprotocol("raydap")

# At debug level the library logs headers, which contain tokens.
_log = logging.getLogger("raydap.websocket")
_log.setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer that refuses a handshake."""

    status: int
    """The HTTP status."""
    text: str
    """One sentence with the reason."""


class Handshake(asyncio.Protocol):
    """The server's side of one connection until its handshake is answered.

    `decide` returns None to accept the HTTP request, and may take any time for that. If the request is accepted and
    asks for a WebSocket, `open_peer` makes the peer that takes over the connection. If the connection ends without a
    peer, `on_lost` is called.
    """

    def __init__(
        self,
        decide: Callable[[Request], Awaitable[Refusal | None]],
        open_peer: Callable[[Protocol], Peer],
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._decide = decide
        self._open_peer = open_peer
        self._on_lost = on_lost
        self._protocol = ServerProtocol(
            select_subprotocol=lambda _, offered: SUBPROTOCOL if SUBPROTOCOL in offered else None,
            max_size=MAX_BODY,
            logger=_log,
        )
        self._transport: asyncio.Transport | None = None
        self._answering: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Start a task that answers the request when it is complete; abort the connection after further data."""
        assert self._transport is not None
        if self._transport.is_closing():
            return
        if self._answering is not None:
            self._transport.abort()
            return
        self._protocol.receive_data(data)
        events = self._protocol.events_received()
        if not events:
            write(self._transport, self._protocol)
        elif len(events) == 1 and isinstance(events[0], Request) and self._protocol.parser_exc is None:
            self._answering = asyncio.get_running_loop().create_task(self._answer(self._transport, events[0]))
        else:
            # A client must not send anything else before it has the answer.
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the answer and call `on_lost`."""
        if self._answering is not None:
            self._answering.cancel()
        self._on_lost()

    async def _answer(self, transport: asyncio.Transport, request: Request) -> None:
        """Answer the request; after a failure abort the connection, so that the client does not wait for an answer."""
        try:
            await self._answer_as_decided(transport, request)
        except Exception:
            logging.getLogger("raydap").exception("a WebSocket handshake failed")
            transport.abort()

    async def _answer_as_decided(self, transport: asyncio.Transport, request: Request) -> None:
        refusal = await self._decide(request)
        if refusal is None:
            response = self._protocol.accept(request)
        else:
            response = self._protocol.reject(refusal.status, f"{refusal.text}\n")
            if refusal.status == 401:
                response.headers["WWW-Authenticate"] = "Bearer"
        self._protocol.send_response(response)
        write(transport, self._protocol)
        if self._protocol.state is State.OPEN and not transport.is_closing():
            peer = self._open_peer(self._protocol)
            transport.set_protocol(peer)
            peer.connection_made(transport)


class HandshakeRefused(OSError):
    """The server has not accepted the WebSocket."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        """The HTTP status of the server's answer; 0 if the answer is not a valid handshake."""


async def dial(
    url: str,
    token: str | None,
    on_message: Callable[[bytes], None],
    on_gone: Callable[[str], None],
    timeout_s: float,
    ssl: SSLContext | None = None,
) -> WebSocketPeer:
    """Connect to a hub. `url` begins with ws://, or with wss:// if `ssl` is given.

    `timeout_s` covers connection and handshake. Raises TimeoutError, HandshakeRefused or another OSError; `on_gone` is
    not called then. Neither callback is called before `dial` has returned.
    """
    uri = parse_uri(url)
    protocol = ClientProtocol(uri, subprotocols=[SUBPROTOCOL], max_size=MAX_BODY, logger=_log)
    request = protocol.connect()
    if token is not None:
        request.headers["Authorization"] = f"Bearer {token}"
    protocol.send_request(request)
    opening = _Opening(protocol)

    async def connect() -> asyncio.Transport:
        create = asyncio.get_running_loop().create_connection(lambda: opening, uri.host, uri.port, ssl=ssl)
        transport, _ = await create
        try:
            await opening.answered.wait()
        except asyncio.CancelledError:
            transport.abort()
            raise
        return transport

    transport = await tcp.within(timeout_s, uri.host, connect())
    if protocol.state is not State.OPEN or transport.is_closing():
        transport.abort()
        raise _refusal(protocol.handshake_exc)
    tcp.keep_alive(transport)
    peer = WebSocketPeer(on_message, on_gone, protocol)
    transport.set_protocol(peer)
    peer.connection_made(transport)
    return peer


class _Opening(asyncio.Protocol):
    """The client's side of one connection until the server's answer. `protocol` keeps the bytes after the answer."""

    def __init__(self, protocol: ClientProtocol) -> None:
        self.answered = asyncio.Event()
        self._protocol = protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request of the handshake."""
        assert isinstance(transport, asyncio.Transport)
        write(transport, self._protocol)

    def data_received(self, data: bytes) -> None:
        """Set `answered` when the answer is complete."""
        self._protocol.receive_data(data)
        if self._protocol.state is not State.CONNECTING or self._protocol.handshake_exc is not None:
            self.answered.set()

    def eof_received(self) -> None:
        """Complete an answer without Content-Length, which ends with the connection."""
        self._protocol.receive_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        """Set `answered`, so that `dial` does not wait any longer."""
        self.answered.set()


def _refusal(error: Exception | None) -> HandshakeRefused:
    if isinstance(error, InvalidStatus):
        text = bytes(error.response.body or b"").decode(errors="replace").strip()
        return HandshakeRefused(error.response.status_code, text or error.response.reason_phrase)
    return HandshakeRefused(0, "it does not answer with a WebSocket handshake")
