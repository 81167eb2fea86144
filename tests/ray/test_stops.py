"""Every stop of every kind of worker appears once, separately, and the job gets its right result."""

import ast
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.look import bodies, evaluate, go_on, local_variables, name_of, problems, user_frames, walk

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

pytestmark = pytest.mark.core

IN_A_ROW = """\
import ray

@ray.remote(num_cpus=0.1)
def count(start):
    first = start + 1
    breakpoint()
    second = first + 1
    breakpoint()
    third = second + 1
    breakpoint()
    return third

ray.init()
counted = ray.get(count.remote(0))
breakpoint()
counted += ray.get(count.remote(10))
breakpoint()
print("result: " + str(counted))
"""


def finished(client: Client, driver: Child, result: str, stops: int) -> None:
    """Check that the job has succeeded, without further stops or problems."""
    assert driver.wait() == 0, driver.output
    assert f"result: {result}\n" in driver.output
    assert len(bodies(client, "stopped")) == stops
    assert problems(client) == []


def test_tasks(attach: Callable[..., Client], run_driver: Callable[..., Child], cluster: Cluster) -> None:
    client = attach()
    driver = run_driver(EXAMPLES / "tasks.py")
    squares = [client.wait_event("stopped") for _ in range(3)]
    names = [name_of(client, stop, "square") for stop in squares]
    pids = [evaluate(client, stop, "__import__('os').getpid()") for stop in squares]
    assert names == [["square", pid, cluster.host] for pid in pids]
    assert len(set(pids)) == 3
    assert sorted(local_variables(client, stop)["result"] for stop in squares) == ["1", "4", "9"]
    # The first stop takes the focus. The others come while its thread is inspected.
    assert [stop["preserveFocusHint"] for stop in squares] == [False, True, True]
    for stop in squares:
        assert stop["reason"] == "breakpoint"
        assert user_frames(client, stop)[0]["source"]["path"] == str(EXAMPLES / "tasks.py")
        go_on(client, stop)
    stop = client.wait_event("stopped")
    assert name_of(client, stop, "sum_of_squares")
    assert local_variables(client, stop)["total"] == "14"
    go_on(client, stop)
    finished(client, driver, "14", stops=4)


def test_sixteen_actors_pause_together_five_times(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    driver = run_driver(EXAMPLES / "actors.py", "--actors=16", "--iterations=5")
    seen: Counter[tuple[str, str]] = Counter()
    threads = set()
    for iteration in range(5):
        # All workers of an iteration stop, and stay stopped, before the first continues.
        stops = [client.wait_event("stopped") for _ in range(16)]
        assert len(client.request("threads")["threads"]) == 16
        for stop in stops:
            seen[evaluate(client, stop, "self.rank"), local_variables(client, stop)["iteration"]] += 1
            threads.add(stop["threadId"])
        for stop in stops:
            go_on(client, stop)
        assert set(iteration for _, iteration in seen) == set(map(str, range(iteration + 1)))
    assert seen == Counter((str(rank), str(iteration)) for rank in range(16) for iteration in range(5))
    # A worker stays attached, so its thread keeps its id.
    assert len(threads) == 16
    totals = [sum(10 * rank + iteration for iteration in range(5)) for rank in range(16)]
    finished(client, driver, str(totals), stops=80)


def test_an_async_actor(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    driver = run_driver(EXAMPLES / "async_actor.py")
    stop = client.wait_event("stopped")
    found = local_variables(client, stop)
    assert user_frames(client, stop)[0]["name"] == "answer"
    assert int(found["answer"]) == int(found["question"]) + 40
    # While one call is stopped, the event loop does not run, so the other call stops only now.
    go_on(client, stop)
    assert walk(client, 1, "question") == {("2" if found["question"] == "1" else "1",): 1}
    finished(client, driver, "[41, 42]", stops=2)


def test_a_threaded_actor_with_three_threads_stopped(
    attach: Callable[..., Client], run_driver: Callable[..., Child], cluster: Cluster
) -> None:
    client = attach()
    driver = run_driver(EXAMPLES / "threaded_actor.py")
    stops = [client.wait_event("stopped") for _ in range(3)]
    assert sorted(local_variables(client, stop)["part"] for stop in stops) == ["0", "1", "2"]
    pid = evaluate(client, stops[0], "__import__('os').getpid()")
    names = {tuple(name_of(client, stop, "Pool · work")) for stop in stops}
    assert names == {("Pool", "work", pid, cluster.host, f"#{number}") for number in (1, 2, 3)}
    for left, stop in zip((2, 1, 0), stops, strict=True):
        go_on(client, stop)
        client.wait_event("continued")
        assert len(client.request("threads")["threads"]) == left
    finished(client, driver, "[0, 100, 200]", stops=3)


def test_several_in_a_row_in_a_task_and_the_driver(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    driver = run_driver(IN_A_ROW)
    for start, counted in (("0", "3"), ("10", "16")):
        for known in ("first", "second", "third"):
            stop = client.wait_event("stopped")
            found = local_variables(client, stop)
            assert (found["start"], known in found) == (start, True)
            assert ("third" in found) == (known == "third")
            go_on(client, stop)
        stop = client.wait_event("stopped")
        assert local_variables(client, stop)["counted"] == counted
        path = os.path.basename(user_frames(client, stop)[0]["source"]["path"])
        # If several nodes are on one machine, Ray 2.39 may assign any of them to a driver.
        node = ast.literal_eval(evaluate(client, stop, "ray._private.worker.global_worker.node_ip_address"))
        assert name_of(client, stop, f"driver {path}") == [f"driver {path}", str(driver.pid), node]
        go_on(client, stop)
    finished(client, driver, "16", stops=8)
