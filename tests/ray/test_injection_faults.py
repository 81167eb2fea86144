"""Faults while raydap starts an agent in an unprepared worker: the worker ends, or two raydaps start one."""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.everybody import Everybody
from support.gdb import need_gdb
from support.look import attach_to

PROGRAM = """\
import sys
import ray

@ray.remote(num_cpus=0.1, max_restarts=0)
class Idle:
    def step(self):
        return 1

@ray.remote(num_cpus=0.1, max_restarts=0)
class Busy:
    def step(self):
        return 1
    def wait(self, name):
        with open(name) as file:
            file.read()
        return 1

ray.init()
idle, busy = Idle.remote(), Busy.remote()
ray.get([idle.step.remote(), busy.step.remote()])
waiting = busy.wait.remote(sys.argv[1])
print("begun", flush=True)
with open(sys.argv[1]) as go:
    go.read()
for actor in (idle, busy):
    try:
        print("result: " + str(ray.get(actor.step.remote())))
    except ray.exceptions.RayActorError:
        print("result: ended")
"""


@pytest.fixture(autouse=True)
def _gdb() -> None:
    need_gdb()


@pytest.fixture
def driver(run_driver: Callable[..., Child], tmp_path: Path, children: ExitStack) -> Child:
    """Return a program with an idle actor and a busy one. It ends after a write to `go`."""
    os.mkfifo(tmp_path / "go")
    started = run_driver(PROGRAM, str(tmp_path / "go"))
    started.wait_for("begun")
    return started


def end(driver: Child, tmp_path: Path) -> str:
    descriptor = os.open(tmp_path / "go", os.O_RDWR)
    os.close(descriptor)
    assert driver.wait() == 0, driver.output
    return driver.output


@pytest.mark.parametrize("label", ["Idle", "Busy"])
def test_a_worker_that_ends_while_an_agent_starts_costs_nothing_else(
    attach: Callable[..., Client], driver: Child, tmp_path: Path, label: str
) -> None:
    client = attach(reach="any", autoAttach=False)
    everybody = Everybody(client)
    other = {"Idle": "Busy", "Busy": "Idle"}[label]
    worker = everybody.wait(lambda all_: named(all_, label))
    client.send("raydap/attach", workers=[worker["key"]])
    os.kill(worker["pid"], signal.SIGKILL)
    everybody.wait(lambda all_: all_.workers[worker["key"]]["state"] == "gone" or worker["key"] not in all_.workers)
    key = everybody.wait(lambda all_: named(all_, other))["key"]
    client.request("raydap/attach", workers=[key])
    everybody.wait(lambda all_: all_.workers[key]["state"] == "running")
    assert "result: 1" in end(driver, tmp_path)


def named(everybody: Everybody, label: str) -> dict[str, Any] | None:
    return next((each for each in everybody.workers.values() if each["label"].startswith(label)), None)


def test_two_raydaps_want_one_worker(
    attach: Callable[..., Client],
    cluster: Cluster,
    driver: Child,
    tmp_path: Path,
    children: ExitStack,
    connect_to: Callable[[str, int], Client],
) -> None:
    bridge = Bridge.start(tmp_path / "second.log")
    children.callback(bridge.end)
    second = attach_to(connect_to(bridge.host, bridge.port), cluster, reach="any", autoAttach=False)
    both = [Everybody(attach(reach="any", autoAttach=False)), Everybody(second)]
    key, _ = [everybody.wait(lambda all_: named(all_, "Idle"))["key"] for everybody in both]
    for everybody in both:
        everybody._client.send("raydap/attach", workers=[key])
    states = [everybody.wait(lambda all_: settled(all_.workers[key])) for everybody in both]
    assert sorted(states) == ["held", "running"]
    assert "result: 1" in end(driver, tmp_path)


def settled(worker: dict[str, Any]) -> str:
    if worker["state"] == "running":
        return "running"
    return "held" if "raydap" in (worker.get("problem") or "") and "debugs it" in worker["problem"] else ""
