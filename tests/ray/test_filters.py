"""Filters and maxWorkers: workers that they exclude stay paused for other sessions."""

import json
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable

from dap_client import Client
from local_cluster import Child, Cluster

from raydap.cluster.dashboard.dashboard_client import _PAUSED
from support.bridge import Bridge
from support.look import attach_to, bodies, go_on, local_variables, name_of, problems

MIXED = """\
import ray

@ray.remote(num_cpus=0.1)
class Apple:
    def hold(self):
        what = "apple"
        breakpoint()
        return what

@ray.remote(num_cpus=0.1)
class Banana:
    def hold(self):
        what = "banana"
        breakpoint()
        return what

@ray.remote(num_cpus=0.1)
def peel():
    what = "peel"
    breakpoint()
    return what

ray.init()
print(f"job {ray.get_runtime_context().get_job_id()}", flush=True)
apple, banana = Apple.remote(), Banana.options(name="chiquita").remote()
print("result: " + str(ray.get([apple.hold.remote(), banana.hold.remote(), peel.remote()])))
"""

ONCE = """\
import ray

@ray.remote(num_cpus=0.1, max_calls=1)
def once(number):
    breakpoint()
    return number

ray.init()
print("result: " + str(ray.get([once.remote(number) for number in range(3)])))
"""


def wait_paused(cluster: Cluster, count: int) -> None:
    """Wait until this many workers are listed as paused."""
    url = f"{cluster.dashboard}/api/v0/workers?{urllib.parse.urlencode(_PAUSED)}"
    while True:
        with urllib.request.urlopen(url) as answer:
            if len(json.load(answer)["data"]["result"]["result"]) >= count:
                return
        threading.Event().wait(0.05)


def test_each_filter_attaches_to_its_own(
    bridge: Bridge, cluster: Cluster, connect_to: Callable[[str, int], Client], run_driver: Callable[..., Child]
) -> None:
    driver = run_driver(MIXED)
    job = driver.wait_for(r"job (\w+)")[1]
    wait_paused(cluster, 3)
    # If a filter let a wrong worker through, its session would detach the worker, which would then miss in its own
    # session.
    for filters, name, what in (
        ({"actor": "Appl?"}, "Apple · hold", "apple"),
        ({"task": "peel", "node": cluster.host}, "peel", "peel"),
        ({"actor": "chiquita", "job": job, "node": "127.*"}, "chiquita · hold", "banana"),
    ):
        client = connect_to(bridge.host, bridge.port)
        attach_to(client, cluster, **filters)
        stop = client.wait_event("stopped")
        assert name_of(client, stop, name)
        assert local_variables(client, stop)["what"] == f"'{what}'"
        go_on(client, stop)
        client.wait_event("continued")
        client.request("disconnect")
        assert len(bodies(client, "stopped")) == 1
        assert problems(client) == []
    assert driver.wait() == 0, driver.output
    assert "result: ['apple', 'banana', 'peel']" in driver.output


def test_max_workers_leaves_the_others_paused(
    attach: Callable[..., Client], cluster: Cluster, run_driver: Callable[..., Child]
) -> None:
    driver = run_driver(ONCE)
    wait_paused(cluster, 3)
    client = attach(maxWorkers=1)
    seen = set()
    for _ in range(3):
        stop = client.wait_event("stopped")
        assert [thread["id"] for thread in client.request("threads")["threads"]] == [stop["threadId"]]
        seen.add(local_variables(client, stop)["number"])
        go_on(client, stop)
    assert seen == {"0", "1", "2"}
    assert driver.wait() == 0, driver.output
    (told,) = problems(client)
    assert told.endswith("[raydap 2007]")
