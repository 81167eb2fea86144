"""Connections to the debug sessions of this user on this machine: sockets of editors' sessions, and hubs."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from raydap.client.dap_connection import Connect
from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo
from raydap.runtime import session_socket
from raydap.transport import tcp, unix
from raydap.transport.peer import Peer

CONNECT_TIMEOUT_S = 5.0


def find(kept: bool = False) -> dict[str, Connect]:
    """Return, for each session, the function that connects to it: editors come first, hubs last. Raises OSError.

    The keys are the paths of sockets and the URLs of hubs. `kept` includes the sessions of `raydap session`.
    """
    ways: dict[str, Connect] = {str(path): partial(_dial_socket, path) for path in session_socket.find()}
    if kept:
        ways |= find_kept()
    for hub in connection_file.all_hubs():
        ways[hub.url] = partial(_dial_hub, hub)
    return ways


def find_kept() -> dict[str, Connect]:
    """Return the same for the sessions of `raydap session` only. Raises OSError."""
    return {str(path): partial(_dial_socket, path) for path in session_socket.find(pattern=session_socket.KEPT)}


async def _dial_socket(path: Path, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
    try:
        connection = await unix.dial(str(path), CONNECT_TIMEOUT_S)
    except ConnectionRefusedError:
        # The adapter was killed, and has left its socket behind.
        with suppress(OSError):
            os.unlink(path)
        raise
    return await tcp.adopt(connection, on_message, on_gone)


async def _dial_hub(hub: ConnectionInfo, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
    from raydap.hub import hub_address

    address = hub_address.parse(hub.url)
    return await hub_address.dial(address, hub_address.token_for(address, os.environ), None, on_message, on_gone)
