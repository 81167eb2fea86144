"""`raydap run`: an ordinary program in the foreground, and one that waits for a raydap before its first line."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_cluster import Child

from support.agents import read_line

PROGRAM = """\
import os, sys, threading
print("it is", os.getpid(), sys.argv[1:], sys.stdin.read())
print("threads", threading.active_count(), "debugpy" in sys.modules)
print("left", [name for name in os.environ if "AGENT" in name or "HOOK" in name], os.environ.get("PYTHONPATH"))
sys.exit(7)
"""

Start = Callable[..., Child]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def start(program: Path, tmp_path: Path, children: ExitStack) -> Start:
    """Return a function that starts `raydap run`. The user's folder for sockets is in `tmp_path`."""

    def start(*words: str) -> Child:
        command = [sys.executable, "-m", "raydap", "run", *words]
        environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
        return children.enter_context(Child(command, tmp_path / "log", environment))

    return start


@pytest.fixture
def raydap(tmp_path: Path, children: ExitStack) -> socket.socket:
    """Return a socket on which a raydap would listen for waiting programs."""
    (tmp_path / "raydap").mkdir(mode=0o700)
    listener = children.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    listener.settimeout(30)
    listener.bind(str(tmp_path / "raydap" / "raydap-call-1-1"))
    listener.listen()
    return listener


@pytest.mark.core
@pytest.mark.parametrize("module", [False, True])
def test_the_program_is_an_ordinary_one(program: Path, module: bool) -> None:
    what = ["-m", "program"] if module else [str(program)]
    command = [sys.executable, "-m", "raydap", "run", *what, "-x", "--wait", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(program.parent)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as child:
        output, errors = child.communicate("typed", timeout=30)
    assert child.returncode == 7
    assert output.splitlines() == [
        f"it is {child.pid} ['-x', '--wait', '--help'] typed",
        "threads 1 False",
        f"left [] {program.parent}",
    ]
    assert errors == ""


def test_a_python_that_is_not_there_is_one_sentence(start: Start, program: Path) -> None:
    child = start("--python", "/nowhere/python", str(program))
    assert child.wait() == 1
    assert child.output == "Error: /nowhere/python cannot be run: No such file or directory.\n"


@pytest.mark.core
def test_a_program_waits_until_a_raydap_debugs_it(
    start: Start, program: Path, raydap: socket.socket, children: ExitStack
) -> None:
    """The program keeps waiting if a raydap refuses it, or disconnects before the debugger is set up."""
    child = start("--wait", str(program))
    for answer in (b"", b'{"debug": false}\n', b'{"debug": true, "client": "x"}\n', b""):
        connection = children.enter_context(raydap.accept()[0])
        connection.settimeout(30)
        said = read_line(connection)
        assert (said["waits"], said["worker_type"], said["pid"]) == (True, "DRIVER", child.pid)
        connection.sendall(answer)
        connection.close()
    assert child.output == f"raydap: {program} (pid {child.pid}) waits until a session has attached; Ctrl-C ends it.\n"


@pytest.fixture
def foreground() -> Iterator[None]:
    """Give started processes the SIGINT handling of a foreground process.

    A shell that starts the tests in the background lets them, and their children, ignore SIGINT.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("foreground")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_that_waits_can_be_ended(
    start: Start, program: Path, raydap: socket.socket, children: ExitStack, number: signal.Signals
) -> None:
    child = start("--wait", str(program))
    read_line(children.enter_context(raydap.accept()[0]))
    child.process.send_signal(number)
    assert child.wait() == -number
    assert len(child.output.splitlines()) == 1


def test_a_raydap_that_was_killed_keeps_no_program(
    start: Start, program: Path, raydap: socket.socket, tmp_path: Path, children: ExitStack
) -> None:
    """The stale socket stays: its raydap may be running on another machine that shares the folder."""
    stale = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stale.bind(str(tmp_path / "raydap" / "raydap-call-0-1"))
    stale.close()
    start("--wait", str(program))
    read_line(children.enter_context(raydap.accept()[0]))
    assert (tmp_path / "raydap" / "raydap-call-0-1").exists()
