"""How a driver asks the extension for a session (inworker/terminal_session.py), without VS Code."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap.inworker import terminal_session
from support import processes


@pytest.fixture
def extension(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket on which the extension listens."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "extension"))
        listener.listen()
        listener.settimeout(10)
        yield listener
    for connection in terminal_session.PROGRAM.values():
        connection.close()
    terminal_session.PROGRAM.clear()


def ask(extension: socket.socket, cluster: str = "http://127.0.0.1:8265") -> threading.Thread:
    asking = threading.Thread(target=terminal_session.open_session, args=(extension.getsockname(), cluster))
    asking.start()
    return asking


def test_a_driver_waits_for_its_session_and_keeps_the_connection(extension: socket.socket) -> None:
    asking = ask(extension)
    first, _ = extension.accept()
    with first:
        assert json.loads(first.recv(1000))["cluster"] == "http://127.0.0.1:8265"
        assert asking.is_alive()
        first.send(b"\n")
        asking.join(10)
        assert not asking.is_alive()
        first.setblocking(False)
        with pytest.raises(BlockingIOError):
            first.recv(1)


def test_a_driver_that_joins_another_cluster_leaves_its_session(extension: socket.socket) -> None:
    with session_at(extension) as first:
        ask(extension, cluster="").join(10)
        assert first.recv(1) == b""


def session_at(extension: socket.socket) -> socket.socket:
    asking = ask(extension)
    connection, _ = extension.accept()
    connection.settimeout(10)
    connection.recv(1000)
    connection.send(b"\n")
    asking.join(10)
    return connection


LISTENER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print("listening", flush=True)
    connection, _ = listener.accept()
    connection.recv(1000)
    print("asked", flush=True)
    connection.recv(1)
"""


def test_a_driver_does_not_wait_for_a_window_that_is_stopped(tmp_path: Path) -> None:
    path = str(tmp_path / "extension")
    command = [sys.executable, "-c", LISTENER, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as window:
        try:
            assert window.stdout is not None
            assert window.stdout.readline() == "listening\n"
            arguments = (path, "http://127.0.0.1:8265")
            asking = threading.Thread(target=terminal_session.open_session, args=arguments, daemon=True)
            asking.start()
            assert window.stdout.readline() == "asked\n"
            processes.freeze(window.pid)
            asking.join(10)
            assert not asking.is_alive()
        finally:
            window.kill()


def test_nothing_is_sent_to_another_user(
    extension: socket.socket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal_session, "peer_is_trusted", lambda _: False)
    ask(extension).join(10)
    with extension.accept()[0] as connection:
        assert connection.recv(1000) == b""
    assert "another user listens there" in capsys.readouterr().err
