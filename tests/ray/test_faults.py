"""Nodes, Ray's services, debuggers and bridges die or hang: the rest keeps working, and the user gets one message.

These tests break a cluster of their own.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster

from support import processes
from support.bridge import Hub
from support.everybody import Everybody
from support.gdb import need_gdb
from support.launched import stopped_line
from support.look import attach_to, evaluate, go_on, line_of, local_variables, problems, walk
from support.paused_workers import paused_workers
from support.second_node import kill_node, service, start_node

WALKERS = """\
import ray

@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self, number):
        for turn in range(2):
            breakpoint()
        return number

ray.init()
walkers = [Walker.options(resources=place).remote() for place in PLACES]
arrived = []
for call in [walker.walk.remote(number) for number, walker in enumerate(walkers)]:
    try:
        arrived.append(ray.get(call))
    except ray.exceptions.RayError as error:
        arrived.append(type(error).__name__)
print(f"result: {arrived}")  # At once: Ray prints what workers say from another thread.
"""

RUNNER = """\
import ray

@ray.remote(num_cpus=0.1, max_retries=0)
def run(number):
    breakpoint()
    print("RUNS", flush=True)
    while number:
        pass
    return number

ray.init()
arrived = []
for call in [run.remote(0), run.remote(1)]:
    try:
        arrived.append(ray.get(call))
    except ray.exceptions.RayError as error:
        arrived.append(type(error).__name__)
print(f"result: {arrived}")
"""

LOOPS = """\
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
        return "continued"

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

PID = "__import__('os').getpid()"


