"""A program that `uv run` starts: Ray starts its workers with `uv run`, too, and breakpoints work in them."""

import importlib.util
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster
from uv import find_uv_bin

from support.look import evaluate, go_on, line_of, problems

PROGRAM = """\
import os
import ray

@ray.remote(num_cpus=0.1)
def task():
    with open(f"/proc/{os.getppid()}/cmdline") as file:
        parent = file.read().split(chr(0))
    return parent[1]  # in the worker

ray.init()
print("result: " + str(ray.get(task.remote())))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("ray._private.runtime_env.uv_runtime_env_hook") is None,
    reason="this version of Ray does not know `uv run`",
)
def test_workers_of_uv_run_stop(client: Client, cluster: Cluster, tmp_path: Path, children: ExitStack) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM)
    uv_run = [find_uv_bin(), "run", "--no-project", "--python", sys.executable]
    command = [*uv_run, "-m", "raydap", "run", "--wait", str(program)]
    environment = {"RAY_ADDRESS": cluster.address, "UV_CACHE_DIR": str(tmp_path / "cache")}
    child = children.enter_context(Child(command, tmp_path / "program.log", environment, folder))
    breakpoints = {str(program): [line_of(PROGRAM, "# in the worker")]}
    # Ray gives the workers a copy of the folder.
    where = {"dashboard": cluster.dashboard, "workspaceFolder": str(folder)}
    client.start_session("attach", where, breakpoints=breakpoints)
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "parent[:5]") == repr(uv_run)
    go_on(client, stop)
    assert child.wait() == 0, child.output
    assert "result: run" in child.output
    assert problems(client) == []
