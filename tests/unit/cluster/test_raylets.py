"""Which raylets are found, and what their command lines contain: the folder of a session's sockets, and its GCS."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import raylets
from support.made_up_proc import add_process

SESSION = "session_2026-01-01_00-00-00_000000_1"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Return a /proc with a raylet of another session, a raylet that has ended, and a process that is no raylet."""
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
    assert raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_folder_that_only_the_raylet_knows(tmp_path: Path, proc: Path) -> None:
    sockets = make(tmp_path / "mine")
    add_process(proc, 4, "/x/raylet", "--a", f"--session_dir={tmp_path}/mine/{SESSION}", "--b")
    assert raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == sockets


def test_a_cluster_elsewhere_has_none(tmp_path: Path, proc: Path) -> None:
    make(tmp_path / "fake")
    assert raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc) == ""
    assert raylets.sockets_folder(SESSION, {}, tmp_path / "no-proc") == ""


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
    assert bool(raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(tmp_path)}, proc)) is is_trusted


def test_a_process_that_has_ended_is_not_believed(tmp_path: Path) -> None:
    folder = add_process(tmp_path / "proc", 4, "/x/raylet", f"--session_dir={tmp_path}/mine/{SESSION}")
    make(tmp_path / "mine")
    for name in ("exe", "status"):
        (folder / name).unlink()
        assert raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(tmp_path)}, tmp_path / "proc") == ""


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    words = {
        1: ["/x/raylet", "--node_id=n1", "--session-name=s1", "--gcs-address=10.0.0.1:1"],
        2: ["/x/raylet", "--node_id=n2", "--session-name=s2", "--gcs-address=10.0.0.2:2"],
        3: ["/x/raylet", "--node_id=n3"],
        4: ["python", "--node_id=n4", "--session-name=s4", "--gcs-address=10.0.0.4:4"],
    }
    for pid, command in words.items():
        add_process(tmp_path, pid, *command)
    return tmp_path


def test_the_cluster_is_known_by_one_of_its_nodes(clusters: Path) -> None:
    assert raylets.cluster_of({"n0", "n2"}, clusters) == ("s2", "10.0.0.2:2")


@pytest.mark.parametrize("nodes", [set(), {"n0"}, {"n3"}, {"n4"}])
def test_a_cluster_without_a_node_here_is_not_known(clusters: Path, nodes: set[str]) -> None:
    assert raylets.cluster_of(nodes, clusters) is None


def test_raylets_of_others_are_listed_on_request(tmp_path: Path) -> None:
    add_process(tmp_path, 4, "/x/raylet", "--a=b", uids=4 * [STRANGER])
    add_process(tmp_path, 5, "/x/raylet", uids=4 * [STRANGER], program="/bin/sh")
    assert list(raylets.raylets(tmp_path)) == []
    assert list(raylets.raylets(tmp_path, anyone=True)) == [(4, {"--a": "b"})]


def test_a_system_without_proc_is_asked_by_psutil(tmp_path: Path) -> None:
    """macOS has no /proc. There, too, another program with a raylet's command line must not count."""
    import ray  # noqa: F401  # Makes psutil importable.

    program = shutil.copy("/bin/sh", tmp_path / "raylet")
    with ExitStack() as stack:
        for number, executable in enumerate([program, "/bin/sh"]):
            command = ["raylet", "-c", "echo up; read line", f"--node_id={tmp_path}-{number}"]
            process = stack.enter_context(
                subprocess.Popen(command, executable=executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
        for proc in (raylets.PROC, tmp_path / "no-proc"):
            nodes = {options.get("--node_id") for _, options in raylets.raylets(proc)}
            assert f"{tmp_path}-0" in nodes
            assert f"{tmp_path}-1" not in nodes
