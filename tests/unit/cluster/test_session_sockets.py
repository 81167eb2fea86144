"""Where the sockets of a Ray session are, if one of its nodes runs here."""

from pathlib import Path

import pytest

from raydap.cluster import session_sockets

SESSION = "session_2026-01-01_00-00-00_000000_1"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Processes as in /proc: a raylet of another session, one that has ended, and what is no raylet."""
    proc = tmp_path / "proc"
    add(proc, 1, "/x/raylet", f"--session_dir={tmp_path}/other/session_2025")
    add(proc, 2, "python", f"--session_dir={tmp_path}/fake/{SESSION}")
    (proc / "3").mkdir()
    (proc / "3" / "cmdline").symlink_to(tmp_path / "nothing")
    return proc


def add(proc: Path, pid: int, *words: str) -> None:
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cmdline").write_bytes("\0".join(words).encode())


def make(folder: Path) -> str:
    (folder / SESSION / "sockets").mkdir(parents=True)
    return str(folder / SESSION / "sockets")


def test_rays_default_folder(tmp_path: Path, proc: Path) -> None:
    sockets = make(tmp_path / "ray")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_folder_that_only_the_raylet_knows(tmp_path: Path, proc: Path) -> None:
    sockets = make(tmp_path / "mine")
    add(proc, 4, "/x/raylet", "--a", f"--session_dir={tmp_path}/mine/{SESSION}", "--b")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_cluster_elsewhere_has_none(tmp_path: Path, proc: Path) -> None:
    make(tmp_path / "fake")
    assert session_sockets.find(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == ""
    assert session_sockets.find(SESSION, {}, tmp_path / "no-proc") == ""
