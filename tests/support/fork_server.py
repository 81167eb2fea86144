"""Processes that are forked from one that has their imports: bridges, hubs, commands and programs start faster.

Each is a separate process in its own session, as `Child` starts it. It differs only in that Python does not start, and
in the command line, which is the server's. Tests that depend on these start Python themselves.
"""

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local_cluster import Child, clean_environment

from support import fork_loop

_ARGUMENTS = "next_arguments(socket.socket(fileno=int(sys.argv[1])))"

# These are the modules that the commands import when they start, and that they need for a cluster.
_RAYDAP = f"""
import sys
import raydap.cli.adapter, raydap.cli.main, raydap.cli.serve, raydap.cli.signals, raydap.hub.server
import raydap.runtime.engine, raydap.transport.tcp
import aiohttp, prompt_toolkit, rich.table, rich.tree
import raydap.cli.debug, raydap.cli.doctor, raydap.cli.folded, raydap.cli.hang, raydap.cli.ps, raydap.cli.status
sys.argv = ["raydap", *{_ARGUMENTS}]
raydap.cli.main.main()
"""

# The program runs from its own file, so that its line numbers are those of its source.
_PROGRAM = f"""
import debugpy, debugpy.server.api, runpy, sys
sys.argv = ["-c", *{_ARGUMENTS}]
print("listening on %s:%d" % debugpy.listen(("127.0.0.1", 0)))
debugpy.wait_for_client()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


class ForkServer:
    """A process that runs a script up to its imports, and then forks.

    It starts with the first process that it forks. It ends with `end`, or with the process of the tests. `env` is added
    to its environment and to that of each forked process.

    The script calls `next_arguments` at module level, so that the stack of a program has no frame of the server.
    """

    def __init__(self, script: str, options: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        self._environment = env or {}
        self._command = [sys.executable, *options, "-c", Path(fork_loop.__file__).read_text(encoding="utf-8") + script]
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket

    def start(self, arguments: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> Child:
        """Start a process with these arguments. The caller ends it."""
        environment = clean_environment({**self._environment, **(env or {})})
        return _ForkedChild(self, arguments, log, environment)

    def fork(
        self, arguments: Sequence[str], streams: tuple[int, int, int], environment: dict[str, str], folder: Path | None
    ) -> "Forked":
        """Start a process whose standard input, output and error are these descriptors. The caller ends it.

        If standard input is a terminal, the process is in its foreground.
        """
        if self._process is None:
            self._process = self._launch()
            _started.append(self)
        ours, theirs = os.pipe()
        with os.fdopen(theirs, "wb"):
            request = json.dumps([list(arguments), environment, str(folder or Path.cwd())]).encode()
            socket.send_fds(self._requests, [request], [*streams, theirs])
        return Forked(arguments, ours)

    def _launch(self) -> subprocess.Popen[bytes]:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, fork_loop.REQUEST_BYTES)
        with theirs:
            return subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                env=clean_environment(self._environment),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def end(self) -> None:
        if self._process is not None:
            self._requests.close()
            self._process.wait()
            self._process = None


RAYDAP = ForkServer(_RAYDAP)
"""For the command `raydap`."""


@functools.cache
def programs(packages: Path | None = None) -> ForkServer:
    """Return the server for files that run in debugpy and wait for a client before their first line.

    `packages` is a folder with another debugpy than the one of this environment.
    """
    return ForkServer(_PROGRAM, ("-X", "frozen_modules=off"), {"PYTHONPATH": str(packages)} if packages else None)


_started: list[ForkServer] = []


def end_all() -> None:
    """End the servers, but not the processes that they have forked."""
    while _started:
        _started.pop().end()


class Forked:
    """A process that is not a child of this one, with the methods of subprocess.Popen that tests need.

    `ends` is a pipe with its pid and its exit code. It is a pipe because a socket that is passed to another process may
    lose the data in its queue: Linux 6.18 was seen to drop a pid.
    """

    def __init__(self, args: Sequence[str], ends: int) -> None:
        self.args = args
        self.returncode: int | None = None
        self._ends = os.fdopen(ends, "rb", buffering=0)
        self.pid = self._receive()

    def poll(self) -> int | None:
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._wait(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(list(self.args), timeout)
        return code

    def _wait(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ends], [], [], timeout)[0]:
            self.returncode = self._receive()
            self._ends.close()
        return self.returncode

    def _receive(self) -> int:
        assert select.select([self._ends], [], [], 60)[0], "the fork server does not answer"
        number = self._ends.readline()
        assert number, "the fork server, or its process that waits for this one, has ended; see what it has printed"
        return int(number)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _ForkedChild(Child):
    def __init__(self, server: ForkServer, arguments: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        with log.open("wb") as output, open(os.devnull, "rb") as nothing:
            streams = nothing.fileno(), output.fileno(), output.fileno()
            # Forked has the methods of Popen that Child and tests call.
            self.process = server.fork(arguments, streams, environment, None)  # type: ignore[assignment]
