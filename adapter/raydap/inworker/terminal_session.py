"""The session of a program in a Ray Debug Terminal of VS Code; runs in the driver.

The variable RAYDAP_TERMINAL of such a terminal is the path of a socket on which the extension listens
(vscode-ext/src/debug/debug-terminal.ts). When the driver has joined a cluster, it asks the extension for a session.
"""

import json
import os
import sys
import time
from typing import Any

from .agent_lines import STOPPED_INTERVAL_S, is_stopped
from .private_sockets import peer_is_trusted, peer_pid

CALL_TIMEOUT_S = 1.0
"""Seconds for the extension to accept a call."""

SESSION_TIMEOUT_S = 60.0
"""Seconds for a session to attach and to set its breakpoints. After that the program continues without them, and at
once if VS Code is stopped."""

PROGRAM: dict[str, Any] = {}
"""The open connection to the extension, as `connection`. VS Code ends the session when the program closes it, which it
does by ending."""


def open_session(terminal: str, cluster: str) -> None:
    """Ask the extension that listens at this path for a session, and return when its breakpoints are set.

    Return at once if no extension listens there, or if `cluster` is "".
    """
    import socket

    last = PROGRAM.pop("connection", None)
    if last is not None:
        last.close()
    if not cluster:
        return
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(CALL_TIMEOUT_S)
    try:
        connection.connect(terminal)
        if not peer_is_trusted(connection):
            raise PermissionError("another user listens there")
    except OSError as error:
        connection.close()
        sys.stderr.write(
            f"raydap cannot debug this program ({error}): VS Code has closed or reloaded the window of this Ray Debug "
            "Terminal. Open a new one.\n"
        )
        return
    request = {"pid": os.getpid(), "program": sys.argv[0], "cluster": cluster}
    PROGRAM["connection"] = connection
    try:
        connection.sendall(f"{json.dumps(request)}\n".encode())
        wait_for_byte(connection, peer_pid(connection))
    except OSError:
        pass  # VS Code has just ended, or its session does not begin.


def wait_for_byte(connection: Any, pid: int) -> None:
    """Return when the process with this pid has sent a byte, has closed the connection, or is stopped.

    Return after SESSION_TIMEOUT_S in any case. Raise OSError.
    """
    connection.settimeout(STOPPED_INTERVAL_S)
    until = time.monotonic() + SESSION_TIMEOUT_S
    while not is_stopped(pid) and time.monotonic() < until:
        try:
            connection.recv(1)
            return
        except TimeoutError:
            pass
