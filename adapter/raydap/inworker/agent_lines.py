"""The lines that an agent and raydap exchange before DAP, and the agent's checks of the raydap process."""

from __future__ import annotations

import _socket
import os
import time

from .light_start import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping
    from typing import Any

LINE_LIMIT = 256 * 1024
"""Maximum length of raydap's line in bytes. An expression that compares a value has 12 KB."""

STOPPED_INTERVAL_S = 1.0
"""Seconds between two checks whether the raydap that a process waits for is stopped, for example by Ctrl-Z."""


def is_wanted(environ: Mapping[bytes, bytes] | None = None) -> bool:
    """Return whether a process with this environment may have an agent; without `environ`, whether this one may.

    RAYDAP=off keeps a process and its children free of raydap.
    """
    if environ is None:
        return os.environ.get("RAYDAP") != "off"
    return environ.get(b"RAYDAP") != b"off"


def wait_unless_stopped(event: threading.Event, pid: int, seconds: float) -> None:
    """Return when the event is set, when the process with this pid is stopped, or after `seconds`."""
    until = time.monotonic() + seconds
    while not is_stopped(pid) and time.monotonic() < until and not event.wait(STOPPED_INTERVAL_S):
        pass


def hangs_up(connection: _socket.socket, pid: int) -> bool:
    """Return whether raydap, the process with this pid, closes the connection before it sends anything.

    Return False if raydap is stopped, or if it has done neither after STOPPED_INTERVAL_S.
    """
    if is_stopped(pid):
        return False
    connection.settimeout(STOPPED_INTERVAL_S)
    try:
        return not connection.recv(1, _socket.MSG_PEEK)
    except TimeoutError:
        return False


def is_stopped(pid: int) -> bool:
    """Return whether the process with this pid is stopped; False for all processes without /proc.

    Source: proc(5), /proc/PID/stat: the state follows the name in parentheses.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"T"
    except (OSError, IndexError):
        return False


def write_line(connection: _socket.socket, line: dict[str, Any]) -> None:
    """Send one line of JSON. Raise OSError."""
    connection.sendall(to_json(line).encode() + b"\n")


def read_line(connection: _socket.socket) -> dict[str, Any]:
    """Return the object in raydap's line of JSON, or {} if there is none. Raise ValueError if it is not JSON.

    Read no further than the line, because DAP follows.
    """
    line = b""
    while not line.endswith(b"\n") and len(line) < LINE_LIMIT:
        seen = connection.recv(4096, _socket.MSG_PEEK)
        if not seen:
            return {}
        line += connection.recv(seen.find(b"\n") + 1 or len(seen))
    import json

    answer = json.loads(line)
    return answer if isinstance(answer, dict) else {}
