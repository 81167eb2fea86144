"""No code of another user of the machine runs with the rights of the user whose program has agents."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from raydap.cluster.jobs import prepared_job
from raydap.cluster.ray_process import ray_driver
from raydap.cluster.survey import node_survey
from raydap.inworker import raylets
from raydap.inworker.bundle import packed_start_files
from raydap.inworker.start_files import unpack_once
from support.agents import raydap_that_debugs_nothing

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

SESSION = "session_2026-01-01_00-00-00_000000_1"

# The other user tries to replace each of these folders, and each folder above them, with a folder of their own.
RENAME = """
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for path in sys.argv[1:]:
    while path != "/":
        try:
            os.rename(path, path + ".away")
            os.mkdir(path)
            print("renamed", path)
        except OSError:
            pass
        path = os.path.dirname(path)
"""

LINK = """
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.symlink(sys.argv[1], sys.argv[2])
"""

JOB = """
import subprocess, sys
print(sys.modules["_raydap_agent.agent_children"].AT_START, flush=True)
sys.stdin.readline()
child = "import sys; print('_raydap_agent' in sys.modules)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True))
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """Yield a folder in which all users can rename everything, as in the folder of a Ray session."""
    with tempfile.TemporaryDirectory(prefix="raydap-", dir="/tmp") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def renamed(*paths: str) -> str:
    command = [sys.executable, "-c", RENAME, *paths]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_folder_that_all_can_write_to_is_what_the_test_takes_it_for(shared: Path) -> None:
    mine = shared / "mine"
    mine.mkdir(mode=0o700)
    assert renamed(str(mine)) == f"renamed {mine}\n"


@pytest.fixture
def raydap(shared: Path) -> Iterator[str]:
    """Yield the path of a raydap that debugs nothing, in a session's folder of sockets to which all users can write."""
    sockets = shared / "ray" / SESSION / "sockets"
    sockets.mkdir(parents=True)
    for folder in (sockets, sockets.parent, sockets.parent.parent):
        folder.chmod(0o777)
    with raydap_that_debugs_nothing(str(sockets / "raydap-call-1-1")):
        yield str(sockets / "raydap-call-1-1")


def test_they_cannot_rename_what_a_submitted_job_imports(shared: Path, raydap: str) -> None:
    (shared / "program.py").write_text(JOB)
    config = {"runtime_env": {}, "metadata": prepared_job.metadata(SESSION, os.path.basename(raydap), True)}
    env = {"RAY_TMPDIR": str(shared), "TMPDIR": str(shared), "RAY_JOB_CONFIG_JSON_ENV_VAR": json.dumps(config)}
    command = prepared_job.command(sys.executable, [str(shared / "program.py")])
    with subprocess.Popen(
        command, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as job:
        assert job.stdout is not None
        at_start = job.stdout.readline().strip()
        assert Path(at_start, "sitecustomize.py").exists()
        assert renamed(at_start) == ""
        output, _ = job.communicate("\n", timeout=60)
    assert "stdout='True\\n'" in output
    assert not os.path.exists(os.path.dirname(at_start))


def test_a_link_of_theirs_is_not_followed(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the folder is the same for each process of a user, so another user can create it first."""
    shared.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    packed = packed_start_files(str(resources.files("raydap.inworker")))
    folder = Path(unpack_once(packed)).parent
    shutil.rmtree(folder)
    ours = shared / "ours"
    ours.mkdir(mode=0o700)
    subprocess.run([sys.executable, "-c", LINK, str(ours), str(folder)], check=True)
    with pytest.raises(PermissionError, match="is not a folder that only this user can enter"):
        unpack_once(packed)


RAYLET = """
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
options = sys.argv[1:]
os.execv("/bin/sh", ["raylet", "-c", "echo up; read line", *options])
"""


def test_a_process_of_theirs_with_the_command_line_of_a_raylet_is_none(shared: Path) -> None:
    """Otherwise raydap would join the other user's cluster, send Ray's token there, and unpickle the answers."""
    folder = shared / SESSION
    (folder / "sockets").mkdir(parents=True)
    options = [f"--session-name={SESSION}", f"--session_dir={folder}", "--node_id=n1", "--gcs-address=127.0.0.1:1"]
    options += ["--node_ip_address=127.0.0.1"]
    command = [sys.executable, "-c", RAYLET, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(b"raylet\0")
        assert raylets.sockets_folder(SESSION, {"RAY_TMPDIR": str(shared)}) == ""
        assert raylets.cluster_of({"n1"}) is None
        with pytest.raises(RuntimeError, match="runs on raydap's machine as this user or as root"):
            ray_driver.join(SESSION, "raydap")
        process.communicate(b"\n")


VIRTUAL_ENV = """
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.environ["VIRTUAL_ENV"] = sys.argv[1]
os.execv("/bin/sh", ["sh", "-c", "echo up; read line"])
"""


@pytest.mark.parametrize("is_theirs", [False, True])
def test_no_program_that_a_process_of_theirs_names_is_run(shared: Path, is_theirs: bool) -> None:
    python = shared / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\necho > {shared}/ran\n")
    python.chmod(0o755)
    command = [sys.executable, "-c", VIRTUAL_ENV if is_theirs else VIRTUAL_ENV.replace("65534", "0"), str(shared)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        asked = {"session": SESSION, "host": "127.0.0.1", "files": []}
        report = node_survey.report({**asked, "processes": [{"key": "w", "pid": process.pid, "port": 0}]})
        process.communicate(b"\n")
    assert report["processes"]["w"]["python"] == ("" if is_theirs else str(python))
    assert (shared / "ran").exists() is not is_theirs
