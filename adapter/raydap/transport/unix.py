"""Connections on Unix sockets that only this user can use."""

import asyncio
import os
import socket
import struct
import tempfile
from collections.abc import Awaitable, Callable

LINE_LIMIT = 4096
"""Bytes of a line."""


async def dial(path: str, timeout_s: float) -> socket.socket:
    """Connects. Raises FileNotFoundError and ConnectionRefusedError if nobody listens, PermissionError if the peer is
    another user's, TimeoutError, and other OSErrors."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(connection, path), timeout_s)
        check_user(connection)
    except asyncio.TimeoutError:
        connection.close()
        raise TimeoutError(f"no connection within {timeout_s:g} s") from None
    except BaseException:
        connection.close()
        raise
    return connection


async def read_line(connection: socket.socket, timeout_s: float) -> bytes:
    """The next line of the peer, and nothing of what follows. Raises ConnectionError if the peer ends the connection or
    sends no line, TimeoutError, and other OSErrors."""
    return await _within(timeout_s, _read_line(connection))


async def _read_line(connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        # What follows the line is not ours to read.
        byte = await asyncio.get_running_loop().sock_recv(connection, 1)
        line += byte
        if not byte or len(line) > LINE_LIMIT:
            raise ConnectionError("it sent no line")
    return line


async def _within(timeout_s: float, reading: Awaitable[bytes]) -> bytes:
    try:
        return await asyncio.wait_for(reading, timeout_s)
    except asyncio.TimeoutError:
        raise TimeoutError(f"nothing came within {timeout_s:g} s") from None


def check_user(connection: socket.socket) -> None:
    """Raises PermissionError if the peer is neither this user's nor root's (unix(7), SO_PEERCRED)."""
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] not in (0, os.getuid()):
            raise PermissionError("it belongs to another user")


class PrivateListener:
    """Accepts connections of this user, in a folder of its own that nobody else can enter. `folder` is removed by
    `close`, and whatever is in it then."""

    def __init__(self, on_connection: Callable[[socket.socket], None]) -> None:
        self._on_connection = on_connection
        self._folder = tempfile.TemporaryDirectory(prefix="raydap-", ignore_cleanup_errors=True)
        self.folder = self._folder.name
        self.path = os.path.join(self.folder, "raydap")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.bind(self.path)
        self._socket.listen(1000)
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return
        connection.setblocking(False)
        try:
            check_user(connection)
        except OSError:
            connection.close()
            return
        self._on_connection(connection)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        self._folder.cleanup()
