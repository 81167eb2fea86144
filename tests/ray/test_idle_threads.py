"""Threads of a threaded actor that had never run Python when the agent was started: they stop like any other."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from dap_client import Client
from local_cluster import Child

from support.everybody import Everybody
from support.gdb import need_gdb
from support.look import user_frames

THREADS = 6

# All calls are at the line at the same time, so each has its own thread.
PROGRAM = f"""\
import sys
import threading
import ray

@ray.remote(num_cpus=0.1, max_concurrency={THREADS})
class Crowd:
    def __init__(self):
        self.all_here = threading.Barrier({THREADS})

    def step(self):
        self.all_here.wait()
        return 1  # in each thread

ray.init()
crowd = Crowd.remote()
ray.get(crowd.__ray_ready__.remote())
print("idle", flush=True)
with open(sys.argv[1]) as go:
    go.read()
print("result: " + str(sum(ray.get([crowd.step.remote() for _ in range({THREADS})]))))
"""


def test_threads_that_had_never_run_python_stop(
    attach: Callable[..., Client], run_driver: Callable[..., Child], tmp_path: Path, children: ExitStack
) -> None:
    need_gdb()
    program, go = tmp_path / "program.py", tmp_path / "go"
    program.write_text(PROGRAM)
    os.mkfifo(go)
    driver = run_driver(program, str(go))
    driver.wait_for("idle")
    client = attach(reach="any", autoAttach=False)
    everybody = Everybody(client)
    client.request("raydap/attach", workers=[everybody.one("Crowd")["key"]])
    everybody.one("Crowd", "running")
    line = PROGRAM.splitlines().index("        return 1  # in each thread") + 1
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": line}])
    client.wait_event("breakpoint", lambda body: body["breakpoint"]["verified"])
    go.write_text("")
    stops = [client.wait_event("stopped") for _ in range(THREADS)]
    assert {user_frames(client, stop)[0]["line"] for stop in stops} == {line}
    assert len({stop["threadId"] for stop in stops}) == THREADS
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    client.request("raydap/continue")
    assert driver.wait() == 0, driver.output
    assert f"result: {THREADS}" in driver.output
