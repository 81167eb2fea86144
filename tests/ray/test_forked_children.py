"""`breakpoint()` in a process that a Ray worker has forked."""

from collections.abc import Callable

import pytest
from dap_client import Client
from local_cluster import Child

from support.look import bodies, evaluate, go_on, local_variables, name_of, user_frames

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
print("result: " + str(ray.get(work.remote(21, sys.argv[1]))))
"""


@pytest.mark.core
@pytest.mark.parametrize("how", ["by_fork", "by_multiprocessing"])
def test_it_stops_in_a_child_of_an_attached_worker(
    attach: Callable[..., Client], run_driver: Callable[..., Child], how: str
) -> None:
    client = attach()
    driver = run_driver(DRIVER, how)
    stop = client.wait_event("stopped")
    name_of(client, stop, "work")
    parent = evaluate(client, stop, "os.getpid()")
    go_on(client, stop)
    stop = client.wait_event("stopped")
    name_of(client, stop, "child of work")
    assert user_frames(client, stop)[0]["name"] == "double"
    assert local_variables(client, stop) == {"doubled": "42", "number": "21"}
    assert evaluate(client, stop, "os.getppid()") == parent
    client.send("continue", threadId=stop["threadId"])  # The child may end before it has answered.
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output


@pytest.mark.core
@pytest.mark.parametrize("how", ["by_fork", "by_multiprocessing"])
def test_it_does_nothing_in_a_child_of_a_worker_that_was_let_go(
    attach: Callable[..., Client], run_driver: Callable[..., Child], how: str
) -> None:
    client = attach()
    driver = run_driver(DRIVER, how)
    client.wait_event("stopped")
    client.request("disconnect")
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output


@pytest.mark.core
def test_it_does_nothing_without_sub_process(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach(subProcess=False)
    driver = run_driver(DRIVER, "by_fork")
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output
    assert len(bodies(client, "stopped")) == 1
