"""Starts a launched program in a terminal of the editor, for the raydap that has requested the terminal.

raydap lets the editor run this file in a terminal, with the path of a socket. Each message is a line of JSON:

1. the launcher sends the terminal's environment, as `environ`;
2. raydap answers with `args`, `cwd` and `environ` of the program (program_command.py), or closes the connection;
3. the launcher sends the `pid` of the program, or the reason why it `failed` to start;
4. raydap may send `stop`;
5. the launcher sends the program's `exit` code, as subprocess has it.

If raydap ends first, the program keeps running. Ctrl+C reaches the program from the terminal.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

# The interpreter runs with -I, so that no file of the program's folder hides a module of the standard library.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from raydap.inworker.private_sockets import peer_is_trusted

KILL_AFTER_S = 5.0
"""Seconds between SIGTERM and SIGKILL."""


def main(path: str) -> int:
    """Run the program of the raydap that listens at this path. Return the exit code for the terminal's shell."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            if not peer_is_trusted(connection):
                raise PermissionError("another user listens there")
        except OSError as error:
            sys.exit(f"raydap does not wait for this program any more ({error}). Start it again in the editor.")
        with connection.makefile("r") as received:
            _send(connection, environ=dict(os.environ))
            line = received.readline()
            if not line:
                sys.exit("raydap has not started the program; the editor shows the reason.")
            return _run(json.loads(line), connection, received)


def _run(command: dict[str, Any], connection: socket.socket, received: IO[str]) -> int:
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        # The program gets these signals from the terminal, too. Only a handler is replaced by the default in the
        # program, so do not use SIG_IGN.
        signal.signal(number, lambda *_: None)
    try:
        child = subprocess.Popen(command["args"], cwd=command["cwd"], env=command["environ"])
    except (OSError, ValueError) as error:
        _send(connection, failed=getattr(error, "strerror", None) or str(error))
        return 1
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    _send(connection, pid=child.pid)
    threading.Thread(target=_stop_on_request, args=(received, child), daemon=True).start()
    code = child.wait()
    _send(connection, exit=code)
    return code if code >= 0 else 128 - code


def _stop_on_request(received: IO[str], child: subprocess.Popen[bytes]) -> None:
    if received.readline():
        child.terminate()
        try:
            child.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            child.kill()


def _send(connection: socket.socket, **message: object) -> None:
    """Send a message. raydap may have ended."""
    with suppress(OSError):
        connection.sendall(f"{json.dumps(message)}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
