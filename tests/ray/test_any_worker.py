"""Workers that are not prepared and never call breakpoint(), with `"reach": "any"` (docs/usage)."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child

from support.bridge import Bridge
from support.everybody import Everybody
from support.gdb import need_gdb
from support.look import bodies, problems, user_frames

PROGRAM = """\
import os
import sys
import threading
import time
import ray

LATCH = sys.argv[1]

def open_latch():
    return os.path.exists(f"{LATCH}/end")

@ray.remote(num_cpus=0.1)
class Idler:
    def step(self, number):
        return number + 1  # idler

@ray.remote(num_cpus=0.1)
class Waiter:
    async def step(self, number):
        return number + 1  # waiter

@ray.remote(num_cpus=0.1, max_concurrency=2)
class Pool:
    def step(self, number):
        return number + 1  # pool

@ray.remote(num_cpus=0.1)
class Busy:
    def compute(self):
        count = 0
        while count % 1000 or not open_latch():
            count += 1  # busy
        return count % 1000

@ray.remote(num_cpus=0.1)
def loop():
    count = 0
    while count % 1000 or not open_latch():
        count += 1  # loop
    return count % 1000

@ray.remote(num_cpus=0.1)
def sleeper():
    while not open_latch():
        time.sleep(0.3)
        woken = True  # sleeper
    return 0

@ray.remote(num_cpus=0.1)
def locked():
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=release, args=[lock]).start()
    lock.acquire()
    return 0  # locked

def release(lock):
    while not open_latch():
        time.sleep(0.05)
    lock.release()

ray.init()
actors = [actor.remote() for actor in (Idler, Waiter, Pool) if actor.__ray_metadata__.class_name in sys.argv]
ray.get([actor.step.remote(1) for actor in actors])
busy = [Busy.remote()] if "Busy" in sys.argv else []
starts = {"Busy": lambda: busy[0].compute.remote(), "loop": loop.remote, "sleeper": sleeper.remote}
starts["locked"] = locked.remote
calls = [start() for name, start in starts.items() if name in sys.argv]
print("running", flush=True)
wrong = turns = 0
while not open_latch():
    while os.path.exists(f"{LATCH}/quiet") and not open_latch():
        time.sleep(0.01)
    wrong += sum(ray.get([actor.step.remote(turns) for actor in actors])) != len(actors) * (turns + 1)
    turns += 1
    time.sleep(0.02)
print(f"wrong: {wrong + sum(ray.get(calls))}")
"""


AT_ONCE = "sys.remote_exec" if hasattr(sys, "remote_exec") else "gdb"
"""The way of starting an agent in a task whose main thread is running Python."""


@pytest.fixture(autouse=True)
def _gdb() -> None:
    need_gdb()


@pytest.fixture
def bridge(children: ExitStack, tmp_path: Path) -> Bridge:
    """Return a bridge that logs by which way it has reached a worker."""
    started = Bridge.start(tmp_path / "bridge.log", "-v")
    children.callback(started.end)
    return started


class Play:
    """A running program with some of its actors and tasks, and a client that is attached to the cluster."""

    def __init__(self, driver: Child, client: Client, program: Path) -> None:
        self.driver = driver
        self.client = client
        self.program = program

    def set_breakpoints(self, *comments: str) -> None:
        """Set breakpoints at the lines with these comments, and remove all others."""
        text = self.program.read_text().splitlines()
        lines = [
            number for number, line in enumerate(text, 1) if line.endswith(tuple(f"# {each}" for each in comments))
        ]
        assert len(lines) == len(comments)
        wanted = [{"line": line} for line in lines]
        self.client.request("setBreakpoints", source={"path": str(self.program)}, breakpoints=wanted)

    def stop(self) -> tuple[str, int]:
        """Wait for the next stop, and return its function and its thread."""
        stop = self.client.wait_event("stopped")
        return user_frames(self.client, stop)[0]["name"], stop["threadId"]

    def end(self) -> None:
        """Let the program end, and check that debugging has not changed its result."""
        (self.program.parent / "end").touch()
        self.set_breakpoints()
        self.client.request("raydap/continue")
        assert self.driver.wait() == 0, self.driver.output
        assert "wrong: 0" in self.driver.output
        assert problems(self.client) == []


@pytest.fixture
def play(attach: Callable[..., Client], run_driver: Callable[..., Child], tmp_path: Path) -> Callable[..., Play]:
    def start(*names: str, **arguments: object) -> Play:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        driver = run_driver(program, str(tmp_path), *names)
        # An earlier stop would keep the program from starting the others.
        driver.wait_for("running")
        return Play(driver, attach(reach="any", **arguments), program)

    return start


ONE_BY_ONE = {
    "Idler": ("Idler", "idler", "step"),
    "Pool": ("Pool", "pool", "step"),
    "Waiter": ("Waiter", "waiter", "step"),
    "Busy": ("Busy.compute", "busy", "compute"),
    "loop": ("loop", "loop", "loop"),
    "sleeper": ("sleeper", "sleeper", "sleeper"),
}
"""For each actor or task of PROGRAM: raydap's name for it, the comment at its line, and the function there."""


