"""`breakpoint()` in a process that a Ray worker has forked."""

import os
import re
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.forked_command import forked_command
from support.look import bodies, evaluate, go_on, line_of, local_variables, name_of, user_frames
from support.tries import tries

DRIVER = """\
import multiprocessing
import os
import sys
import ray

def double(number):
    doubled = 2 * number
    breakpoint()
    return doubled

def by_fork(number):
    child = os.fork()
    if child == 0:
        os._exit(double(number))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def by_multiprocessing(number):
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    child = context.Process(target=lambda: results.put(double(number)))
    child.start()
    child.join()
    return results.get()

@ray.remote(num_cpus=0.1, max_retries=0)
def work(number, how):
    breakpoint()
    return {"by_fork": by_fork, "by_multiprocessing": by_multiprocessing}[how](number)

ray.init()
print("result: " + str(ray.get([work.remote(21, how) for how in sys.argv[1:]])))
"""


@pytest.mark.core
def test_it_stops_in_a_child_of_an_attached_worker(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    driver = run_driver(DRIVER, "by_fork", "by_multiprocessing")
    stops = [client.wait_event("stopped") for _ in range(2)]
    parents = set()
    for stop in stops:
        name_of(client, stop, "work")
        parents.add(evaluate(client, stop, "os.getpid()"))
        go_on(client, stop)
    stops = [client.wait_event("stopped") for _ in range(2)]
    for stop in stops:
        name_of(client, stop, r"child of work \d+")
        assert user_frames(client, stop)[0]["name"] == "double"
        assert local_variables(client, stop) == {"doubled": "42", "number": "21"}
    assert {evaluate(client, stop, "os.getppid()") for stop in stops} == parents
    assert len(parents) == 2
    for stop in stops:
        client.send("continue", threadId=stop["threadId"])  # The child may end before it has sent the response.
    assert driver.wait() == 0, driver.output
    assert "result: [42, 42]" in driver.output


@pytest.mark.core
def test_it_does_nothing_in_a_child_of_a_detached_worker(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    driver = run_driver(DRIVER, "by_fork", "by_multiprocessing")
    for _ in range(2):
        client.wait_event("stopped")
    client.request("disconnect")
    assert driver.wait() == 0, driver.output
    assert "result: [42, 42]" in driver.output


@pytest.mark.core
def test_it_does_nothing_without_sub_process(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach(subProcess=False)
    driver = run_driver(DRIVER, "by_fork")
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0, driver.output
    assert "result: [42]" in driver.output
    assert len(bodies(client, "stopped")) == 1


WITHOUT_RAYDAP = """\
import multiprocessing
import os
import sys
import ray

def load(folder):
    open(os.path.join(folder, f"fork-{os.getppid()}-{os.getpid()}"), "w").close()
    breakpoint()

@ray.remote(num_cpus=0.1)
class Loader:
    def load(self, folder, how):
        context = multiprocessing.get_context("fork")
        # Ray aborts a child after a while. Then there is another one, as there always is in a pool.
        while how == "process":
            child = context.Process(target=load, args=(folder,))
            child.start()
            child.join()
        with context.Pool(1, initializer=load, initargs=(folder,)) as pool:
            pool.apply(len, ("",))

@ray.remote(num_cpus=0.1, max_retries=0)
def by_fork(folder):
    while True:
        child = os.fork()
        if child == 0:
            load(folder)
            os._exit(0)
        os.waitpid(child, 0)

ray.init(log_to_driver=False)
loaders = [Loader.remote(), Loader.remote()]
calls = [loader.load.remote(sys.argv[1], how) for loader, how in zip(loaders, ("process", "pool"))]
ray.get([*calls, by_fork.remote(sys.argv[1])])
"""
"""Workers without a debugger, whose forked children wait in breakpoint()."""


@pytest.fixture
def without_raydap(run_driver: Callable[..., Child], tmp_path: Path, children: ExitStack) -> None:
    def end() -> None:
        families = [tuple(map(int, each.name.split("-")[1:])) for each in tmp_path.glob("fork-*")]
        # Kill the workers first: they would fork again.
        for pid in [*dict.fromkeys(worker for worker, _ in families), *(child for _, child in families)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    run_driver(WITHOUT_RAYDAP, str(tmp_path))
    children.callback(end)


@pytest.mark.core
@pytest.mark.usefixtures("without_raydap")
def test_children_that_no_debugger_can_attach_to_are_named(cluster: Cluster, tmp_path: Path) -> None:
    where = rf"at breakpoint\(\) .*in load \(program0\.py:{line_of(WITHOUT_RAYDAP, 'breakpoint()')}\)"
    worker = r"\S+"
    log = tmp_path / "raydap.log"
    until_named(cluster, log, "ps --each", rf"paused +child of {worker} (\d+) .* {where}")
    text = until_named(cluster, log, "hang", rf"child (\d+) of {worker} \d+ \(on .* {where}")
    assert text.count("launch the program with `raydap debug PROGRAM.py`") == 1
    text = until_named(cluster, log, "doctor", rf"error: Process \d+, a forked child of [^()]+ \(pid (\d+) .* {where}")
    assert "$ raydap debug PROGRAM.py" in text


def until_named(cluster: Cluster, log: Path, command: str, pattern: str) -> str:
    """Run the command until its output names children of three workers, because Ray starts workers at any time.

    Return the output.
    """
    for _ in tries(90):
        _, text = forked_command([*command.split(), "--dashboard", cluster.dashboard], log, {"COLUMNS": "200"})
        if len(set(re.findall(pattern, text))) == 3:
            return text
    raise AssertionError(text)
