"""Sockets on which only this user can connect.

relay_actor.py brings this module to nodes by value, because raydap need not be installed there. So it imports nothing
of raydap but private_sockets.py, which comes along.
"""

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress

from raydap.inworker.private_sockets import listen_privately, peer_is_trusted

log = logging.getLogger("raydap")

ACCEPT_DELAY_S = 1.0
"""Seconds until a process without a free descriptor looks again whether it can take a connection, as in asyncio."""

PATH_LIMIT = 107
"""Bytes of the path of a socket (unix(7), sockaddr_un)."""


def check_user(connection: socket.socket) -> None:
    """Raise PermissionError if the peer is neither this user's nor root's."""
    if not peer_is_trusted(connection):
        raise PermissionError("it belongs to another user")


def check_length(path: str) -> None:
    """Raise OSError if a socket cannot have this path."""
    if len(os.fsencode(path)) > PATH_LIMIT:
        raise OSError(errno.ENAMETOOLONG, f"the path of {os.path.dirname(path)} is too long for a socket")


def listen(path: str) -> socket.socket:
    """Return a socket on which only this user can connect. Raises OSError."""
    check_length(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.setblocking(False)
    try:
        listen_privately(listening, path, 1000)
    except BaseException:
        listening.close()
        raise
    return listening


class Listener:
    """Accepts connections of this user, on a socket that only this user can use. Raises OSError if it cannot."""

    def __init__(self, path: str, on_connection: Callable[[socket.socket], None]) -> None:
        self.path = path
        self._on_connection = on_connection
        self._socket = listen(path)
        self._retry: asyncio.TimerHandle | None = None
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return
        except OSError as error:
            # It would be called again at once, as long as the connection waits.
            log.warning("raydap cannot take a connection (%s); it tries again", error.strerror)
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._socket)
            self._retry = loop.call_later(ACCEPT_DELAY_S, loop.add_reader, self._socket, self._accept)
            return
        connection.setblocking(False)
        try:
            check_user(connection)
        except OSError:
            connection.close()
            return
        self._on_connection(connection)

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        with suppress(OSError):
            os.unlink(self.path)