@pytest.fixture(scope="module")
def parts() -> Iterator[ExitStack]:
    """Parts of the cluster that are started later. They end with it."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def cluster(parts: ExitStack) -> Cluster:
    return parts.enter_context(Cluster(num_cpus=4, network="127.78"))


class Node(NamedTuple):
    host: str
    """Its address."""
    resource: str
    """The name of a resource that only this node has.

    It is a new one for each node: for some seconds, Ray would start a worker on the dead node of an earlier test if
    that node had the resource, too.
    """


@pytest.fixture
def doomed_node(cluster: Cluster, children: ExitStack, tmp_path: Path, request: pytest.FixtureRequest) -> Node:
    """Start a second node, and return its address and resource."""
    node = Node(cluster.host.replace("127.78.", "127.79."), f"only_in_{request.node.name}")
    child = children.enter_context(start_node(cluster, *node, tmp_path / "node.log"))
    child.wait_for("Ray runtime started")
    return node


def by_number(client: Client, count: int) -> dict[str, dict[str, Any]]:
    """Wait for the next stops, and return them by the local variable `number`."""
    stops = (client.wait_event("stopped") for _ in range(count))
    return {local_variables(client, stop)["number"]: stop for stop in stops}


def told(client: Client, part: str) -> None:
    """Wait until this text is in the console."""
    client.wait_event("output", lambda body: part in body["output"])


def gone(client: Client, stop: dict[str, Any]) -> None:
    """Wait until the thread of a lost worker is removed. Check that its ids are invalid."""
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    with pytest.raises(RequestFailed, match="1006"):
        client.request("stackTrace", threadId=stop["threadId"])


def test_a_node_that_dies(attach: Callable[..., Client], run_driver: Callable[..., Child], doomed_node: Node) -> None:
    client = attach()
    driver = run_driver(WALKERS.replace("PLACES", repr([{}, {doomed_node.resource: 1}])))
    stops = by_number(client, 2)
    doomed = stops.pop("1")
    kill_node(doomed_node.host)
    gone(client, doomed)
    told(client, "is gone")
    go_on(client, stops["0"])
    assert walk(client, 1, "number", "turn") == {("0", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0, 'ActorUnavailableError']" in driver.output or "result: [0, 'ActorDiedError']" in driver.output
    (text,) = problems(client)
    assert text.endswith("The other workers are not affected. [raydap 3003]")


def test_a_node_that_dies_while_one_of_its_workers_is_reached(
    cluster: Cluster,
    client: Client,
    attach: Callable[..., Client],
    run_driver: Callable[..., Child],
    doomed_node: Node,
    tmp_path: Path,
    children: ExitStack,
) -> None:
    """The node dies while raydap starts an agent in one of its workers. All others are unchanged and reachable."""
    need_gdb()
    places = [f"node:{cluster.host}", doomed_node.resource]
    source = LOOPS.replace("PLACES", repr(places)).replace("HERE", repr(cluster.host))
    driver = run_driver(source, cwd=tmp_path)
    children.callback((tmp_path / "stop").touch)
    driver.wait_for("running")
    attach(reach="any")
    everybody = Everybody(client)
    everybody.wait(lambda it: len(it.here("Loop.run")) == 2)
    rows = {row["node"]: row for row in everybody.here("Loop.run")}
    doomed = rows.pop(doomed_node.host)
    (near,) = rows.values()
    # raydap starts the agent by a call of the actor, which is busy.
    client.request("raydap/attach", workers=[doomed["key"]])
    kill_node(doomed_node.host)
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
    assert re.search(r"result: \w+Error continued", driver.output), driver.output
    assert len(problems(client)) <= 1, "\n".join(problems(client))


def test_a_worker_killed_while_it_runs(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    driver = run_driver(RUNNER)
    stops = by_number(client, 2)
    pid = int(evaluate(client, stops["1"], PID))
    go_on(client, stops["1"])
    driver.wait_for("RUNS")
    os.kill(pid, signal.SIGKILL)
    gone(client, stops["1"])
    go_on(client, stops["0"])
    assert driver.wait() == 0, driver.output
    assert "result: [0, 'WorkerCrashedError']" in driver.output
    told(client, f"The running worker {pid} on")
    assert len(problems(client)) == 1


@pytest.mark.core
def test_the_debugger_of_a_worker_killed(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    """The worker continues, listens again, and stops at its next `breakpoint()` in the same session."""
    client = attach()
    driver = run_driver(WALKERS.replace("PLACES", "[{}, {}]"))
    stops = by_number(client, 2)
    port = evaluate(client, stops["1"], "__import__('ray')._private.worker.global_worker.debugger_port")
    os.kill(processes.listening_on(int(port)), signal.SIGKILL)
    gone(client, stops["1"])
    told(client, "can stop here again at its next breakpoint()")
    go_on(client, stops["0"])
    assert walk(client, 2, "number", "turn") == {("0", "1"): 1, ("1", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0, 1]" in driver.output
    assert problems(client)[0].endswith("The other workers are not affected. [raydap 3003]")


def test_a_gcs_that_does_not_answer(
    attach: Callable[..., Client], run_driver: Callable[..., Child], cluster: Cluster, children: ExitStack
) -> None:
    """The GCS hangs until raydap has noticed, which takes 10 seconds (dashboard/rest.py).

    A `breakpoint()` that begins during this time waits for the GCS inside Ray.
    """
    client = attach()
    driver = run_driver(WALKERS.replace("PLACES", "[{}, {}]"))
    stops = by_number(client, 2)
    pid, _ = service("gcs_server", str(cluster.directory))
    children.callback(os.kill, pid, signal.SIGCONT)
    processes.freeze(pid)
    client.request("next", threadId=stops["0"]["threadId"])
    assert client.wait_event("stopped")["reason"] == "step"
    go_on(client, stops["0"])
    told(client, "[raydap 2002]")
    assert evaluate(client, stops["1"], "turn") == "0"
    os.kill(pid, signal.SIGCONT)
    told(client, "answers again")
    go_on(client, stops["1"])
    assert walk(client, 2, "number", "turn") == {("0", "1"): 1, ("1", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0, 1]" in driver.output
    found_again(client, run_driver)
    assert len(problems(client)) == 1


def test_a_dashboard_that_is_restarted(
    attach: Callable[..., Client],
    run_driver: Callable[..., Child],
    cluster: Cluster,
    parts: ExitStack,
    tmp_path: Path,
) -> None:
    client = attach()
    driver = run_driver(WALKERS.replace("PLACES", "[{}]"))
    stop = client.wait_event("stopped")
    pid, command = service("dashboard/dashboard.py", str(cluster.directory))
    os.kill(pid, signal.SIGTERM)
    told(client, "[raydap 2002]")
    assert evaluate(client, stop, "turn") == "0"
    port = cluster.dashboard.rpartition(":")[2]
    command = [f"--port={port}" if word.startswith("--port=") else word for word in command]
    parts.enter_context(Child(command, tmp_path / "dashboard.log"))
    told(client, "answers again")
    go_on(client, stop)
    assert walk(client, 1, "number", "turn") == {("0", "1"): 1}
    assert driver.wait() == 0, driver.output
    found_again(client, run_driver)
    assert len(problems(client)) == 1


def found_again(client: Client, run_driver: Callable[..., Child]) -> None:
    """Check that a worker that pauses after an outage is found as usual."""
    driver = run_driver(WALKERS.replace("PLACES", "[{}]"))
    assert walk(client, 2, "number", "turn") == {("0", "0"): 1, ("0", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0]" in driver.output


@pytest.mark.parametrize("debuggers_die", [False, True])
def test_a_hub_that_is_killed(
    cluster: Cluster,
    run_driver: Callable[..., Child],
    connect_to: Callable[[str, int], Client],
    children: ExitStack,
    tmp_path: Path,
    debuggers_die: bool,
) -> None:
    """The kernel closes the hub's connections, debugpy resumes the workers, and a new hub finds their next stops.

    If debugpy dies too, as it does while it sends a response to the dead hub, the worker listens again
    (inworker/relisten.py).
    """
    killed = Hub.start(tmp_path / "killed.log")
    children.push(killed.child)
    first = connect_to(killed.host, killed.port)
    attach_to(first, cluster, token=killed.token)
    driver = run_driver(WALKERS.replace("PLACES", "[{}, {}]"))
    by_number(first, 2)
    killed.child.process.kill()
    ports = [worker["debugger_port"] for worker in paused_workers(cluster, 2)]
    if debuggers_die:
        for port in ports:
            os.kill(processes.listening_on(port), signal.SIGKILL)
    hub = Hub.start(tmp_path / "new.log")
    children.callback(hub.end)
    second = connect_to(hub.host, hub.port)
    attach_to(second, cluster, token=hub.token)
    assert walk(second, 2, "number", "turn") == {("0", "1"): 1, ("1", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0, 1]" in driver.output
