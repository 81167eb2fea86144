"""A node dies while raydap starts an agent in one of its workers: all others stay as they are, and can be reached."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.everybody import Everybody
from support.gdb import need_gdb
from support.launched import line_of, stopped_line
from support.look import go_on, problems
from support.second_node import kill_node, start_node

PROGRAM = """\
import os
import time

import ray

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self, file):
        turns = 0
        while not os.path.exists(file):
            turns += 1  # again and again
            time.sleep(0.01)
        return "ran on"

ray.init(_node_ip_address=HERE)  # Otherwise it may be a driver of the node that dies.
stop = os.path.abspath("stop")
near, doomed = [Loop.options(resources={place: 0.01}).remote() for place in PLACES]
calls = [near.run.remote(stop), doomed.run.remote(stop)]
print("running", flush=True)
try:
    print("result: " + str(ray.get(calls[1])))
except ray.exceptions.RayError as error:
    print("result: " + " ".join(map(str, [type(error).__name__, ray.get(calls[0])])))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """One of its own: for a while Ray may lead new drivers to the node that is dead."""
    with Cluster(num_cpus=2) as started:
        yield started


def test_a_node_that_dies_while_one_of_its_workers_is_reached(
    cluster: Cluster,
    client: Client,
    attach: Callable[..., Client],
    run_driver: Callable[..., Child],
    tmp_path: Path,
    children: ExitStack,
) -> None:
    need_gdb()
    host = f"127.79.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 2}"
    children.enter_context(start_node(cluster, host, "doomed", tmp_path / "doomed.log")).wait_for("runtime started")
    source = PROGRAM.replace("PLACES", repr([f"node:{cluster.host}", "doomed"])).replace("HERE", repr(cluster.host))
    driver = run_driver(source, cwd=tmp_path)
    children.callback((tmp_path / "stop").touch)
    driver.wait_for("running")
    attach(reach="any")
    everybody = Everybody(client)
    everybody.wait(lambda it: len(it.here("Loop.run")) == 2)
    rows = {row["node"]: row for row in everybody.here("Loop.run")}
    doomed = rows.pop(host)
    (near,) = rows.values()
    # Its agent is started by a call of the actor, which is busy.
    client.request("raydap/attach", workers=[doomed["key"]])
    kill_node(host)
    everybody.wait(lambda it: it.workers[doomed["key"]]["state"] == "gone")
    program = next(tmp_path.glob("program*.py"))
    line = {"line": line_of(source, "# again and again")}
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[line])
    client.request("raydap/attach", workers=[near["key"]])
    stop = client.wait_event("stopped")
    assert stopped_line(client, stop).endswith("# again and again")
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    (tmp_path / "stop").touch()
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert re.search(r"result: \w+Error ran on", driver.output), driver.output
    assert len(problems(client)) <= 1, "\n".join(problems(client))
