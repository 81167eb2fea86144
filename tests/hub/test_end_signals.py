"""SIGTERM and SIGHUP end a command and the program that it has started, and a hub removes its connection file."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.bridge import Hub

pytestmark = pytest.mark.slow

WAIT = 60.0

SIGNALS = [signal.SIGTERM, signal.SIGHUP]

PROGRAM = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(b"x")
connection.recv(1)
"""


class Running:
    """A command that has launched PROGRAM. `program` is the test's end of a connection to that program."""

    def __init__(self, process: "subprocess.Popen[bytes]", program: socket.socket) -> None:
        self.process = process
        self.program = program

    def program_has_ended(self) -> bool:
        try:
            return self.program.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture
def start(children: ExitStack, tmp_path: Path) -> Callable[..., Running]:
    """Return `start(*command)`, which starts `raydap COMMAND PROGRAM PORT` and waits until the program is running."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*command: str) -> Running:
        listener = children.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(WAIT)
        log = children.enter_context((tmp_path / "command.log").open("wb"))
        process = subprocess.Popen(
            [sys.executable, "-m", "raydap", *command, "program.py", str(listener.getsockname()[1])],
            stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
        children.enter_context(process)
        children.callback(process.kill)
        assert process.stdin is not None
        # `raydap debug` stops at the first line.
        process.stdin.write(b"c\n")
        process.stdin.flush()
        program, _ = listener.accept()
        children.enter_context(program).settimeout(WAIT)
        assert program.recv(1) == b"x"
        return Running(process, program)

    return run


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_debug_ends_its_program(start: Callable[..., Running], number: signal.Signals) -> None:
    running = start("debug", "--dashboard", "http://127.0.0.1:1")
    running.process.send_signal(number)
    assert running.program_has_ended()
    assert running.process.wait(WAIT) == 128 + number


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_report_writes_its_page_and_ends_its_program(
    start: Callable[..., Running], number: signal.Signals, tmp_path: Path
) -> None:
    running = start("report", "--dashboard", "http://127.0.0.1:1", "--out", "page.html")
    running.process.send_signal(number)
    assert running.program_has_ended()
    assert running.process.wait(WAIT) == 128 + number
    assert number.name in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_hub_takes_its_connection_file_along(children: ExitStack, tmp_path: Path, number: signal.Signals) -> None:
    hub = Hub.start(tmp_path / "hub.log")
    children.callback(hub.child.end)
    assert hub.connection.exists()
    os.kill(hub.child.pid, number)
    assert hub.child.process.wait(WAIT) == 0
    assert not hub.connection.exists()
