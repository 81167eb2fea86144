"""Bridges and hubs that are forked from a process that has imported raydap: a start costs a tenth of the time.

Each is a process of its own, in a session of its own, as `Child` starts it. Only the start of Python is left out, and
the command line is that of the server. Tests that are about these start `python -m raydap` themselves.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from local_cluster import Child, clean_environment

REQUEST_BYTES = 1 << 18
"""More than an environment has."""

MODULES = ("cli.main", "cli.adapter", "cli.serve", "cli.signals", "hub.server", "runtime.engine", "transport.tcp")
"""What `raydap adapter` and `raydap serve` import when they start."""


class ForkServer:
    """The process that has imported raydap. It starts with the first that it forks, and ends by `end` or with us."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket

    def start(self, arguments: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> Child:
        """Start the command `raydap` with these arguments. The caller ends it."""
        if self._process is None:
            self._process = self._launch()
        return _ForkedChild(self._requests, arguments, log, clean_environment(env or {}))

    def _launch(self) -> subprocess.Popen[bytes]:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
        tests = Path(__file__).parents[1]
        environment = clean_environment({"PYTHONPATH": f"{tests}:{tests.parent / 'docs' / 'examples'}"})
        command = [sys.executable, "-m", "support.fork_server", str(theirs.fileno())]
        with theirs:
            return subprocess.Popen(
                command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )

    def end(self) -> None:
        if self._process is not None:
            self._requests.close()
            self._process.wait()
            self._process = None


SERVER = ForkServer()


class Forked:
    """A process that is not our child, with the methods of subprocess.Popen that tests need."""

    def __init__(self, args: Sequence[str], ends: socket.socket) -> None:
        self.args = args
        self.returncode: int | None = None
        self._ends = ends
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
        number = self._ends.recv(64)
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
    def __init__(self, server: socket.socket, arguments: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, log.open("wb") as output:
            request = json.dumps([list(arguments), environment, os.getcwd()]).encode()
            socket.send_fds(server, [request], [output.fileno(), theirs.fileno()])
        # It has the methods of Popen that Child and tests call.
        self.process = Forked(["raydap", *arguments], ours)  # type: ignore[assignment]


def serve(requests: socket.socket) -> None:
    """Fork for each request until the other side closes its end."""
    for module in MODULES:
        import_module(f"raydap.{module}")
    # The collector would copy the pages of all modules into each process.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 2)
        if not request:
            return
        output, ends = descriptors
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            arguments, environment, folder = json.loads(request)
            _run_and_report(arguments, environment, folder, output, socket.socket(fileno=ends))
        os.close(output)
        os.close(ends)


def _run_and_report(
    arguments: list[str], environment: dict[str, str], folder: str, output: int, ends: socket.socket
) -> None:
    """Run raydap in a process of its own, and send its pid and then its exit code to `ends`."""
    if pid := os.fork():
        os.close(output)
        ends.send(str(pid).encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        ends.send(str(code).encode())
        os._exit(0)
    ends.close()
    os.setsid()
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["raydap", *arguments]
    # Imported by name, so that the import graph does not connect every test with raydap.
    import_module("raydap.cli.main").main()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
