"""Where the sockets of a Ray session are, if one of its nodes runs here."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from raydap.cluster.machine import session_sockets
from support.made_up_proc import add_process

SESSION = "session_2026-01-01_00-00-00_000000_1"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Processes as in /proc: a raylet of another session, one that has ended, and what is no raylet."""
    proc = tmp_path / "proc"
    add_process(proc, 1, "/x/raylet", f"--session_dir={tmp_path}/other/session_2025")
    add_process(proc, 2, "python", f"--session_dir={tmp_path}/fake/{SESSION}")
    (proc / "3").mkdir()
    (proc / "3" / "cmdline").symlink_to(tmp_path / "nothing")
    return proc


def make(folder: Path) -> str:
    (folder / SESSION / "sockets").mkdir(parents=True)
    return str(folder / SESSION / "sockets")


def test_rays_default_folder(tmp_path: Path, proc: Path) -> None:
    sockets = make(tmp_path / "ray")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_folder_that_only_the_raylet_knows(tmp_path: Path, proc: Path) -> None:
    sockets = make(tmp_path / "mine")
    add_process(proc, 4, "/x/raylet", "--a", f"--session_dir={tmp_path}/mine/{SESSION}", "--b")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_cluster_elsewhere_has_none(tmp_path: Path, proc: Path) -> None:
    make(tmp_path / "fake")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == ""
    assert session_sockets.find(SESSION, {}, tmp_path / "no-proc") == ""


STRANGER = os.getuid() + 1


@pytest.mark.parametrize(
    ("uids", "program", "is_trusted"),
    [
        (4 * [os.getuid()], "/x/raylet", True),
        (4 * [os.getuid()], "/x/raylet (deleted)", True),
        (4 * [0], "/x/raylet", True),
        (4 * [STRANGER], "/x/raylet", False),
        ([STRANGER, 0, 0, 0], "/x/raylet", False),
        ([0, 0, STRANGER, 0], "/x/raylet", False),
        (4 * [os.getuid()], "/usr/bin/python3", False),
    ],
    ids=["own", "replaced by another version", "root's", "stranger's", "setuid", "can become a stranger", "not Ray's"],
)
def test_only_raylets_of_this_user_and_of_root_are_believed(
    tmp_path: Path, uids: Sequence[int], program: str, is_trusted: bool
) -> None:
    proc = tmp_path / "proc"
    make(tmp_path / "mine")
    add_process(proc, 4, "/x/raylet", f"--session_dir={tmp_path}/mine/{SESSION}", uids=uids, program=program)
    assert bool(session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc)) is is_trusted


def test_a_process_that_has_ended_is_not_believed(tmp_path: Path) -> None:
    folder = add_process(tmp_path / "proc", 4, "/x/raylet", f"--session_dir={tmp_path}/mine/{SESSION}")
    make(tmp_path / "mine")
    for name in ("exe", "status"):
        (folder / name).unlink()
        assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, tmp_path / "proc") == ""