@pytest.mark.parametrize("names", [("Idler", "Pool", "Waiter", "sleeper"), ("Busy",), ("loop",)])
def test_one_worker_after_the_other_is_attached_by_its_name(play: Callable[..., Play], names: tuple[str, ...]) -> None:
    it = play(*names, autoAttach=False)
    everybody = Everybody(it.client)
    for name, comment, function in map(ONE_BY_ONE.__getitem__, names):
        worker = everybody.one(name)
        assert not worker["agent"]
        for _ in range(2):
            it.client.request("raydap/attach", workers=[worker["key"]])
            assert everybody.one(name, "running")["key"] == worker["key"]
            it.client.request("raydap/detach", workers=[worker["key"]])
            assert everybody.one(name)["agent"]
        it.client.request("raydap/attach", workers=[worker["key"]])
        everybody.one(name, "running")
        it.set_breakpoints(comment)
        assert it.stop()[0] == function
        it.set_breakpoints()
        it.client.request("raydap/detach", workers=[worker["key"]])
    it.end()


def test_threads_of_an_actor_that_were_idle_at_the_attach(play: Callable[..., Play], tmp_path: Path) -> None:
    (tmp_path / "quiet").touch()
    it = play("Pool", autoAttach=False)
    everybody = Everybody(it.client)
    it.client.request("raydap/attach", workers=[everybody.one("Pool")["key"]])
    everybody.one("Pool", "running")
    it.set_breakpoints("pool")
    it.client.wait_event("breakpoint", lambda body: body["breakpoint"]["verified"])
    (tmp_path / "quiet").unlink()
    assert it.stop()[0] == "step"
    it.end()


@pytest.mark.core
def test_breakpoints_reach_all_workers(play: Callable[..., Play], bridge: Bridge) -> None:
    it = play("Idler", "Busy", "loop", "sleeper")
    it.set_breakpoints("idler", "busy", "loop", "sleeper")
    assert {it.stop()[0] for _ in range(4)} == {"step", "compute", "loop", "sleeper"}
    everybody = Everybody(it.client)
    assert [way(bridge, everybody, name) for name in ("Busy.compute", "loop", "sleeper")] == [AT_ONCE] * 3
    it.end()


def test_a_filter_spares_the_others(play: Callable[..., Play]) -> None:
    it = play("Idler", "loop", "sleeper", task="sleeper")
    it.set_breakpoints("idler", "loop", "sleeper")
    assert it.stop()[0] == "sleeper"
    everybody = Everybody(it.client)
    assert not everybody.one("loop")["agent"]
    assert not everybody.one("Idler")["agent"]
    it.end()
    assert len(bodies(it.client, "stopped")) == 1


@pytest.mark.core
def test_a_worker_that_waits_for_a_lock(play: Callable[..., Play], bridge: Bridge) -> None:
    it = play("locked")
    everybody = Everybody(it.client)
    everybody.one("locked")
    it.set_breakpoints("locked")
    everybody.one("locked", "running")
    assert way(bridge, everybody, "locked") == "gdb"
    (it.program.parent / "end").touch()
    assert it.stop()[0] == "locked"
    it.end()


def way(bridge: Bridge, everybody: Everybody, label: str) -> str:
    """Return by which way the worker with this label has got its agent."""
    states = ("stopped", "running")
    (key,) = everybody.wait(lambda all_: [each["key"] for state in states for each in all_.here(label, state)])
    # Its agent may connect before gdb has ended.
    return bridge.child.wait_for(f"started an agent in {key} by (.*)\n").group(1)
