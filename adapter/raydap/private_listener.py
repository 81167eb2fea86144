"""Unix sockets to which only this user can connect.

relay_actor.py sends this module to nodes by value, because raydap may not be installed there. So it imports nothing of
raydap but private_sockets.py, which is sent along.
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
"""Seconds before `accept` is tried again, for example when no descriptor was free. asyncio waits as long."""

PATH_LIMIT = 107
"""Longest path of a socket, in bytes (unix(7), sockaddr_un)."""


def check_user(connection: socket.socket) -> None:
    """Raise PermissionError unless the peer belongs to this user or to root."""
    if not peer_is_trusted(connection):
        raise PermissionError("it belongs to another user")


def check_length(path: str) -> None:
    """Raise OSError if the path is too long for a socket."""
    if len(os.fsencode(path)) > PATH_LIMIT:
        raise OSError(errno.ENAMETOOLONG, f"the path of {os.path.dirname(path)} is too long for a socket")


def listen(path: str) -> socket.socket:
    """Return a listening socket to which only this user can connect. Raises OSError."""
    check_length(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.setblocking(False)
    try:
        listen_privately(listening, path, 1000)
    except BaseException:
        listening.close()
        raise
    return listening


class SameUserListener:
    """A listening socket that passes each connection of this user to `on_connection`.

    The constructor needs a running event loop, and raises OSError if it cannot listen.
    """

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
            # Stop reading for a while: the connection still waits, so the loop would call this method again at once.
            log.warning("raydap cannot accept a connection (%s), and will try again", error.strerror)
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
        """Stop listening, and remove the socket's file."""
        if self._retry is not None:
            self._retry.cancel()
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        with suppress(OSError):
            os.unlink(self.path)
