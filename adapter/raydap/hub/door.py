"""Where clients come in: one port for DAP over TCP and over WebSocket, and nothing behind it without the token."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from ipaddress import ip_address
from typing import Any

from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.headers import parse_subprotocol
from websockets.http11 import Request
from websockets.protocol import Protocol

from raydap.hub.gate import Gate
from raydap.hub.tokens import Guard
from raydap.runtime.engine import Engine
from raydap.transport import tcp
from raydap.transport.handshake import Handshake, Refusal
from raydap.transport.peer import Peer
from raydap.transport.websocket import WebSocketPeer
from raydap.wire.framing import MAX_BODY

log = logging.getLogger("raydap")

PATH = "/dap"

ORIGINS = frozenset({"vscode-file://vscode-app"})
"""Pages that may open a WebSocket: VS Code's own window. A browser gives its pages other origins and lets none of them
choose. VS Code's webviews are not among them: they show what others wrote. Programs send no Origin at all."""

TOKEN_SUBPROTOCOL = "raydap.token."
"""Begins the subprotocol that carries the token, for clients that cannot set headers."""

PATIENCE = 30.0
"""Seconds for a new connection to show the token."""

MAX_STRANGERS = 64
"""Connections at a time that have not shown the token."""

STRANGERS_BODY = 1024 * 1024
"""Bytes of a message from one of them: `initialize` and `attach` fit in easily."""


