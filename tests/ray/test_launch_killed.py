"""raydap is killed in each stage of a `launch`: the program runs to its end, and no part of raydap is left in it."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Cluster, descendants

from support import processes
from support.bridge import Bridge
from support.launched import start

PROGRAM = """\
import os
import sys
import threading
import time

import ray

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)

def of_a_debugger():
    monitoring = getattr(sys, "monitoring", None)
    tool = monitoring and monitoring.get_tool(monitoring.DEBUGGER_ID)
    threads = [each.name for each in threading.enumerate() if each.name.startswith("pydevd")]
    return [each for each in [sys.gettrace(), threading.gettrace(), tool, *threads] if each]

def traced():
    until = time.monotonic() + 30
    while of_a_debugger() and time.monotonic() < until:
        time.sleep(0.01)
    return of_a_debugger()

@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self, number):
        total = number + 1
        return total  # in a worker

    def left(self):
        return os.getpid(), traced()

first_line = True  # in the driver
ray.init()
print("joined", flush=True)
wait_for("joined")
walkers = [Walker.remote() for _ in range(WALKERS)]
totals = ray.get([walker.walk.remote(number) for number, walker in enumerate(walkers)])
for _ in range(5000):
    print("more than a pipe holds")
    sys.stderr.write("and to the other one\\n")
left = ray.get([walker.left.remote() for walker in walkers])
with open("writing", "w") as file:
    of_workers = [each for _, each in left]
    file.write(repr({"totals": totals, "pids": [pid for pid, _ in left], "traced": of_workers + traced()}))
os.rename("writing", "done")
"""

HOOK = """\
import os
import time

def hook(runtime_env):
    print("in ray.init", flush=True)
    while not os.path.exists("init"):
        time.sleep(0.01)
    return runtime_env
"""
"""The setup hook of the program, which Ray calls in `ray.init`."""

PYTHON = f"""\
#!/bin/sh
until [ -e begin ]; do sleep 0.01; done
exec {sys.executable} "$@"
"""


class Launch:
    """A program that a raydap launches, until that raydap is killed.

    The program waits for files before it begins, in `ray.init`, and before its first worker.
    """

    def __init__(self, bridge: Bridge, client: Client, cluster: Cluster, folder: Path, children: ExitStack) -> None:
        self.client = client
        self._bridge = bridge
        self._cluster = cluster
        self._folder = folder
        self._children = children

    def start(self, *texts: str, walkers: int = 1) -> None:
        (self._folder / "users_hook.py").write_text(HOOK)
        python = self._folder / "python"
        python.write_text(PYTHON)
        python.chmod(0o700)
        env = {"RAY_RUNTIME_ENV_HOOK": "users_hook.hook", "PYTHONPATH": str(self._folder)}
        program = PROGRAM.replace("WALKERS", str(walkers))
        start(self.client, self._cluster, self._folder, program, *texts, python=str(python), env=env)
        self._pid = self.client.wait_event("process")["systemProcessId"]
        self._program = self._ends(self._pid)
        self._children.callback(self._kill_program)

    def go_on(self, *names: str) -> None:
        """Let the program continue where it waits for these files, now or later."""
        for name in names:
            (self._folder / name).touch()

    def printed(self, text: str) -> None:
        self.client.wait_event("output", lambda body: text in body["output"])

    def stop_raydap(self) -> None:
        processes.freeze(self._bridge.child.pid)

    def wait_for_calls(self, count: int) -> None:
        """Wait until this many agents have called the raydap, which is stopped and does not answer."""
        deadline = time.monotonic() + 60
        while processes.waiting_connections(self._bridge.child.pid) < count:
            assert time.monotonic() < deadline, "too few agents have called"
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill the raydap, and check that its own processes end, too."""
        of_the_program = {self._pid, *descendants(self._pid)}
        own = [self._ends(pid) for pid in descendants(self._bridge.child.pid) if pid not in of_the_program]
        self._bridge.child.process.kill()
        self._bridge.child.process.wait()
        for descriptor in own:
            assert select.select([descriptor], [], [], 30)[0], "a process of raydap's has not ended with it"

    def end(self) -> None:
        """Let the program end, and check that debugging has not changed its result."""
        self.go_on("begin", "init", "joined")
        assert select.select([self._program], [], [], 60)[0], "the program hangs"
        done = self._folder / "done"
        assert done.exists(), "the program has failed"
        result = eval(done.read_text())
        assert result["totals"] == list(range(1, 1 + len(result["totals"])))
        assert not any(result["traced"])
        deadline = time.monotonic() + 30
        while left := [pid for pid in result["pids"] if Path(f"/proc/{pid}").exists()]:
            assert time.monotonic() < deadline, f"workers are left: {left}"
            time.sleep(0.05)

    def _ends(self, pid: int) -> int:
        """Return a descriptor that becomes readable when the process has ended."""
        descriptor = os.pidfd_open(pid)
        self._children.callback(os.close, descriptor)
        return descriptor

    def _kill_program(self) -> None:
        if not select.select([self._program], [], [], 0)[0]:
            os.kill(self._pid, signal.SIGKILL)


@pytest.fixture
def launches(
    connect_to: Callable[[str, int], Client], cluster: Cluster, tmp_path: Path, children: ExitStack
) -> Callable[..., Launch]:
    def make(*options: str) -> Launch:
        bridge = Bridge.start(tmp_path / "bridge.log", *options)
        children.push(bridge.child)
        return Launch(bridge, connect_to(bridge.host, bridge.port), cluster, tmp_path, children)

    return make


@pytest.fixture
def launch(launches: Callable[..., Launch]) -> Launch:
    return launches()


def test_before_the_program_begins(launch: Launch) -> None:
    launch.start("# in a worker")
    launch.kill()
    launch.end()


def test_while_the_program_calls_before_its_first_line(launch: Launch) -> None:
    launch.start("# in a worker", "# in the driver")
    launch.stop_raydap()
    launch.go_on("begin")
    launch.wait_for_calls(1)
    launch.kill()
    launch.end()


def test_while_the_driver_is_stopped(launch: Launch) -> None:
    launch.start("# in a worker", "# in the driver")
    launch.go_on("begin")
    launch.client.wait_event("stopped")
    launch.kill()
    launch.end()


def test_in_ray_init(launch: Launch) -> None:
    launch.start("# in a worker")
    launch.go_on("begin")
    launch.printed("in ray.init")
    launch.kill()
    launch.end()


def test_before_the_first_worker(launch: Launch) -> None:
    launch.start("# in a worker")
    launch.go_on("begin", "init")
    launch.printed("joined")
    launch.kill()
    launch.end()


def test_while_workers_wait_to_be_attached(launch: Launch) -> None:
    launch.start("# in a worker", walkers=2)
    launch.go_on("begin", "init")
    launch.printed("joined")
    launch.stop_raydap()
    launch.go_on("joined")
    launch.wait_for_calls(2)
    launch.kill()
    launch.end()


@pytest.mark.core
def test_while_workers_are_stopped(launch: Launch) -> None:
    launch.start("# in a worker", walkers=2)
    launch.go_on("begin", "init", "joined")
    for _ in range(2):
        launch.client.wait_event("stopped")
    launch.kill()
    launch.end()
