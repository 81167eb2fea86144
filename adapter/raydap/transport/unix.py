"""Connections on Unix sockets that only this user can use."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable

from raydap.bounded_wait import wait_for
from raydap.inworker.private_folders import safe_parent
from raydap.private_listener import PATH_LIMIT, SameUserListener, check_user

LINE_LIMIT = 4096
"""A line must be shorter than this, in bytes, without its line break."""

_FOLDER_LENGTH = len("/raydap-12345678/")
"""The bytes that tempfile adds to a path for a folder."""


async def dial(path: str, timeout_s: float) -> socket.socket:
    """Connect to a Unix socket, and check that the peer belongs to this user.

    Raises FileNotFoundError or ConnectionRefusedError if nothing listens, PermissionError if the peer belongs to
    another user, TimeoutError, and other OSErrors.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        await wait_for(asyncio.get_running_loop().sock_connect(connection, path), timeout_s)
        check_user(connection)
    except asyncio.TimeoutError:
        connection.close()
        raise TimeoutError(f"no connection within {timeout_s:g} s") from None
    except BaseException:
        connection.close()
        raise
    return connection


async def read_line(connection: socket.socket, timeout_s: float) -> bytes:
    """Read the next line of the peer, and no byte after it.

    Raises ConnectionError if the peer ends the connection or sends no line, TimeoutError, and other OSErrors.
    """
    return await _within(timeout_s, _read_line(connection))


async def read_to_end(connection: socket.socket, limit: int, timeout_s: float) -> bytes:
    """Read all bytes that the peer sends until it ends the connection.

    Raises ConnectionError if these are more than `limit`, TimeoutError, and other OSErrors.
    """
    return await _within(timeout_s, _read_to_end(connection, limit))


async def _read_to_end(connection: socket.socket, limit: int) -> bytes:
    received = bytearray()
    while part := await asyncio.get_running_loop().sock_recv(connection, 65_536):
        received += part
        if len(received) > limit:
            raise ConnectionError("it sent too much")
    return bytes(received)


async def _read_line(connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        # Bytes after the line belong to the next reader, so peek before reading.
        await _readable(connection)
        seen = connection.recv(LINE_LIMIT, socket.MSG_PEEK)
        if not seen or len(line) + len(seen.partition(b"\n")[0]) >= LINE_LIMIT:
            raise ConnectionError("it sent no line")
        line += connection.recv(seen.find(b"\n") + 1 or len(seen))
    return line


async def _readable(connection: socket.socket) -> None:
    """Return when there is something to read, or when the peer has ended the connection."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection)


async def _within(timeout_s: float, reading: Awaitable[bytes]) -> bytes:
    try:
        return await wait_for(reading, timeout_s)
    except asyncio.TimeoutError:
        raise TimeoutError(f"no data came within {timeout_s:g} s") from None


class PrivateListener(SameUserListener):
    """A listener in a new folder that no other user can enter. `close` removes the folder with all its files."""

    def __init__(self, name: str, on_connection: Callable[[socket.socket], None]) -> None:
        # TMPDIR is often too long on a cluster. /tmp is safe, too: it has the sticky bit, and the folder the mode 0700.
        parent = safe_parent()
        if len(os.fsencode(parent)) + len(name) + _FOLDER_LENGTH > PATH_LIMIT:
            parent = "/tmp"
        self._folder = tempfile.TemporaryDirectory(prefix="raydap-", dir=parent, ignore_cleanup_errors=True)
        self.folder = self._folder.name
        super().__init__(os.path.join(self.folder, name), on_connection)

    def close(self) -> None:
        """Stop listening and remove the folder."""
        super().close()
        self._folder.cleanup()