class Door:
    """Makes clients of the engine from connections. `names`: the Host names under which the hub may be reached.

    `wait_left()` returns when all clients that had been let in have left again.
    """

    def __init__(self, engine: Engine, guard: Guard, names: Iterable[str] = ()) -> None:
        self._engine = engine
        self._guard = guard
        self._names = {"localhost", *(name.lower() for name in names)}
        self._strangers: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}
        self._inside: set[Peer] = set()
        self._left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def knock(self) -> asyncio.Protocol:
        """The protocol of a new connection."""
        return _Visitor(self)

    async def wait_left(self) -> None:
        await self._left.wait()

    # Coming in.

    def arrive(self, transport: asyncio.Transport) -> None:
        """A connection of which nothing is known yet."""
        tcp.keep_alive(transport)
        if len(self._strangers) < MAX_STRANGERS:
            late = asyncio.get_running_loop().call_later(PATIENCE, self._expel, transport, "it showed no token in time")
            self._strangers[transport] = late
        else:
            self._expel(transport, "too many others have not shown the token")

    def forget(self, transport: asyncio.BaseTransport) -> None:
        """It is no stranger any more: it has shown the token, or is gone."""
        late = self._strangers.pop(transport, None)
        if late is not None:
            late.cancel()

    def _expel(self, transport: asyncio.Transport, why: str) -> None:
        log.warning("the connection from %s is closed: %s", _address(transport), why)
        transport.abort()

    def tls(self, transport: asyncio.Transport) -> None:
        """It speaks TLS to a hub that does not, and would wait for an answer for long."""
        self._expel(transport, "it speaks TLS, for which this hub has no --tls-cert")

    def http(self, transport: asyncio.Transport) -> asyncio.Protocol:
        """It speaks HTTP, so it has to become a WebSocket."""

        async def decide(request: Request) -> Refusal | None:
            refusal = await self._decide(request)
            if refusal is not None:
                log.warning("a WebSocket from %s is refused: %s", _address(transport), refusal.text)
            return refusal

        def open_peer(protocol: Protocol) -> Peer:
            return self._admit(transport, lambda take, gone: WebSocketPeer(take, gone, protocol), "WebSocket")

        return Handshake(decide, open_peer, lambda: self.forget(transport))

    def dap(self, transport: asyncio.Transport) -> asyncio.Protocol:
        """It speaks something else: DAP, or what DAP's framing refuses."""
        if self._guard.open:
            return self._admit(transport, Peer, "TCP")

        def open_peer(
            on_message: Callable[[bytes], None], on_gone: Callable[[str], None], on_trusted: Callable[[], None]
        ) -> Peer:
            def trusted() -> None:
                peer.allow(MAX_BODY)
                self._enter(transport, peer, "TCP")
                on_trusted()

            def gone(reason: str) -> None:
                gate.close()
                on_gone(reason)

            gate = Gate(self._guard, on_message, trusted, lambda reason: peer.cut_off(reason))
            peer = Peer(gate.take, gone, max_body=STRANGERS_BODY)
            return peer

        peer = self._engine.connect_untrusted(open_peer)
        self._spawn(self._stay(transport, peer))
        return peer

    def _admit(
        self,
        transport: asyncio.Transport,
        make: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer],
        way: str,
    ) -> Peer:
        """A client that is trusted from the start. A token in its arguments is still taken out."""

        def open_peer(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
            return make(Gate(self._guard, on_message, lambda: None, lambda _: None, trusted=True).take, on_gone)

        peer = self._engine.connect(open_peer)
        self._enter(transport, peer, way)
        self._spawn(self._stay(transport, peer))
        return peer

    def _enter(self, transport: asyncio.Transport, peer: Peer, way: str) -> None:
        log.info("a client came in by %s from %s", way, _address(transport))
        self.forget(transport)
        self._inside.add(peer)

    async def _stay(self, transport: asyncio.Transport, peer: Peer) -> None:
        await peer.wait_closed()
        self.forget(transport)
        if peer in self._inside:
            self._inside.discard(peer)
            if not self._inside:
                self._left.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Looking at a handshake.

    async def _decide(self, request: Request) -> Refusal | None:
        if request.path.partition("?")[0] != PATH:
            return Refusal(404, f"The debugger is at {PATH}.")
        refusal = self._look_at_host(request.headers) or _look_at_origin(request.headers)
        if refusal is not None:
            return refusal
        try:
            token = _token(request.headers)
        except (InvalidHeader, ValueError):
            return Refusal(400, "The headers that carry the token are malformed.")
        if self._guard.admits(token):
            return None
        await self._guard.penalty()
        if token is None:
            return Refusal(401, "The hub wants its token.")
        return Refusal(401, "The hub refuses the token.")

    def _look_at_host(self, headers: Headers) -> Refusal | None:
        """A page whose name was made to lead here (DNS rebinding) still sends that name."""
        hosts = headers.get_all("Host")
        if len(hosts) != 1:
            return Refusal(400, "There has to be one Host header.")
        name = _hostname(hosts[0])
        if name.lower() in self._names or _is_literal(name):
            return None
        return Refusal(403, f"The name {_shown(name)} is not known here; raydap serve --allow-host lets it in.")


class _Visitor(asyncio.Protocol):
    """A connection whose first bytes will tell what it speaks."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._heard = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._door.arrive(transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._heard += data
        if self._heard.startswith(_TLS):
            self._door.tls(self._transport)
            return
        if len(self._heard) < len(_HTTP) and _HTTP.startswith(self._heard):
            return
        speaks = self._door.http if self._heard.startswith(_HTTP) else self._door.dap
        successor = speaks(self._transport)
        self._transport.set_protocol(successor)
        successor.connection_made(self._transport)
        successor.data_received(bytes(self._heard))

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._transport is not None
        self._door.forget(self._transport)


_HTTP = b"GET "
_TLS = b"\x16\x03"
"""Begins a record of TLS's handshake (RFC 8446, section 5.1)."""


def _look_at_origin(headers: Headers) -> Refusal | None:
    foreign = [origin for origin in headers.get_all("Origin") if origin not in ORIGINS]
    return Refusal(403, f"Pages of {_shown(foreign[0])} may not debug.") if foreign else None


def _token(headers: Headers) -> str | None:
    """That of the Authorization header (RFC 6750), else of the subprotocol. Raises InvalidHeader and ValueError."""
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


def _shown(text: str) -> str:
    return ascii(text[:60])


def _address(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "somewhere"
