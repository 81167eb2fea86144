"""`launch` of a program that starts subprocesses: the editor's breakpoints stop these, too."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Cluster

from support.launched import STARTS_PYTHONS, ended, start, stopped_line
from support.look import bodies, go_on

Launch = Callable[..., Client]

FORKS = """\
import multiprocessing
import os
import re
import ray

def double(number):
    return number * 2  # in a child

def exit_code(number):
    pid = os.fork()
    if pid == 0:
        os._exit(double(number))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def in_pool(number):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(double, (number,))

@ray.remote(num_cpus=0.1)
class Plain:
    def get(self, number):
        return exit_code(number)

if __name__ == "__main__":
    values = [in_pool(1), exit_code(2)]
    ray.init()
    values += [in_pool(3), exit_code(4)]
    plain = Plain.remote()
    values.append(ray.get(plain.get.remote(5)))
    print("result: " + str(values))  # in the driver
"""


@pytest.fixture
def launch(client: Client, cluster: Cluster, tmp_path: Path) -> Launch:
    return lambda source, *texts, **more: start(client, cluster, tmp_path, source, *texts, **more)


def parents_of_stops(client: Client, *places: str) -> list[str]:
    """Continue through the stops at these places, in this order, and return the names of the threads."""
    found = []
    for place in places:
        stop: dict[str, Any] = client.wait_event("stopped")
        assert place in stopped_line(client, stop)
        (name,) = (each["name"] for each in client.request("threads")["threads"] if each["id"] == stop["threadId"])
        found.append(name.partition(" · ")[0])
        go_on(client, stop)
    return found


@pytest.mark.core
def test_forked_children_stop_before_and_after_ray_begins_and_in_workers(launch: Launch) -> None:
    client = launch(FORKS, "# in a child", "# in the driver")
    names = parents_of_stops(client, *5 * ["# in a child"], "# in the driver")
    assert all(name.startswith("child of driver") for name in names[:4])
    assert names[4].startswith(("child of Plain", "child of worker"))
    assert names[5].startswith("driver")
    assert "result: [2, 4, 6, 8, 10]\n" in ended(client)


def test_children_are_left_alone_if_the_user_wants_that(launch: Launch) -> None:
    client = launch(FORKS, "# in a child", "# in the driver", subProcess=False)
    (name,) = parents_of_stops(client, "# in the driver")
    assert name.startswith("driver")
    assert "result: [2, 4, 6, 8, 10]\n" in ended(client)


def test_pythons_that_the_driver_and_workers_start_stop(launch: Launch) -> None:
    client = launch(STARTS_PYTHONS, "# in a child", "# in the driver")
    names = parents_of_stops(client, *3 * ["# in a child"], "# in the driver")
    assert names[0].startswith("child of driver")
    assert all(re.fullmatch(r"child of (run|worker) \d+", name) for name in names[1:3]), names
    assert "result: [2, 4, 6]\n" in ended(client)


LOCAL = """\
import os
import ray

@ray.remote
def environment():
    found = [name for name in os.environ if name == "RAYDAP_AGENT"]
    return found  # in a worker

ray.init(num_cpus=1)
print("result: " + str(ray.get(environment.remote())))
"""


def test_a_program_can_start_a_ray_of_its_own(launch: Launch) -> None:
    """Ray's own Pythons have no agent. With one they would be attached, and their threads would be listed."""
    client = launch(LOCAL, "# in a worker", env={"RAY_ADDRESS": "local", "RAY_AUTH_MODE": "disabled"})
    assert not parents_of_stops(client, "# in a worker")[0].startswith("child of driver")
    assert "result: []\n" in ended(client)


BREAKPOINTS = """\
import multiprocessing
import os
import threading
import ray

def double(number):
    breakpoint()
    return number * 2  # in a child

def exit_code(number):
    pid = os.fork()
    if pid == 0:
        os._exit(double(number))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def in_pool(numbers):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(double, numbers)

def in_threads(*numbers):
    pid = os.fork()
    if pid == 0:
        threads = [threading.Thread(target=double, args=[number]) for number in numbers]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        os._exit(0)
    os.waitpid(pid, 0)

def in_process(numbers):
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    child = context.Process(target=lambda: [results.put(double(number)) for number in numbers])
    child.start()
    child.join()
    return [results.get() for _ in numbers]

@ray.remote(num_cpus=0.1)
def work(number):
    return [exit_code(number), *in_process([number + 1, number + 2])]

if __name__ == "__main__":
    values = in_pool([1])
    in_threads(7, 8)
    ray.init()
    print("result: " + str(values + [exit_code(2)] + ray.get(work.remote(3))))
"""


def test_breakpoint_stops_in_forked_children_without_a_breakpoint_of_the_editor(launch: Launch) -> None:
    client = launch(BREAKPOINTS)
    names = parents_of_stops(client, *7 * ["breakpoint()"])
    assert all(name.startswith("child of driver") for name in names[:4]), names
    assert all(name.startswith(("child of work", "child of worker")) for name in names[4:]), names
    output = ended(client)
    assert "result: [2, 4, 6, 8, 10]\n" in output
    assert "cannot stop" not in output


def test_breakpoint_in_a_forked_child_that_is_left_alone_is_reported(launch: Launch) -> None:
    source = BREAKPOINTS.replace("values = in_pool([1])\n    in_threads(7, 8)", "values = [2]").replace(
        "exit_code(2)", "4"
    )
    client = launch(source, subProcess=False)
    output = ended(client)
    assert "result: [2, 4, 6, 8, 10]\n" in output
    assert output.count("no raydap is attached to this forked child") == 2
    assert not bodies(client, "stopped")
