"""Connections to sessions, and the cleanup of sockets that no session listens on."""

import asyncio
import socket
from pathlib import Path

import pytest

from raydap.client import session_connections
from raydap.client.dap_connection import Connect
from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "raydap"


def test_sockets_and_hubs_are_found(folder: Path) -> None:
    assert session_connections.find() == {}
    connection_file.write(ConnectionInfo("127.0.0.1", 4711, False, None, 0))
    (folder / "session-17.sock").touch()
    assert list(session_connections.find()) == [str(folder / "session-17.sock"), "ws://127.0.0.1:4711/dap"]
    # Only commands that stop no worker join a kept session.
    (folder / "kept-18.sock").touch()
    assert str(folder / "kept-18.sock") not in session_connections.find()
    names = [name.rpartition("/")[2] for name in session_connections.find(kept=True)]
    assert names == ["session-17.sock", "kept-18.sock", "dap"]
    assert list(session_connections.find_kept()) == [str(folder / "kept-18.sock")]
    (folder / "kept-18.sock").unlink()


def test_a_socket_without_a_listener_is_removed(folder: Path) -> None:
    """An adapter that was killed leaves its socket."""
    folder.mkdir(mode=0o700)
    path = folder / "session-1.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    (connect,) = session_connections.find().values()
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(connect_once(connect))
    assert not path.exists()


async def connect_once(connect: Connect) -> None:
    await connect(lambda _: None, lambda _: None)
