"""Accepts clients: one port for DAP over TCP and over WebSocket, and nothing behind it without the token."""

import asyncio
import logging
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
from raydap.transport.peer import Peer
from raydap.transport.websocket import WebSocketPeer
from raydap.transport.websocket_handshake import Handshake, Refusal
from raydap.wire.framing import MAX_BODY

log = logging.getLogger("raydap")

PATH = "/dap"

ORIGINS = frozenset({"vscode-file://vscode-app"})
"""Pages that may open a WebSocket: VS Code's own window. Browsers give other pages other origins, which a page cannot
choose. VS Code's webviews are not here, because they show content of others. Programs send no Origin."""

TOKEN_SUBPROTOCOL = "raydap.token."
"""Prefix of the subprotocol that carries the token, for clients that cannot set headers."""

TOKEN_TIMEOUT_S = 30.0
"""Seconds in which a new connection has to show the token."""

MAX_UNAUTHENTICATED = 64
"""Connections at a time that have not shown the token."""

UNAUTHENTICATED_MAX_BODY = 1024 * 1024
"""Bytes of a message on such a connection. `initialize` and `attach` are much shorter."""


class Acceptor:
    """Makes clients of connections. `names`: the Host names under which the hub may be reached. Must be closed."""

    def __init__(self, clients: Clients, verifier: TokenVerifier, names: Iterable[str] = ()) -> None:
        self._clients = clients
        self._verifier = verifier
        self._names = {"localhost", *(name.lower() for name in names)}
        self._unauthenticated: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._authenticated: set[Peer] = set()
        self._left = asyncio.Event()
        self._tasks = Tasks()

    def protocol(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        return _ProtocolDetector(self)

    async def wait_left(self) -> None:
        """Returns when all clients that had shown the token have left again."""
        await self._left.wait()

    async def close(self) -> None:
        """Ends connections without the token, and all tasks. The other connections are the clients' owner's to end."""
        for transport, timeout in list(self._unauthenticated.items()):
            timeout.cancel()
            transport.abort()
        self._unauthenticated.clear()
        self._tasks.cancel()
        await self._tasks.wait()

    # The life of a connection.

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Nothing is known of the client yet."""
        tcp.keep_alive(transport)
        if len(self._unauthenticated) < MAX_UNAUTHENTICATED:
            self._unauthenticated[transport] = asyncio.get_running_loop().call_later(
                TOKEN_TIMEOUT_S, self._reject, transport, "it showed no token in time"
            )
        else:
            self._reject(transport, "too many others have not shown the token")

    def end_token_timeout(self, transport: asyncio.Transport) -> None:
        """The client has shown the token, or is gone."""
        timeout = self._unauthenticated.pop(transport, None)
        if timeout is not None:
            timeout.cancel()

    def speaks_tls(self, transport: asyncio.Transport) -> None:
        """Ends the connection: a client that speaks TLS to a hub without TLS would wait long for an answer."""
        self._reject(transport, "it speaks TLS, for which this hub has no --tls-cert")

    def speaks_http(self, transport: asyncio.Transport) -> asyncio.Protocol:
        """The connection has to become a WebSocket."""

        async def decide(request: Request) -> Refusal | None:
            refusal = await self._decide(request)
            if refusal is not None:
                log.warning("a WebSocket from %s is refused: %s", _address(transport), refusal.text)
            return refusal

        def open_peer(protocol: Protocol) -> Peer:
            return self._add_authenticated(
                transport, lambda take, gone: WebSocketPeer(take, gone, protocol), "WebSocket"
            )

        return Handshake(decide, open_peer, lambda: self.end_token_timeout(transport))

    def speaks_dap(self, transport: asyncio.Transport) -> asyncio.Protocol:
        """The connection carries DAP, or something that DAP's framing refuses."""
        if not self._verifier.token_required:
            return self._add_authenticated(transport, Peer, "TCP")

        def open_peer(
            on_message: Callable[[bytes], None], on_gone: Callable[[str], None], on_admitted: Callable[[], None]
        ) -> Peer:
            def authenticated() -> None:
                peer.set_max_body(MAX_BODY)
                self._log_in(transport, peer, "TCP")
                on_admitted()

            def gone(reason: str) -> None:
                token_filter.close()
                on_gone(reason)

            token_filter = TokenFilter(
                self._verifier, on_message, authenticated, lambda reason: peer.abort(reason), self._tasks
            )
            peer = Peer(token_filter.receive, gone, max_body=UNAUTHENTICATED_MAX_BODY)
            return peer

        peer = self._clients.connect_unauthenticated(open_peer)
        self._tasks.spawn(self._watch_end(transport, peer))
        return peer

    def _add_authenticated(
        self,
        transport: asyncio.Transport,
        make: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer],
        way: str,
    ) -> Peer:
        """Takes a client that needs no token any more. A token in its arguments is still removed."""

        def open_peer(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
            token_filter = TokenFilter(
                self._verifier, on_message, lambda: None, lambda _: None, self._tasks, authenticated=True
            )
            return make(token_filter.receive, on_gone)

        peer = self._clients.connect(open_peer)
        self._log_in(transport, peer, way)
        self._tasks.spawn(self._watch_end(transport, peer))
        return peer

    def _log_in(self, transport: asyncio.Transport, peer: Peer, way: str) -> None:
        log.info("a client came in by %s from %s", way, _address(transport))
        self.end_token_timeout(transport)
        self._authenticated.add(peer)

    async def _watch_end(self, transport: asyncio.Transport, peer: Peer) -> None:
        await peer.wait_closed()
        self.end_token_timeout(transport)
        if peer in self._authenticated:
            self._authenticated.discard(peer)
            if not self._authenticated:
                self._left.set()

    def _reject(self, transport: asyncio.Transport, reason: str) -> None:
        log.warning("the connection from %s is closed: %s", _address(transport), reason)
        transport.abort()

    # Checks of a WebSocket handshake.

    async def _decide(self, request: Request) -> Refusal | None:
        if request.path.partition("?")[0] != PATH:
            return Refusal(404, f"The debugger is at {PATH}.")
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
            return Refusal(401, "The hub wants its token.")
        return Refusal(401, "The hub refuses the token.")

    def _check_host(self, headers: Headers) -> Refusal | None:
        """Refuses unknown names: a page whose name was made to lead here (DNS rebinding) still sends that name."""
        hosts = headers.get_all("Host")
        if len(hosts) != 1:
            return Refusal(400, "There has to be one Host header.")
        name = _hostname(hosts[0])
        if name.lower() in self._names or _is_literal(name):
            return None
        return Refusal(403, f"The name {_quoted(name)} is not known here; raydap serve --allow-host lets it in.")


class _ProtocolDetector(asyncio.Protocol):
    """A connection until its first bytes tell which protocol it speaks."""

    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._acceptor.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._received += data
        if self._received.startswith(_TLS):
            self._acceptor.speaks_tls(self._transport)
            return
        if len(self._received) < len(_HTTP) and _HTTP.startswith(self._received):
            return
        http = self._received.startswith(_HTTP)
        successor = (self._acceptor.speaks_http if http else self._acceptor.speaks_dap)(self._transport)
        self._transport.set_protocol(successor)
        successor.connection_made(self._transport)
        successor.data_received(bytes(self._received))

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._transport is not None
        self._acceptor.end_token_timeout(self._transport)


_HTTP = b"GET "
_TLS = b"\x16\x03"
"""The first bytes of a record of TLS's handshake (RFC 8446, section 5.1)."""


def _check_origin(headers: Headers) -> Refusal | None:
    foreign = [origin for origin in headers.get_all("Origin") if origin not in ORIGINS]
    return Refusal(403, f"Pages of {_quoted(foreign[0])} may not debug.") if foreign else None


def _token(headers: Headers) -> str | None:
    """The token of the Authorization header (RFC 6750) or the subprotocol. Raises InvalidHeader and ValueError."""
    given = headers.get_all("Authorization")
    if given:
        (value,) = given
        scheme, _, token = value.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None
    offered = [name for value in headers.get_all("Sec-WebSocket-Protocol") for name in parse_subprotocol(value)]
    tokens = [name.removeprefix(TOKEN_SUBPROTOCOL) for name in offered if name.startswith(TOKEN_SUBPROTOCOL)]
    return tokens[0] if tokens else None


def _hostname(host: str) -> str:
    """Without the port; an IPv6 address without its brackets."""
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
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "somewhere"
