"""The program that starts in place of a submitted job's program, in a process started as Ray does."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.jobs import prepared_job

PROGRAM = """\
import json, os, sys
agent = sys.modules.get("_raydap_agent.agent")
names = ("RAYDAP_AGENT", "PYTHONPATH", "RAY_JOB_CONFIG_JSON_ENV_VAR")
print(json.dumps({
    "argv": sys.argv,
    "environ": {name: os.environ.get(name) for name in names},
    "name": __name__,
    "unbuffered": sys.flags.dont_write_bytecode,
    "calls": agent and os.path.basename(agent.AGENT.raydap),
    "folder": agent and agent.AGENT.folder,
}))
sys.exit(3)
"""


class Job:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sockets = folder / "ray" / "session_1" / "sockets"
        self.sockets.mkdir(parents=True)
        (folder / "program.py").write_text(PROGRAM)

    def run(self, *program: str, session: str = "session_1", **environ: str) -> tuple[dict[str, Any], str]:
        """Run a program; return the object that it prints, and its standard error."""
        command = shlex.join(prepared_job.command(sys.executable, program))
        config = {
            "runtime_env": {},
            "metadata": {"theirs": "1", **prepared_job.metadata(session, "raydap-call-7", True)},
        }
        environment = {
            **os.environ,
            "RAY_TMPDIR": str(self.folder),
            "RAY_JOB_CONFIG_JSON_ENV_VAR": json.dumps(config),
            **environ,
        }
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env={**environment, **environ}, capture_output=True, text=True
        )
        assert done.returncode == 3, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said, done.stderr


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_it_knows_its_raydap(job: Job) -> None:
    said, errors = job.run("program.py", "a b", "-c")
    assert said["argv"] == ["program.py", "a b", "-c"]
    assert said["name"] == "__main__"
    assert (said["calls"], said["folder"]) == ("raydap-call-7", str(job.sockets))
    assert errors == ""
    # Only the agent's socket is left of raydap in the environment, the job's metadata and on the disk.
    left = said["environ"]
    assert (left["RAYDAP_AGENT"], left["PYTHONPATH"]) == (None, None)
    assert json.loads(left["RAY_JOB_CONFIG_JSON_ENV_VAR"])["metadata"] == {"theirs": "1"}
    assert [path.name for path in job.sockets.parent.iterdir()] == ["sockets"]


def test_a_module_is_prepared_like_a_file(job: Job) -> None:
    said, _ = job.run("-m", "program", "x", PYTHONPATH="/theirs")
    assert said["argv"][1:] == ["x"]
    assert said["calls"] == "raydap-call-7"
    assert said["environ"]["PYTHONPATH"] == "/theirs"


def test_without_a_folder_for_its_socket_it_runs_undebugged(job: Job) -> None:
    said, errors = job.run("program.py", session="session_2")
    assert said["calls"] is None
    (line,) = errors.splitlines()
    assert line.startswith("raydap cannot debug this job: FileNotFoundError")


def test_what_the_user_sees_of_the_command_is_short() -> None:
    command = shlex.join(prepared_job.command("python", ["train.py"]))
    assert len(command) < 200
    assert len(prepared_job.metadata("session_1", "raydap-call-7", True)["raydap"]) < 60_000, "of 128 KiB"
