"""DAP over TCP: dialling workers, listening for editors."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from raydap.transport.peer import Peer

T = TypeVar("T")


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
) -> Peer:
    """Connects to a worker's debugpy adapter, for good.

    `timeout` is in seconds and covers the connection only. Raises TimeoutError when it runs out, ConnectionRefusedError
    when nothing listens, other OSError for names and networks; `on_gone` is not called then. debugpy speaks first,
    but both callbacks wait until the caller has had the peer and runs into its next `await`.
    """
    loop = asyncio.get_running_loop()
    gate = _Gate()
    connecting = loop.create_connection(
        lambda: Peer(gate.keep(on_message), gate.keep(on_gone), quick_ack=True), host, port
    )
    try:
        _, peer = await asyncio.wait_for(connecting, timeout)
    except asyncio.TimeoutError:
        # Before Python 3.11 asyncio's TimeoutError is a class of its own.
        raise TimeoutError(f"no connection within {timeout:g} s") from None
    except UnicodeError as error:
        raise OSError(f'"{host}" is no name of a host') from error
    loop.call_soon(gate.open)
    return peer


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


async def listen(host: str, port: int, factory: Callable[[], Peer]) -> Listener:
    """Accepts connections; port 0 lets the system choose. `factory` makes the peer of each new connection.

    The connection is up only after `factory` has returned: what is sent to the peer before that is dropped. In DAP
    the client speaks first, so nothing has to be. Raises OSError when the address cannot be used.
    """
    server = await asyncio.get_running_loop().create_server(factory, host, port)
    name = server.sockets[0].getsockname()
    return Listener(server, name[0], name[1])
