"""A program with an agent, and connections to it: real debugpy, without a bridge in between."""

import json
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Child

from raydap.inworker import calls
from raydap.inworker.bundle import find_modules
from support.entered import EnteredWorker

# Starts the agent as driver_setup.py and sitecustomize.py do.
_RUN = """
import os, runpy, sys
folder, raydap, sources, program, *names = sys.argv[1:]
loader = {}
exec(open(os.path.join(sources, "loader.py")).read(), loader)
own = loader["install"]("_raydap_agent", [(name, open(os.path.join(sources, name + ".py")).read()) for name in names])
own.agent_children.AT_START = os.path.join(sources, "at_start")
own.agent.start(folder, {"worker_id": "w1"}, raydap)
runpy.run_path(program, run_name="__main__")
"""


# Runs the program as _RUN does, without an agent.
_RUN_PLAIN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


HELLO: dict[str, Any] = {
    "raydap": 1,
    "pid": 42,
    "socket": "/sockets/raydap-42",
    "worker_id": "w1",
    "node_id": "n1",
    "node_ip": "10.0.0.1",
    "holder": "",
    "port": 0,
}
"""The first line of an agent in a worker."""


def hello_line(**changes: Any) -> bytes:
    return json.dumps({**HELLO, **changes}).encode() + b"\n"


def run_plain(source: str, folder: Path, children: ExitStack) -> str:
    """Return the output of a program without raydap."""
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(source)
    command = [sys.executable, "-c", _RUN_PLAIN, str(path)]
    child = children.enter_context(Child(command, folder / "plain.log"))
    assert child.wait() == 0, child.output
    return child.output


def leave_socket(path: Path) -> Path:
    """Leave a socket file behind, as an agent's process does when it ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
    return path


@dataclass
class PreparedProgram:
    """A program whose agent has connected to raydap's socket, or is about to. The caller ends `child`."""

    child: Child
    path: Path
    folder: Path
    listener: socket.socket
    children: ExitStack

    @classmethod
    def start(cls, source: str, folder: Path, packages: Path | None, children: ExitStack) -> "PreparedProgram":
        path = folder / "program.py"
        path.write_text(source)
        listener = children.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.settimeout(30)
        listener.bind(str(folder / "raydap"))
        listener.listen()
        sources = str(resources.files("raydap.inworker"))
        found = find_modules(sources)
        names = [*found.idle, *found.rest]
        command = [sys.executable, "-c", _RUN, str(folder), str(folder / "raydap"), sources, str(path), *names]
        environment = {} if packages is None else {"PYTHONPATH": str(packages)}
        child = children.enter_context(Child(command, path.with_suffix(".log"), environment))
        return cls(child, path, folder, listener, children)

    def called(self) -> socket.socket:
        """Return the connection that the agent opens when the program begins."""
        connection = self.children.enter_context(self.listener.accept()[0])
        connection.settimeout(30)
        return connection

    def dial(self, pid: int = 0) -> socket.socket:
        """Connect to the agent of the program, or to the agent of its child process `pid`."""
        connection = self.children.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connection.settimeout(30)
        connection.connect(str(self.folder / f"raydap-{pid or self.child.process.pid}"))
        return connection

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.child.process.pid}/task").iterdir()))


@contextmanager
def raydap_that_debugs_nothing(path: str) -> Iterator[None]:
    """Listen at this path and close every connection."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        with hanging_up(listener):
            yield


@contextmanager
def hanging_up(listener: socket.socket) -> Iterator[None]:
    """Close every connection to a socket that is already listening."""

    def hang_up() -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()

    listener.settimeout(None)
    thread = threading.Thread(target=hang_up)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def read_line(connection: socket.socket) -> dict[str, Any]:
    """Read the agent's line byte by byte: the bytes after it belong to the debugger."""
    line = b""
    while not line.endswith(b"\n"):
        data = connection.recv(1)
        assert data, "it hung up without a line"
        line += data
    answer: dict[str, Any] = json.loads(line)
    return answer


def attach(
    program: PreparedProgram, connection: socket.socket, children: ExitStack, *lines: int, **arguments: Any
) -> EnteredWorker:
    """Read the agent's first line and attach as the bridge does, with breakpoints at these lines of the program."""
    read_line(connection)
    return attach_greeted(program, connection, children, *lines, **arguments)


def attach_greeted(
    program: PreparedProgram, connection: socket.socket, children: ExitStack, *lines: int, **arguments: Any
) -> EnteredWorker:
    """Attach as `attach` does, after the agent's first line has been read."""
    return attach_to(connection, children, program.path, *lines, **arguments)


def attach_to(
    connection: socket.socket,
    children: ExitStack,
    path: Path,
    *lines: int,
    filters: Iterable[str] = ("uncaught",),
    **arguments: Any,
) -> EnteredWorker:
    """Attach to the process behind `connection`, with breakpoints in the file at `path` and these exception filters."""
    connection.settimeout(None)
    connection.sendall(b'{"debug": true, "client": "the test"}\n')
    assert read_line(connection) == {"error": ""}

    def hang_up() -> None:
        with suppress(OSError):  # The program or the test has already closed it.
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    client = Client(connection.makefile("rb"), connection.makefile("wb"), hang_up)
    children.callback(client.close)
    worker = EnteredWorker(client, path)
    client.request("initialize", adapterID="raydap", clientID="raydap", pathFormat="path")
    attached = client.send("attach", **{"justMyCode": False, "steppingResumesAllThreads": False, **arguments})
    client.wait_event("initialized", unless=attached)
    assert worker.call(calls.enter(True)) == ""
    wanted = [{"line": line} for line in lines]
    client.request("setBreakpoints", source={"path": str(path)}, breakpoints=wanted)
    client.request("setExceptionBreakpoints", filters=list(filters))
    client.request("configurationDone")
    client.result(attached, "attach")
    return worker


def ask(program: PreparedProgram, question: dict[str, Any]) -> dict[str, Any]:
    """Return the agent's answer to a question that needs no debugger."""
    with program.dial() as connection:
        read_line(connection)
        connection.sendall(json.dumps(question).encode() + b"\n")
        with connection.makefile("rb") as file:
            answer: dict[str, Any] = json.loads(file.read())
            return answer
