"""DAP over TCP: connections to workers and hubs, and listeners for editors."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ssl import SSLContext
from typing import TypeVar

from raydap.bounded_wait import wait_for
from raydap.transport.peer import Peer
from raydap.transport.tcp_peers import OwnUserOnly

T = TypeVar("T")

_KEEP_ALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
"""Socket options that detect a silently dead connection after 30 s (tcp(7)); TCP_USER_TIMEOUT is in milliseconds."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening server and its address."""

    server: asyncio.Server
    """The server of asyncio that accepts the connections."""
    host: str
    """The address on which it listens."""
    port: int
    """The port on which it listens, even if the system has chosen it."""

    def close(self) -> None:
        """Stop accepting connections; existing connections stay open."""
        self.server.close()


async def dial(
    host: str,
    port: int,
    on_message: Callable[[bytes], None],
    on_gone: Callable[[str], None],
    timeout_s: float,
    ssl: SSLContext | None = None,
    keepalive: bool = False,
) -> Peer:
    """Connect to a worker's debugpy adapter, or to a hub, with `keepalive` and possibly `ssl`.

    `timeout_s` covers the connection only. Raises TimeoutError after that time, ConnectionRefusedError if nothing
    listens, and other OSErrors for names and networks; `on_gone` is not called then. Although debugpy sends first,
    neither callback is called before the caller has the peer and reaches its next `await`.
    """
    loop = asyncio.get_running_loop()
    calls = _HeldCalls()
    connecting = loop.create_connection(
        lambda: Peer(calls.hold(on_message), calls.hold(on_gone), quick_ack=True), host, port, ssl=ssl
    )
    transport, peer = await within(timeout_s, host, connecting)
    if keepalive:
        keep_alive(transport)
    loop.call_soon(calls.release)
    return peer


async def adopt(connection: socket.socket, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
    """Return a peer for a Unix socket that is connected already, like `dial`. The peer closes the socket."""
    loop = asyncio.get_running_loop()
    calls = _HeldCalls()
    _, peer = await loop.create_unix_connection(
        lambda: Peer(calls.hold(on_message), calls.hold(on_gone)), sock=connection
    )
    loop.call_soon(calls.release)
    return peer


async def within(timeout_s: float, host: str, connecting: Awaitable[T]) -> T:
    """Wait for a connection to `host`, at most `timeout_s`. Every failure is raised as an OSError."""
    try:
        return await wait_for(connecting, timeout_s)
    except asyncio.TimeoutError:
        # Before Python 3.11, asyncio.TimeoutError is not the built-in TimeoutError.
        raise TimeoutError(f"no connection within {timeout_s:g} s") from None
    except UnicodeError as error:
        raise OSError(f'"{host}" is not a valid host name') from error


def reason(error: OSError) -> str:
    """Return the operating system's text for an error, because asyncio's own text contains a Python tuple."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error) or type(error).__name__


def keep_alive(transport: asyncio.BaseTransport) -> None:
    """Let the kernel probe a silent connection, because DAP has no ping."""
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE.items():
            option = getattr(socket, name, None)
            if option is not None:
                connection.setsockopt(socket.IPPROTO_TCP, option, value)


class _HeldCalls:
    """Calls that are held back, in order, until `release`."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] | None = []

    def hold(self, function: Callable[[T], None]) -> Callable[[T], None]:
        """Return a function whose calls are held back, and after `release` go straight to `function`."""

        def call(argument: T) -> None:
            if self._held is None:
                function(argument)
            else:
                self._held.append(lambda: function(argument))

        return call

    def release(self) -> None:
        """Make the calls that were held back."""
        held, self._held = self._held or [], None
        for call in held:
            call()


async def listen(
    host: str,
    port: int,
    factory: Callable[[], asyncio.Protocol],
    own_user_only: bool = True,
) -> Listener:
    """Accept connections; with port 0 the system chooses the port. `factory` makes the protocol of each connection.

    `own_user_only` refuses connections of other users of this machine. Pass False only if clients must show a token.

    Messages that are sent before `factory` has returned are dropped. There are none, because in DAP the client sends
    first. Raises OSError if the address cannot be used.
    """
    accept: Callable[[], asyncio.Protocol] = (lambda: OwnUserOnly(factory)) if own_user_only else factory
    server = await asyncio.get_running_loop().create_server(accept, host, port)
    name = server.sockets[0].getsockname()
    return Listener(server, name[0], name[1])
