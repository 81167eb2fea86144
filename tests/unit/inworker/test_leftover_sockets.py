"""The sockets that processes leave behind when they end."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from raydap.inworker.leftover_sockets import CHECKED, remove_ended, remove_if_ended, remove_some
from support.agents import leave_socket

HIGHEST_PID = 2**22
"""The kernel gives no higher pid (proc(5), pid_max)."""


def test_few_remain_however_many_processes_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = count(HIGHEST_PID + 1)
    for _ in range(300):
        leave_socket(tmp_path / f"raydap-{next(pids)}")
    for _ in range(500):
        pid = next(pids)
        leave_socket(tmp_path / f"raydap-{pid}")
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        remove_some(str(tmp_path))
    assert len(list(tmp_path.iterdir())) <= CHECKED


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.setblocking(False)
        yield listener


def test_a_process_that_runs_keeps_its_socket_and_is_not_woken(tmp_path: Path) -> None:
    here, elsewhere = (tmp_path / f"raydap-{pid}" for pid in (os.getpid(), HIGHEST_PID + 1))
    with listening(here) as running, listening(elsewhere) as in_another_container:
        remove_some(str(tmp_path))
        assert (here.exists(), elsewhere.exists()) == (True, True)
        in_another_container.accept()[0].close()
        with pytest.raises(BlockingIOError):
            running.accept()


def test_the_names_of_running_processes_are_left_and_each_other_container_is_woken_once(tmp_path: Path) -> None:
    pids = (os.getpid(), HIGHEST_PID + 1, HIGHEST_PID + 2)
    here, elsewhere, ended = (f"raydap-{pid}" for pid in pids)
    leave_socket(tmp_path / ended)
    others: set[str] = set()
    with listening(tmp_path / here) as running, listening(tmp_path / elsewhere) as in_another_container:
        assert remove_ended(str(tmp_path), [here, elsewhere, ended], others) == [here, elsewhere]
        assert not (tmp_path / ended).exists()
        in_another_container.accept()[0].close()
        assert remove_ended(str(tmp_path), [here, elsewhere], others) == [here, elsewhere]
        for each in (running, in_another_container):
            with pytest.raises(BlockingIOError):
                each.accept()


def test_nothing_but_a_socket_of_this_user_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(leave_socket(tmp_path / "target"))
    (tmp_path / "folder").mkdir()
    for name in ("file", "link", "folder", "missing"):
        remove_if_ended(str(tmp_path / name))
    uid = os.getuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: uid + 1)
        remove_if_ended(str(tmp_path / "target"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "link", "target"]
    remove_if_ended(str(tmp_path / "target"))
    assert not (tmp_path / "target").exists()
    remove_some(str(tmp_path / "missing"))


def test_two_processes_may_remove_the_same_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = leave_socket(tmp_path / "raydap-1")
    unlink = os.unlink

    def late(name: str) -> None:
        unlink(name)
        unlink(name)

    monkeypatch.setattr(os, "unlink", late)
    remove_if_ended(str(path))
    assert not path.exists()
