"""A job whose tasks wait in Ray's old pdb."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from local_cluster import Child

PROGRAM = """\
import os
import sys
import threading
import time
import ray

@ray.remote(num_cpus=0.1, max_retries=0)
def child(number):
    return number * 2  # in the child

@ray.remote(num_cpus=0.1, max_retries=0)
def collect(number):
    total = number
    breakpoint()
    total += 1  # behind breakpoint()
    total += 1  # the second line
    return ray.get(child.remote(total))

@ray.remote(num_cpus=0.1, max_retries=0)
def divide(number):
    return number / 0  # fails

def wait(name, work):
    try:
        print(f"{name} gives {ray.get(work)}", flush=True)
    except Exception as error:
        print(f"{name} fails: {type(error).__name__}", flush=True)

ray.init(runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1", "RAY_DEBUG": "legacy"}})
tasks = {"collect": collect, "divide": divide}
# A file in this folder, such as `3.collect.far`, starts a task where that resource is.
folder, known = sys.argv[1], set()
while True:
    for name in sorted(set(os.listdir(folder)) - known):
        known.add(name)
        number, task, resource = name.split(".")
        resources = {resource: 0.1} if resource else {}
        work = tasks[task].options(resources=resources).remote(int(number))
        threading.Thread(target=wait, args=(f"{task} {number}", work), daemon=True).start()
    time.sleep(0.02)
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


class Job:
    """A run of PROGRAM on a cluster. `child.output` has what the job and its tasks print."""

    def __init__(self, folder: Path, address: str, where: Sequence[str] = (), **env: str) -> None:
        self.path = folder / "legacy.py"
        self.path.write_text(PROGRAM)
        self._files = folder / "tasks"
        self._files.mkdir()
        self._count = self._waiting = 0
        # Without it, Ray prints equal lines of several workers once.
        environment = {"RAY_ADDRESS": address, "RAY_DEDUP_LOGS": "0", **env}
        command = [*where, sys.executable, str(self.path), str(self._files)]
        self.child = Child(command, folder / "driver.log", environment)

    def start(self, *tasks: str, resource: str = "") -> list[str]:
        """Start tasks and wait until all of them are in pdb. Return their names in the output, such as `collect 0`."""
        names = []
        for task in tasks:
            (self._files / f"{self._count}.{task}.{resource}").touch()
            names.append(f"{task} {self._count}")
            self._count += 1
        self.wait_for_more(len(tasks))
        return names

    def wait_for_more(self, count: int) -> None:
        """Wait until this many more tasks have printed that they wait."""
        self._waiting += count
        self.wait_until(lambda: self.child.output.count("session open") >= self._waiting)

    def wait_for_results(self, names: Sequence[str], count: int) -> None:
        """Wait until this many of these tasks have returned a result."""
        self.wait_until(lambda: sum(f"{name} gives " in self.child.output for name in names) >= count)

    def wait_until(self, is_so: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert self.child.process.poll() is None, self.child.output
            assert time.monotonic() < deadline, self.child.output
            time.sleep(0.02)
