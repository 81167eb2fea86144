"""The process in the editor's terminal that starts a launched program."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap.inworker import private_sockets
from raydap.runtime import terminal_launcher


@pytest.fixture
def listening(tmp_path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "terminal"))
    listening.listen()
    return listening


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Restore the handlers that the launcher replaces: it runs in the process of the tests."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_nothing_is_started_for_another_user(
    listening: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_sockets, "_peer", lambda _: (4711, os.getuid() + 1))
    with listening, pytest.raises(SystemExit, match="another user listens there"):
        terminal_launcher.main(str(tmp_path / "terminal"))


def test_an_interpreter_that_cannot_run_is_reported(listening: socket.socket, tmp_path: Path) -> None:
    received = []

    def raydap() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rw") as stream:
            received.append(json.loads(stream.readline()))
            stream.write(json.dumps({"args": [str(tmp_path / "nothing")], "cwd": None, "environ": {}}) + "\n")
            stream.flush()
            received.append(json.loads(stream.readline()))

    thread = threading.Thread(target=raydap)
    thread.start()
    with listening:
        assert terminal_launcher.main(str(tmp_path / "terminal")) == 1
        thread.join()
    assert received == [{"environ": dict(os.environ)}, {"failed": "No such file or directory"}]


def test_files_of_the_program_do_not_replace_modules_of_the_launcher(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a file of the program')\n")
    command = [sys.executable, "-I", terminal_launcher.__file__, str(tmp_path / "missing")]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("raydap does not wait for this program any more")
