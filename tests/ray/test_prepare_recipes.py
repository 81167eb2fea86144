"""Each recipe that `raydap prepare` prints, as a user runs it: a session that attaches later reaches the workers."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster, clean_environment

from support.look import go_on, line_of, user_frames

LOOP = """\
import os
import time

import ray

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self, file):
        while not os.path.exists(file):
            time.sleep(0.01)  # again and again
        return "over"

@ray.remote(num_cpus=0.1)
def later():
    return "later"  # in a new worker

ray.init()
loop = Loop.remote()
running = loop.run.remote(FILE)
print("running", flush=True)
print("result: " + str(ray.get(running)), flush=True)
"""


def prepare(*options: str) -> str:
    """Return what the command prints without a PYTHONPATH, which would be in the recipes."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "raydap", "prepare", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@functools.cache
def recipes() -> str:
    return prepare()


def recipe(containing: str) -> str:
    """Return the only line of the recipes that contains this text."""
    (line,) = (line.strip() for line in recipes().splitlines() if containing in line)
    return line


@pytest.fixture
def program(tmp_path: Path, children: ExitStack) -> Path:
    path = tmp_path / "program.py"
    path.write_text(LOOP.replace("FILE", repr(str(tmp_path / "stop"))))
    children.callback((tmp_path / "stop").touch)
    return path


@pytest.fixture
def shell(children: ExitStack, tmp_path: Path) -> Callable[[str, Cluster], Child]:
    """Return a function that runs a line as a user types it, in the environment of raydap's own Python."""

    def run(line: str, cluster: Cluster) -> Child:
        folder = Path(sys.executable).parent
        environment = {
            "RAY_ADDRESS": cluster.address,
            "RAY_API_SERVER_ADDRESS": cluster.dashboard,
            "PATH": f"{folder}:/usr/bin:/bin",
        }
        return children.enter_context(Child(["bash", "-c", line], tmp_path / "shell.log", environment, tmp_path))

    return run


def check(client: Client, cluster: Cluster, program: Path, stop_file: Path) -> None:
    """Check that a breakpoint stops the running actor."""
    breakpoints = {str(program): [line_of(LOOP, "# again and again")]}
    client.start_session("attach", {"dashboard": cluster.dashboard}, breakpoints=breakpoints, filters=["uncaught"])
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["line"] == line_of(LOOP, "# again and again")
    stop_file.touch()
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    go_on(client, stop)


@pytest.mark.core
@pytest.mark.parametrize("text", ["raydap run PROGRAM.py", "at_start python PROGRAM.py", "ray job submit"])
def test_a_program_or_a_job(
    client: Client, cluster: Cluster, program: Path, shell: Callable[[str, Cluster], Child], text: str, tmp_path: Path
) -> None:
    lines = [line.strip() for line in recipes().splitlines() if text in line]
    line = lines[0].replace("PROGRAM.py", str(program))
    child = shell(line, cluster)
    child.wait_for("running")
    check(client, cluster, program, tmp_path / "stop")
    assert child.wait() == 0, child.output
    assert "result: over" in child.output


@pytest.fixture(scope="module")
def prepared_cluster() -> Iterator[Cluster]:
    """Yield a separate cluster with the environment that `raydap prepare` prints. Each test runs its own job there."""
    environment = json.loads(prepare("--json"))["ray_start"]
    line = recipe("ray start --head")
    for name, value in environment.items():
        assert f"{name}={value}" in line
    with Cluster(num_cpus=2, network="127.78", env=environment) as started:
        yield started


def test_a_prepared_cluster_with_ordinary_programs(
    client: Client, prepared_cluster: Cluster, program: Path, shell: Callable[[str, Cluster], Child], tmp_path: Path
) -> None:
    child = shell(f"python {program}", prepared_cluster)
    child.wait_for("running")
    check(client, prepared_cluster, program, tmp_path / "stop")
    assert child.wait() == 0, child.output


def test_pythons_that_workers_of_such_a_cluster_start(
    client: Client, prepared_cluster: Cluster, program: Path, shell: Callable[[str, Cluster], Child], tmp_path: Path
) -> None:
    started = tmp_path / "started.py"
    started.write_text("word = 'over'\nprint(word)\n")
    starts = f"import subprocess, sys; return subprocess.check_output([sys.executable, {str(started)!r}], text=True)"
    program.write_text(program.read_text().replace('return "over"', starts))
    child = shell(f"python {program}", prepared_cluster)
    child.wait_for("running")
    client.start_session(
        "attach", {"dashboard": prepared_cluster.dashboard}, breakpoints={str(started): [2]}, filters=["uncaught"]
    )
    (tmp_path / "stop").touch()
    stop = client.wait_event("stopped")
    (frame, *_) = user_frames(client, stop)
    assert (frame["source"]["path"], frame["line"]) == (str(started), 2)
    go_on(client, stop)
    assert child.wait() == 0, child.output
    assert "result: over" in child.output


OWN_PATH = """\
import os, sys
import ray

@ray.remote(num_cpus=0.1)
def work():
    return os.environ["PYTHONPATH"], "_raydap_agent" in sys.modules

ray.init(runtime_env={"env_vars": {"PYTHONPATH": "/of/the/program"}})
own = ray.get(work.remote())
print(f"own: {own[0]} {own[1]}", flush=True)
open("go").read()
"""


def test_a_program_whose_workers_do_not_find_the_hook_runs(
    prepared_cluster: Cluster, shell: Callable[[str, Cluster], Child], tmp_path: Path
) -> None:
    path = tmp_path / "own_path.py"
    path.write_text(OWN_PATH)
    os.mkfifo(tmp_path / "go")
    child = shell(f"python {path}", prepared_cluster)
    child.wait_for("own: /of/the/program False")
    command = [sys.executable, "-m", "raydap", "doctor", "--json", "--dashboard", prepared_cluster.dashboard]
    done = subprocess.run(command, env=clean_environment({}), capture_output=True, text=True)
    (hidden,) = [one for one in json.loads(done.stdout) if "hook of the prepared cluster" in one["what"]]
    assert (hidden["check"], hidden["severity"]) == ("reach", "warning")
    (tmp_path / "go").write_text("")
    assert child.wait() == 0, child.output
