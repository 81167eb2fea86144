"""Unix sockets that only this user can use; runs in each process with an agent, in the relay, and in raydap."""

from __future__ import annotations

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def listen_privately(listening: _socket.socket, path: str, backlog: int) -> None:
    """Listen at a path where only this user can connect; replace a socket at this path. Raises OSError.

    The socket gets the path only once it listens. So a socket that refuses connections belongs to no process, and is
    removed (leftover_sockets.py).

    Linux gives the path the mode of the socket, less the bits of the umask (net/unix/af_unix.c, unix_bind). Do not
    change the mode of the path instead: another user may have put a link there to one of this user's files. Do not
    change the umask either: it would apply to the files that other threads make at the same time.
    """
    # Keep this name no longer than the final one: the length of a socket's path is limited (unix(7), sockaddr_un).
    fresh = os.path.join(os.path.dirname(path), "." + os.urandom(3).hex())
    try:  # noqa: SIM105  # contextlib may not be imported yet
        os.fchmod(listening.fileno(), 0o600)
    except OSError:
        pass
    listening.bind(fresh)
    try:
        if sys.platform != "linux":
            os.chmod(fresh, 0o600)
        listening.listen(backlog)
        os.rename(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


def peer_is_trusted(connection: Any) -> bool:
    """Return whether the process at the other end belongs to this user or to root."""
    return _peer(connection)[1] in (0, os.getuid())


def peer_pid(connection: _socket.socket) -> int:
    """Return the pid of the process at the other end, 0 if it is unknown."""
    return _peer(connection)[0]


def _peer(connection: Any) -> tuple[int, int]:
    """Return the pid and the uid of the process at the other end (unix(7), SO_PEERCRED)."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return 0, os.getuid()  # Only the socket's mode protects it, as on macOS.
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)  # Three ints: pid, uid, gid.
    pid, uid, _ = memoryview(credentials).cast("i")
    return pid, uid
