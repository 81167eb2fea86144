"""Accepts clients of a hub on one port, for DAP over TCP and over WebSocket.

A client that has not sent the token learns nothing but the bridge's capabilities.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Iterable
from ipaddress import ip_address

from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.headers import parse_subprotocol
from websockets.http11 import Request
from websockets.protocol import Protocol

from raydap.hub.hub_token import TokenVerifier
from raydap.hub.token_filter import TokenFilter
from raydap.runtime.clients import Clients
from raydap.tasks import Tasks
from raydap.transport import tcp
from raydap.transport.peer import MAX_QUEUED, Peer
from raydap.transport.websocket import WebSocketPeer
from raydap.transport.websocket_handshake import Handshake, Refusal
from raydap.wire.framing import MAX_BODY

log = logging.getLogger("raydap")

PATH = "/dap"

ORIGINS = frozenset({"vscode-file://vscode-app"})
"""Origins of the pages that may open a WebSocket: VS Code's own window.

A browser sends the origin of each page, and a page cannot change it. VS Code's webviews are missing here on purpose,
because they show content of others. Programs send no Origin.
"""

TOKEN_SUBPROTOCOL = "raydap.token."
"""Prefix of the subprotocol that carries the token, for clients that cannot set headers."""

TOKEN_TIMEOUT_S = 30.0
"""Seconds within which a new connection must send the token."""

MAX_UNAUTHENTICATED = 64
"""The most connections at a time that have not sent the token."""

UNAUTHENTICATED_MAX_BYTES = 256 * 1024
"""Bytes that a connection may send in all before the token, and bytes that may be queued for it.

