"""Removal of the sockets of agents whose processes have ended; runs in each process with an agent, and in raydap.

A process leaves its socket behind when it ends, and each new process lists the folder. So each new process checks some
of the sockets, and few leftovers remain however many processes have ended. A socket listens before it gets its name
(private_sockets.py), so a socket that refuses connections has no process.
"""

from __future__ import annotations

import _socket
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CHECKED = 8
"""Number of sockets that a process checks when it begins."""


def remove_some(folder: str) -> None:
    """Check up to CHECKED sockets in this folder, other ones in each process, and remove those of ended processes."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("raydap-") and name[7:].isdigit()]
    except OSError:
        return
    first = os.getpid() % (len(names) or 1)
    for name in (names[first:] + names[:first])[:CHECKED]:
        # A connection would wake a running process, so skip these. Processes of other containers are not in /proc:
        # their sockets accept the connection.
        if not os.path.exists("/proc/" + name[7:]):
            remove_if_ended(os.path.join(folder, name))


def remove_ended(folder: str, names: Iterable[str], elsewhere: set[str]) -> list[str]:
    """Remove the sockets with these names whose processes have ended, and return the other names.

    `elsewhere` collects the sockets of processes that run in other containers, so that each is woken once.
    """
    left = []
    for name in names:
        path = os.path.join(folder, name)
        if name not in elsewhere and not os.path.exists("/proc/" + name[7:]):
            remove_if_ended(path)
            if not os.path.exists(path):
                continue
            elsewhere.add(name)
        left.append(name)
    return left


def remove_if_ended(path: str) -> None:
    """Remove a socket of this user that refuses connections. Raise nothing: another process may remove it first."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        status = os.lstat(path)
        if stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid() and _refuses(connection, path):
            os.unlink(path)
    except OSError:
        pass
    finally:
        connection.close()


def _refuses(connection: _socket.socket, path: str) -> bool:
    try:
        connection.connect(path)
    except ConnectionRefusedError:
        return True
    return False
