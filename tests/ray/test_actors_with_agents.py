"""Actors that are reached through their agents.

There are actors that Ray starts again, actors that outlive their driver, an actor that is debugged repeatedly, and a
coroutine that was waiting when raydap attached.
"""

import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.launched import ended, line_of, start, stopped_line
from support.look import evaluate, go_on

AGAIN = """\
import os
import ray

@ray.remote(num_cpus=0.1, max_restarts=1, max_task_retries=1)
class Restarted:
    def __init__(self):
        self.pid = os.getpid()  # in each process

    def end(self):
        os._exit(1)

    def get(self):
        return self.pid

@ray.remote(num_cpus=0.1, lifetime="detached", name="outlives")
class Detached:
    def get(self):
        return "detached"  # in a detached actor

ray.init()
restarted = Restarted.remote()
first = ray.get(restarted.get.remote())
try:
    ray.get(restarted.end.options(max_task_retries=0).remote())
except ray.exceptions.RayActorError:
    pass
second = ray.get(restarted.get.remote())
detached = Detached.remote()
print("result: " + " ".join(map(str, [first != second, ray.get(detached.get.remote())])))
ray.kill(detached)
"""


def test_restarted_and_detached_actors_stop(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    start(client, cluster, tmp_path, AGAIN, "# in each process", "# in a detached actor")
    pids = []
    for _ in range(2):
        stop = client.wait_event("stopped")
        assert "# in each process" in stopped_line(client, stop)
        pids.append(evaluate(client, stop, "os.getpid()"))
        go_on(client, stop)
    assert pids[0] != pids[1]
    stop = client.wait_event("stopped")
    assert "# in a detached actor" in stopped_line(client, stop)
    go_on(client, stop)
    assert "result: True detached\n" in ended(client)


LOOP = """\
import gc, json, os, sys, threading, time
import ray

def state():
    gc.collect()  # Otherwise it has what the last sessions have left until Python's next full one.
    memory = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    frame, traced = sys._getframe(1), False
    while frame is not None:
        traced, frame = traced or frame.f_trace is not None, frame.f_back
    return {
        # pydevd hides its threads, and those of an agent, from enumerate().
        "threads": sorted(thread.name for thread in list(threading._active.values())),
        "traced": traced or sys.gettrace() is not None or threading.gettrace() is not None,
        "breakpoint": repr(sys.breakpointhook),
        "memory": memory,
    }

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self, folder):
        os.chdir(folder)
        turns = 0
        while not os.path.exists("stop"):
            turns += 1  # again and again
            if os.path.exists("look"):
                os.unlink("look")
                with open("seen", "w") as seen:
                    seen.write(json.dumps(state()) + chr(10))
            time.sleep(0.01)
        return turns > 0

ray.init()
loop = Loop.remote()
running = loop.run.remote(os.getcwd())
print("running", flush=True)
print("result: " + str(ray.get(running)))
"""


SESSIONS = 15
SETTLED = 10
GROWTH = 1_000_000
"""The bytes that the worker may grow between session SETTLED and session SESSIONS.

Before, it has grown by 2.3 MB, because the threads of each session use other parts of the memory. If each session left
0.2 MB behind, the test would fail.
"""


class Job:
    """A prepared program whose actor reports its own state."""

    def __init__(self, cluster: Cluster, folder: Path, source: str, children: ExitStack) -> None:
        self.folder, self.source = folder, source
        self.program = folder / "program.py"
        self.program.write_text(source)
        os.mkfifo(folder / "seen")
        self.seen = os.open(folder / "seen", os.O_RDWR | os.O_NONBLOCK)  # O_RDWR: no end of file.
        children.callback(os.close, self.seen)
        command = [sys.executable, "-m", "raydap", "run", str(self.program)]
        self.child = Child(command, folder / "program.log", {"RAY_ADDRESS": cluster.address}, folder)
        children.push(self.child)
        children.callback((folder / "stop").touch)
        self.child.wait_for("running")

    def state(self) -> dict[str, Any]:
        (self.folder / "look").touch()
        assert select.select([self.seen], [], [], 60)[0]
        state: dict[str, Any] = json.loads(os.read(self.seen, 4096))
        return state

    def attached(self, client: Client, cluster: Cluster, *texts: str) -> Client:
        breakpoints = {str(self.program): [line_of(self.source, text) for text in texts]}
        client.start_session("attach", {"dashboard": cluster.dashboard, "actor": "Loop"}, breakpoints=breakpoints)
        return client


def test_many_sessions_leave_nothing_in_a_worker(
    cluster: Cluster, connect: Callable[[], Client], children: ExitStack, tmp_path: Path
) -> None:
    job = Job(cluster, tmp_path, LOOP, children)
    untouched = job.state()
    memory = []
    for _ in range(SESSIONS):
        client = job.attached(connect(), cluster, "# again and again")
        for _ in range(2):
            stop = client.wait_event("stopped")
            go_on(client, stop)
        client.wait_event("stopped")
        client.request("disconnect")
        for _ in range(1000):  # The worker may still be detaching.
            state = job.state()
            if state["threads"] == untouched["threads"]:
                break
        memory.append(state.pop("memory"))
        assert state == {key: untouched[key] for key in state}
    assert memory[-1] - memory[SETTLED - 1] < GROWTH, memory
    (tmp_path / "stop").touch()
    assert job.child.wait() == 0
    assert "result: True" in job.child.output


COROUTINE = LOOP.replace("def run(", "async def run(").replace("time.sleep", "await asyncio.sleep")
COROUTINE = COROUTINE.replace("import gc,", "import asyncio, gc,")


@pytest.mark.core
def test_a_coroutine_that_waited_when_raydap_came_stops(
    cluster: Cluster, connect: Callable[[], Client], children: ExitStack, tmp_path: Path
) -> None:
    job = Job(cluster, tmp_path, COROUTINE, children)
    client = job.attached(connect(), cluster, "# again and again")
    for _ in range(3):
        stop = client.wait_event("stopped")
        assert "# again and again" in stopped_line(client, stop)
        assert int(evaluate(client, stop, "turns")) >= 0
        go_on(client, stop)
    client.wait_event("stopped")
    (tmp_path / "stop").touch()
    client.request("disconnect")
    assert job.child.wait() == 0
    assert "result: True" in job.child.output


@pytest.fixture
def connect(bridge: Bridge, connect_to: Callable[[str, int], Client]) -> Callable[[], Client]:
    return lambda: connect_to(bridge.host, bridge.port)