All such connections together take at most MAX_UNAUTHENTICATED times as much. `initialize` and `attach` are much
shorter.
"""

TLS_HANDSHAKE_TIMEOUT_S = 10.0
"""Seconds for the TLS handshake with a client."""


class Acceptor:
    """Makes a client of the engine from each connection. Must be closed.

    `names` are the names that a Host header may contain, in addition to localhost and literal addresses. With `tls` the
    acceptor makes the TLS handshakes itself, so that connections which do not complete one count as unauthenticated.
    """

    def __init__(
        self, clients: Clients, verifier: TokenVerifier, names: Iterable[str] = (), tls: ssl.SSLContext | None = None
    ) -> None:
        self._clients = clients
        self._verifier = verifier
        self._names = {"localhost", *(name.lower() for name in names)}
        self._tls = tls
        self._unauthenticated: dict[_Connection, asyncio.TimerHandle] = {}
        self._in_session: set[Peer] = set()
        self._left = asyncio.Event()
        self._tasks = Tasks()

    def protocol(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        return _Connection(self)

    async def wait_left(self) -> None:
        """Return when all clients that entered a session have left it.

        Observers, clients that join another client's session, and clients that only list workers do not count: they
        neither end a hub nor keep it running.
        """
        await self._left.wait()

    async def close(self) -> None:
        """End the connections without the token, and all tasks. The owner of the clients ends the other connections."""
        for connection, timeout in list(self._unauthenticated.items()):
            timeout.cancel()
            connection.abort()
        self._unauthenticated.clear()
        self._tasks.cancel()
        await self._tasks.wait()

    # The life of a connection.

    def accepted(self, connection: "_Connection", transport: asyncio.Transport) -> None:
        """Begin serving a new connection, or reject it if too many have not sent the token."""
        tcp.keep_alive(transport)
        if len(self._unauthenticated) >= MAX_UNAUTHENTICATED:
            self.reject(connection, "too many other connections have not sent the token")
            return
        self._unauthenticated[connection] = asyncio.get_running_loop().call_later(
            TOKEN_TIMEOUT_S, self.reject, connection, "it did not send the token in time"
        )
        if self._tls is None:
            connection.begin(transport)
        else:
            self._tasks.spawn(self._begin_tls(connection, transport, self._tls))

    async def _begin_tls(self, connection: "_Connection", transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        try:
            secure = await asyncio.get_running_loop().start_tls(
                transport, connection, tls, server_side=True, ssl_handshake_timeout=TLS_HANDSHAKE_TIMEOUT_S
            )
        except (OSError, asyncio.TimeoutError) as error:
            self.reject(connection, f"its TLS handshake failed: {error}")
            self.end_token_timeout(connection)
            return
        if secure is not None:
            connection.begin(secure)

    def end_token_timeout(self, connection: "_Connection") -> None:
        """Stop the timeout, because the client has sent the token or is gone."""
        timeout = self._unauthenticated.pop(connection, None)
        if timeout is not None:
            timeout.cancel()

    def speaks_tls(self, connection: "_Connection") -> None:
        """Reject a client that speaks TLS to a hub without TLS, because it would wait long for an answer."""
        self.reject(connection, "it uses TLS, but this hub was started without --tls-cert")

    def speaks_http(self, connection: "_Connection") -> asyncio.Protocol:
        """Return the protocol that makes a WebSocket of the connection."""

        async def decide(request: Request) -> Refusal | None:
            refusal = await self._decide(request)
            if refusal is not None:
                log.warning("refused a WebSocket from %s: %s", connection.address, refusal.text)
            return refusal

        def open_peer(protocol: Protocol) -> Peer:
            return self._add_authenticated(
                connection, lambda take, gone: WebSocketPeer(take, gone, protocol), "WebSocket"
            )

        return Handshake(decide, open_peer, lambda: self.end_token_timeout(connection))

    def speaks_dap(self, connection: "_Connection") -> asyncio.Protocol:
        """Return the protocol of a client that speaks DAP, or bytes that DAP's framing refuses."""
        if not self._verifier.token_required:
            client = self._add_authenticated(connection, Peer, "TCP")
            connection.hand_over(client)
            return client

        def open_peer(
            on_message: Callable[[bytes], None], on_gone: Callable[[str], None], on_admitted: Callable[[], None]
        ) -> Peer:
            def authenticated() -> None:
                peer.set_limits(MAX_BODY, MAX_QUEUED)
                self._log_in(connection, "TCP")
                connection.hand_over(peer)
                on_admitted()

            def gone(reason: str) -> None:
                token_filter.close()
                on_gone(reason)

            token_filter = TokenFilter(
                self._verifier,
                on_message,
                authenticated,
                lambda reason: peer.abort(reason),
                self._tasks,
                on_session=lambda: self._in_session.add(peer),
            )
            limit = UNAUTHENTICATED_MAX_BYTES
            peer = Peer(token_filter.receive, gone, max_queued=limit, max_body=limit)
            return peer

        peer = self._clients.connect_unauthenticated(open_peer)
        self._tasks.spawn(self._watch_end(connection, peer))
        return peer

    def _add_authenticated(
        self,
        connection: "_Connection",
        make: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer],
        way: str,
    ) -> Peer:
        """Add a client that needs to send no token. A token in its arguments is still removed."""

        def open_peer(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
            token_filter = TokenFilter(
                self._verifier,
                on_message,
                lambda: None,
                lambda _: None,
                self._tasks,
                authenticated=True,
                on_session=lambda: self._in_session.add(peer),
            )
            return make(token_filter.receive, on_gone)

        peer = self._clients.connect(open_peer)
        self._log_in(connection, way)
        self._tasks.spawn(self._watch_end(connection, peer))
        return peer

    def _log_in(self, connection: "_Connection", way: str) -> None:
        log.info("a client connected over %s from %s", way, connection.address)
        self.end_token_timeout(connection)

    async def _watch_end(self, connection: "_Connection", peer: Peer) -> None:
        await peer.wait_closed()
        self.end_token_timeout(connection)
        if peer in self._in_session:
            self._in_session.discard(peer)
            if not self._in_session:
                self._left.set()

    def reject(self, connection: "_Connection", reason: str) -> None:
        """Log the reason, and end the connection without an answer."""
        log.warning("closed the connection from %s: %s", connection.address, reason)
        connection.abort()

    # Checks of a WebSocket handshake.

    async def _decide(self, request: Request) -> Refusal | None:
        if request.path.partition("?")[0] != PATH:
            return Refusal(404, f"Use the path {PATH}.")
        refusal = self._check_host(request.headers) or _check_origin(request.headers)
        if refusal is not None:
            return refusal
        try:
            token = _token(request.headers)
        except (InvalidHeader, ValueError):
            return Refusal(400, "The headers that carry the token are malformed.")
        if self._verifier.accepts(token):
            return None
        await self._verifier.delay_refusal()
        if token is None:
            return Refusal(401, "The hub requires its token.")
        return Refusal(401, "The hub refuses the token.")

    def _check_host(self, headers: Headers) -> Refusal | None:
        """Refuse unknown names, as a defence against DNS rebinding.

        A web page whose name was made to resolve to the hub still sends that name.
        """
        hosts = headers.get_all("Host")
        if len(hosts) != 1:
            return Refusal(400, "The request must have exactly one Host header.")
        name = _hostname(hosts[0])
        if name.lower() in self._names or _is_literal(name):
            return None
        text = f"The hub does not accept the host name {_quoted(name)}; allow it with raydap serve --allow-host."
        return Refusal(403, text)


class _Connection(asyncio.Protocol):
    """A connection until its client has sent the token.

    It detects which protocol the client speaks, passes all bytes to the object for that protocol, and ends the
    connection if the client sends too many bytes.
    """

    def __init__(self, acceptor: Acceptor) -> None:
        self.address = ""
        self._acceptor = acceptor
        self._early = bytearray()
        self._received = 0
        self._accepted: asyncio.Transport | None = None
        self._transport: asyncio.Transport | None = None
        self._successor: asyncio.Protocol | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """Take the transport that carries DAP or HTTP: the accepted one, or the TLS transport on top of it."""
        self._transport = transport
        self._detect()

    def hand_over(self, protocol: asyncio.Protocol) -> None:
        """Pass the connection to `protocol`, because the client has sent the token."""
        assert self._transport is not None
        self._transport.set_protocol(protocol)

    def abort(self) -> None:
        """End the connection, in any state."""
        transport = self._transport or self._accepted
        if transport is not None:
            transport.abort()

    # asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._accepted = transport
        self.address = _address(transport)
        self._acceptor.accepted(self, transport)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > UNAUTHENTICATED_MAX_BYTES:
            self._acceptor.reject(self, "it sent too many bytes before the token")
        elif self._successor is not None:
            self._successor.data_received(data)
        else:
            self._early += data
            self._detect()

    def pause_writing(self) -> None:
        if self._successor is not None:
            self._successor.pause_writing()

    def resume_writing(self) -> None:
        if self._successor is not None:
            self._successor.resume_writing()

    def eof_received(self) -> bool | None:
        return None if self._successor is None else self._successor.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._acceptor.end_token_timeout(self)
        if self._successor is not None:
            self._successor.connection_lost(exc)

    def _detect(self) -> None:
        """Detect the client's protocol, once `begin` has been called and enough bytes have arrived.

        The bytes right after a TLS handshake can arrive before `begin` is called.
        """
        if self._transport is None or not self._early or self._transport.is_closing():
            return
        if self._early.startswith(_TLS):
            self._acceptor.speaks_tls(self)
            return
        if len(self._early) < len(_HTTP) and _HTTP.startswith(self._early):
            return
        http = self._early.startswith(_HTTP)
        self._successor = (self._acceptor.speaks_http if http else self._acceptor.speaks_dap)(self)
        data, self._early = bytes(self._early), bytearray()
        self._successor.connection_made(self._transport)
        self._successor.data_received(data)


_HTTP = b"GET "
_TLS = b"\x16\x03"
"""The first bytes of a TLS handshake record (RFC 8446, section 5.1)."""


def _check_origin(headers: Headers) -> Refusal | None:
    foreign = [origin for origin in headers.get_all("Origin") if origin not in ORIGINS]
    return Refusal(403, f"Pages from the origin {_quoted(foreign[0])} may not connect.") if foreign else None


def _token(headers: Headers) -> str | None:
    """Return the token of the Authorization header (RFC 6750) or of the subprotocol, None without one.

    Raises InvalidHeader and ValueError for malformed headers.
    """
    given = headers.get_all("Authorization")
    if given:
        (value,) = given
        scheme, _, token = value.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None
    offered = [name for value in headers.get_all("Sec-WebSocket-Protocol") for name in parse_subprotocol(value)]
    tokens = [name.removeprefix(TOKEN_SUBPROTOCOL) for name in offered if name.startswith(TOKEN_SUBPROTOCOL)]
    return tokens[0] if tokens else None


def _hostname(host: str) -> str:
    """Return the host without its port; an IPv6 address without its brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_literal(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _quoted(text: str) -> str:
    return ascii(text[:60])


def _address(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "an unknown address"
