"""The lines that an agent and raydap exchange before DAP begins, and what the agent checks of the other process."""

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Mapping
from typing import Any

LINE_LIMIT = 256 * 1024
"""Bytes of raydap's line. An expression that compares a value has 12 KB."""

STOPPED_INTERVAL_S = 1.0
"""Seconds between two looks whether the raydap that a process waits for is stopped, as by Ctrl-Z."""


def is_wanted(environ: Mapping[bytes, bytes] | None = None) -> bool:
    """Return whether a process may have an agent; `environ` is its environment, by default that of this process.

    RAYDAP=off keeps a process and its children free of raydap.
    """
    if environ is None:
        return os.environ.get("RAYDAP") != "off"
    return environ.get(b"RAYDAP") != b"off"


def peer_is_trusted(connection: socket.socket) -> bool:
    """Return whether the other end belongs to this user or to root."""
    return _peer(connection)[1] in (0, os.getuid())


def peer_pid(connection: socket.socket) -> int:
    """Return the pid of the process at the other end, 0 if it is not known."""
    return _peer(connection)[0]


def _peer(connection: socket.socket) -> tuple[int, int]:
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, os.getuid()  # The socket's mode has to suffice, as on macOS.
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", credentials)
    return pid, uid


def wait_unless_stopped(event: threading.Event, pid: int, seconds: float) -> None:
    """Return when the event is set, when the process with this pid is stopped, or after so many seconds."""
    until = time.monotonic() + seconds
    while not is_stopped(pid) and time.monotonic() < until and not event.wait(STOPPED_INTERVAL_S):
        pass


def is_stopped(pid: int) -> bool:
    """Source: proc(5), /proc/PID/stat: the state follows the name in parentheses. Without /proc nothing is stopped."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"T"
    except (OSError, IndexError):
        return False


def write_line(connection: socket.socket, line: dict[str, Any]) -> None:
    connection.sendall(json.dumps(line).encode() + b"\n")


def read_line(connection: socket.socket) -> dict[str, Any]:
    """Return the answer, {} if there is none. Read no further than the line, because DAP follows."""
    line = b""
    while not line.endswith(b"\n") and len(line) < LINE_LIMIT:
        seen = connection.recv(4096, socket.MSG_PEEK)
        if not seen:
            return {}
        line += connection.recv(seen.find(b"\n") + 1 or len(seen))
    answer = json.loads(line)
    return answer if isinstance(answer, dict) else {}
