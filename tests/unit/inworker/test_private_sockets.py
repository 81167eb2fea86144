"""Sockets that only this user can use."""

import os
import socket
import stat
from pathlib import Path

import pytest

from raydap.inworker.private_sockets import listen_privately, peer_is_trusted, peer_pid
from support.agents import leave_socket


def test_it_takes_the_place_of_a_leftover_socket(tmp_path: Path) -> None:
    path = leave_socket(tmp_path / "raydap-7")
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        listen_privately(listening, str(path), 1)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        client.connect(str(path))
        with listening.accept()[0] as accepted:
            assert peer_is_trusted(accepted)
            assert peer_pid(accepted) == os.getpid()
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_where_it_cannot_listen(tmp_path: Path) -> None:
    (tmp_path / "raydap-7").mkdir()
    with socket.socket(socket.AF_UNIX) as listening, pytest.raises(IsADirectoryError):
        listen_privately(listening, str(tmp_path / "raydap-7"), 1)
    assert [path.name for path in tmp_path.iterdir()] == ["raydap-7"]


def test_no_path_that_fits_is_too_long(tmp_path: Path) -> None:
    """The temporary name is no longer than the shortest name of an agent."""
    folder = tmp_path / ("x" * (107 - len(os.fsencode(tmp_path)) - len("//raydap-7")))
    folder.mkdir()
    path = folder / "raydap-7"
    assert len(os.fsencode(path)) == 107
    with socket.socket(socket.AF_UNIX) as listening:
        listen_privately(listening, str(path), 1)
        assert path.is_socket()
