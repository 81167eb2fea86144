"""DAP over TCP: dialling workers, listening for editors."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ssl import SSLContext
from typing import TypeVar

from raydap.transport.peer import Peer

T = TypeVar("T")

TLS_PATIENCE = 10.0
"""Seconds for a client's part of TLS's handshake."""

_KEEP_ALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
"""A link that died without a sign is noticed after 30 s: tcp(7); all in seconds, the last in milliseconds."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening server and where it can be reached."""

    server: asyncio.Server
    host: str
    port: int

    def close(self) -> None:
        """Stops accepting; connections that exist stay."""
        self.server.close()


async def dial(
    host: str,
    port: int,
    on_message: Callable[[bytes], None],
    on_gone: Callable[[str], None],
    timeout: float,
    ssl: SSLContext | None = None,
    keep: bool = False,
) -> Peer:
    """Connects to a worker's debugpy adapter, for good; or to a hub, maybe by `ssl`, with a link to `keep` alive.

    `timeout` is in seconds and covers the connection only. Raises TimeoutError when it runs out, ConnectionRefusedError
    when nothing listens, other OSError for names and networks; `on_gone` is not called then. debugpy speaks first,
    but both callbacks wait until the caller has had the peer and runs into its next `await`.
    """
    loop = asyncio.get_running_loop()
    gate = _Gate()
    connecting = loop.create_connection(
        lambda: Peer(gate.keep(on_message), gate.keep(on_gone), quick_ack=True), host, port, ssl=ssl
    )
    transport, peer = await within(timeout, host, connecting)
    if keep:
        keep_alive(transport)
    loop.call_soon(gate.open)
    return peer


async def adopt(connection: socket.socket, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
    """The same over a Unix socket that is connected already, and then the peer's to close."""
    loop = asyncio.get_running_loop()
    gate = _Gate()
    _, peer = await loop.create_unix_connection(
        lambda: Peer(gate.keep(on_message), gate.keep(on_gone)), sock=connection
    )
    loop.call_soon(gate.open)
    return peer


async def within(timeout: float, host: str, connecting: Awaitable[T]) -> T:
    """Waits for a connection to `host`, at most `timeout` seconds; whatever goes wrong is an OSError."""
    try:
        return await asyncio.wait_for(connecting, timeout)
    except asyncio.TimeoutError:
        # Before Python 3.11 asyncio's TimeoutError is a class of its own.
        raise TimeoutError(f"no connection within {timeout:g} s") from None
    except UnicodeError as error:
        raise OSError(f'"{host}" is no name of a host') from error


def why(error: OSError) -> str:
    """The system's words; asyncio's own have a Python tuple in them."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error) or type(error).__name__


def keep_alive(transport: asyncio.BaseTransport) -> None:
    """Lets the kernel probe a silent link, because DAP has no ping."""
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE.items():
            option = getattr(socket, name, None)
            if option is not None:
                connection.setsockopt(socket.IPPROTO_TCP, option, value)


class _Gate:
    """Keeps calls back, in order, until it is opened."""

    def __init__(self) -> None:
        self._kept: list[Callable[[], None]] | None = []

    def keep(self, function: Callable[[T], None]) -> Callable[[T], None]:
        def call(argument: T) -> None:
            if self._kept is None:
                function(argument)
            else:
                self._kept.append(lambda: function(argument))

        return call

    def open(self) -> None:
        kept, self._kept = self._kept or [], None
        for call in kept:
            call()


async def listen(
    host: str, port: int, factory: Callable[[], asyncio.Protocol], ssl: SSLContext | None = None
) -> Listener:
    """Accepts connections; port 0 lets the system choose. `factory` makes the peer of each new connection.

    The connection is up only after `factory` has returned: what is sent to the peer before that is dropped. In DAP
    the client speaks first, so nothing has to be. Raises OSError when the address cannot be used.
    """
    patience = None if ssl is None else TLS_PATIENCE
    server = await asyncio.get_running_loop().create_server(
        factory, host, port, ssl=ssl, ssl_handshake_timeout=patience
    )
    name = server.sockets[0].getsockname()
    return Listener(server, name[0], name[1])
