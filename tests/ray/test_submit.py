"""`launch` with `submit`: the editor's breakpoints stop the job's driver and its workers."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.launched import ended, line_of
from support.look import bodies, go_on, problems, user_frames

PROGRAM = """\
import os
import subprocess
import sys

first = 1  # in the first line

import ray
import helper

def set_up():
    os.environ["SET_UP"] = "by the program"

@ray.remote(num_cpus=0.1)
class Actor:
    def __init__(self):
        self.value = helper.double(2)  # in __init__

    def get(self):
        return self.value, os.environ["SET_UP"], os.environ["OF_THE_JOB"]  # in a method

if __name__ == "__main__":
    ray.init(runtime_env={"worker_process_setup_hook": set_up, "env_vars": {"MORE": "1"}})
    actor = Actor.remote()
    values = [ray.get(actor.get.remote()), sys.argv, sorted(ray.get_runtime_context().runtime_env)]
    print("result: " + " ".join(map(str, values)))
    print("files:", getattr(sys.modules.get("_raydap_agent.agent_children"), "AT_START", ""))
    print("left:", "RAYDAP_AGENT" in os.environ, "at_start" in os.environ.get("PYTHONPATH", ""))
    subprocess.run([sys.executable, "child.py"], check=True)
    sys.exit(int(sys.argv[1]))
"""

HELPER = """\
def double(number):
    return number * 2  # in a module
"""

CHILD = """\
value = 3
print("child", value)  # in a child
"""

RESULT = "result: (4, 'by the program', 'yes') ['driver.py', '0']"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, source in (("driver.py", PROGRAM), ("helper.py", HELPER), ("child.py", CHILD)):
        (folder / name).write_text(source)
    return folder


@pytest.fixture
def submit(client: Client, cluster: Cluster, project: Path) -> Callable[..., Client]:
    """Return `submit(*texts)`, which submits the program with breakpoints at the lines with these texts."""

    def start(*texts: str, **more: object) -> Client:
        breakpoints = {}
        for path in project.iterdir():
            source = path.read_text()
            breakpoints[str(path)] = [line_of(source, text) for text in texts if text in source]
        arguments = {
            "dashboard": cluster.dashboard,
            "submit": True,
            "program": "driver.py",
            "python": sys.executable,
            "args": ["0"],
            "cwd": str(project),
            "env": {"OF_THE_JOB": "yes"},
            **more,
        }
        client.timeout = 60
        client.start_session("launch", arguments, breakpoints=breakpoints, filters=["uncaught"])
        return client

    return start


def place(client: Client, stop: dict[str, object]) -> str:
    frame = user_frames(client, stop)[0]
    line: str = Path(frame["source"]["path"]).read_text().splitlines()[frame["line"] - 1]
    return line.partition("# ")[2]


@pytest.mark.core
def test_the_driver_and_its_workers_stop(cluster: Cluster, submit: Callable[..., Client], project: Path) -> None:
    places = ["in the first line", "in __init__", "in a module", "in a method", "in a child"]
    client = submit(*(f"# {text}" for text in places))
    for expected in places:
        stop = client.wait_event("stopped")
        assert place(client, stop) == expected
        assert user_frames(client, stop)[0]["source"]["path"].startswith(str(project))
        go_on(client, stop)
    output = ended(client)
    assert RESULT in output
    assert "left: False False" in output
    told = re.findall("Running entrypoint for job .*: (.*)", output)  # Ray 2.39 does not print this line.
    assert set(told) <= {f"{sys.executable} -u driver.py 0"}, "the user has not asked to see more"
    (folder,) = re.findall("files: (.*)", output)
    assert not Path(folder).exists()
    assert problems(client) == []


def test_the_program_runs_as_it_is_if_the_user_wants_that(submit: Callable[..., Client]) -> None:
    client = submit("# in __init__", reach="paused")
    assert RESULT in ended(client)
    assert bodies(client, "stopped") == []


HOOKED = """\
import os
import ray

@ray.remote(num_cpus=0.1)
def look():
    return os.environ["SET_UP"]

ray.init()
print("result: " + str(ray.get(look.remote())))
"""

HOOKS = """\
import os

def set_up():
    os.environ["SET_UP"] = "by the job"
"""

SUBMIT = """\
import sys
import time
from ray.job_submission import JobStatus, JobSubmissionClient

url, folder = sys.argv[1:]
client = JobSubmissionClient(url)
entrypoint = f"{sys.executable} -m raydap run hooked.py"
runtime_env = {"working_dir": folder, "worker_process_setup_hook": "hooks.set_up"}
job = client.submit_job(entrypoint=entrypoint, runtime_env=runtime_env)
while not client.get_job_status(job).is_terminal():
    time.sleep(0.2)
print(client.get_job_logs(job))
sys.exit(client.get_job_status(job) != JobStatus.SUCCEEDED)
"""


def test_a_job_with_a_setup_hook_of_its_own_runs_undebugged(
    cluster: Cluster, project: Path, run_program: Callable[..., Child]
) -> None:
    """Ray would refuse a second hook and end the program."""
    (project / "hooked.py").write_text(HOOKED)
    (project / "hooks.py").write_text(HOOKS)
    job = run_program(SUBMIT, cluster.dashboard, str(project))
    assert job.wait() == 0, job.output
    assert "result: by the job" in job.output
    assert job.output.count("raydap cannot debug the workers of this job") == 1
