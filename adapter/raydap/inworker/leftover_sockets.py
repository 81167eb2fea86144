"""Removes the sockets of agents whose processes have ended; runs in each process with an agent, and in raydap.

A process leaves its socket when it ends, and each new process lists the folder. So each new process checks some of the
sockets there, and few remain however many processes have ended. A socket gets its name when it listens already
(agent_socket.py), so one that refuses connections has no process.
"""

from __future__ import annotations

import _socket
import os
import stat

CHECKED = 8
"""How many sockets a process checks when it begins."""


def remove_some(folder: str) -> None:
    """Remove the sockets of ended processes among CHECKED in this folder, other ones in each process."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("raydap-") and name[7:].isdigit()]
    except OSError:
        return
    first = os.getpid() % (len(names) or 1)
    for name in (names[first:] + names[:first])[:CHECKED]:
        # A connection wakes a process, so a running process is left alone. The processes of other containers are not in
        # this list of processes.
        if not os.path.exists("/proc/" + name[7:]):
            remove_if_ended(os.path.join(folder, name))


def remove_if_ended(path: str) -> None:
    """Remove a socket of this user that refuses connections. Raises nothing: another process may remove it first."""
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
