"""Prepared workers on other nodes than raydap's: the relay finds them, and accepts the calls of new workers.

Both nodes are on this machine and share a folder for sockets, so the hubs are configured to reach nothing directly.
"""

import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support import processes
from support.launched import stopped_line
from support.look import bodies, evaluate, go_on, line_of, problems
from support.second_node import kill_node, start_node

PROGRAM = """\
import os
import sys
import time

import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
class Loop:
    def __init__(self):
        self.name = "loop"  # in __init__

    def get_name(self):
        return self.name

    def run(self, file):
        turns = 0
        while not os.path.exists(file):
            turns += 1  # again and again
            time.sleep(0.01)
        return turns > 0

@ray.remote(num_cpus=0.1, max_calls=1, resources={"far": 0.1})
def later():
    value = "new"
    return value  # in a new worker

if __name__ == "__main__":
    ray.init()
    loop = Loop.remote()
    running = loop.run.remote(os.path.abspath("stop"))
    print("running", flush=True)
    values = []
    for name in sys.argv[1:]:
        while not os.path.exists(name):
            time.sleep(0.01)
        env = {"env_vars": {"NEW": name}}
        if name == "actor":
            values.append(ray.get(Loop.options(runtime_env=env).remote().get_name.remote()))
        else:
            values.append(ray.get(later.options(runtime_env=env).remote()))
    print("result: " + " ".join(map(str, [*values, ray.get(running)])))
"""
"""A program that starts a new worker, an actor or a task, when a file with the name of an argument exists."""

DOOMED = """\
import os
import time

import ray

@ray.remote(num_cpus=0.1, max_retries=0)
def loop(file):
    turns = 0
    while not os.path.exists(file):
        turns += 1  # again and again
        time.sleep(0.01)
    return "continued"

if __name__ == "__main__":
    ray.init(_node_ip_address=HERE)  # Otherwise it may be a driver of the node that dies.
    stop = os.path.abspath("stop")
    calls = [loop.options(resources={node: 0.01}).remote(stop) for node in ("node:" + HERE, "far")]
    print("running", flush=True)
    try:
        print("result: " + str(ray.get(calls[1])))
    except ray.exceptions.RayError as error:
        print("result: " + " ".join(map(str, [type(error).__name__, ray.get(calls[0])])))
"""

NODE_REACHED = r"connected to the agents on node \w+ over the relay"

RAYDAP = [sys.executable, "-m", "raydap"]


class FarNode:
    """A second node of the cluster, with the resource `far`. `stack` ends it."""

    def __init__(self, cluster: Cluster, folder: Path, stack: ExitStack) -> None:
        self._cluster = cluster
        self._folder = folder
        self._stack = stack
        self._started = 0
        self.host = ""

    def start(self) -> None:
        self._started += 1
        network = f"127.{77 + self._started}"
        host = self._cluster.host.replace("127.77", network)
        log = self._folder / f"{network}.log"
        self._stack.enter_context(start_node(self._cluster, host, "far", log)).wait_for("Ray runtime started")
        self.host = host

    def kill(self) -> None:
        host, self.host = self.host, ""
        kill_node(host)


@pytest.fixture(scope="module")
def far_nodes(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarNode]:
    with ExitStack() as stack:
        yield FarNode(cluster, tmp_path_factory.mktemp("far"), stack)


@pytest.fixture
def far_node(far_nodes: FarNode) -> FarNode:
    """Return the second node of this file. It is started again if a test has killed it."""
    if not far_nodes.host:
        far_nodes.start()
    return far_nodes


@pytest.fixture
def program(tmp_path: Path, children: ExitStack) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    children.callback((tmp_path / "stop").touch)
    return path


@pytest.fixture
def run(cluster: Cluster, program: Path, children: ExitStack, far_node: FarNode) -> Callable[..., Child]:
    def start(*arguments: str) -> Child:
        command = [*RAYDAP, "run", str(program), *arguments]
        environment = {"RAY_ADDRESS": cluster.address}
        return children.enter_context(Child(command, program.with_suffix(".log"), environment, program.parent))

    return start


@pytest.fixture
def hub(cluster: Cluster, children: ExitStack, tmp_path: Path, far_node: FarNode) -> Callable[[], Child]:
    """Return a function that starts a hub without direct connections to workers."""

    def start() -> Child:
        log = tmp_path / f"hub{len(list(tmp_path.glob('hub*')))}.log"
        command = [*RAYDAP, "serve", "--dashboard", cluster.dashboard, "--no-token", "--relay", "always", "-v"]
        return children.enter_context(Child(command, log))

    return start


@pytest.fixture
def attach(program: Path, connect_to: Callable[[str, int], Client]) -> Callable[..., Client]:
    """Return a function that starts a client of a hub, with breakpoints at the lines with these texts."""

    def start(hub: Child, *texts: str, **arguments: object) -> Client:
        host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
        client = connect_to(host, int(port))
        breakpoints = {str(program): [line_of(program.read_text(), text) for text in texts]}
        client.start_session("attach", dict(arguments), breakpoints=breakpoints, filters=["uncaught"])
        return client

    return start


def set_breakpoints(client: Client, program: Path, *texts: str) -> None:
    wanted = [{"line": line_of(program.read_text(), text)} for text in texts]
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)


def leave(client: Client, program: Path) -> None:
    """Remove the breakpoints and continue before disconnecting, because the hub would hold stopped workers."""
    set_breakpoints(client, program)
    client.request("raydap/continue")
    client.request("disconnect")


def until(client: Client, text: str) -> dict[str, object]:
    """Return the next stop in the line with this text, and continue from all others."""
    while text not in stopped_line(client, stop := client.wait_event("stopped")):
        go_on(client, stop)
    return stop


def relay_actors() -> list[int]:
    """Return the pids of the relay's actors that this test session has started."""
    return [pid for pid in processes.marked() if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::RaydapRe")]


def sockets(cluster: Cluster) -> list[str]:
    return sorted(path.name for path in cluster.directory.glob("session_2*/sockets/raydap-call-*"))


@pytest.mark.core
def test_workers_stop_also_when_the_actors_and_raydap_were_killed(
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    hub: Callable[[], Child],
    attach: Callable[..., Client],
    far_node: FarNode,
) -> None:
    child = run("actor", "task1", "task2", "task3")
    child.wait_for("running")
    first = hub()
    client = attach(first, "# again and again")
    a_running_actor_and_new_workers_stop(client, program, far_node)
    assert len(sockets(cluster)) == 1, "nodes that share a folder have one socket"
    assert problems(client) == []
    a_worker_is_reached_again_when_the_actor_on_its_node_was_killed(client, program, first)
    the_workers_run_on_when_raydap_is_killed(client, program, first)
    assert sockets(cluster) == []
    a_new_worker_is_called_by_the_next_raydap(hub(), attach, program)
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output
    assert "result: loop new new new True" in child.output


def a_running_actor_and_new_workers_stop(client: Client, program: Path, far_node: FarNode) -> None:
    stop = until(client, "# again and again")
    (listed,) = (row for row in client.request("raydap/workers")["workers"] if row["state"] == "stopped")
    assert listed["node"] == far_node.host
    go_on(client, stop)
    set_breakpoints(client, program, "# in __init__", "# in a new worker")
    for name in ("actor", "task1"):
        (program.parent / name).touch()
    for expected in ("# in __init__", "# in a new worker"):
        stop = client.wait_event("stopped")
        while "# again" in stopped_line(client, stop):
            go_on(client, stop)
            stop = client.wait_event("stopped")
        assert expected in stopped_line(client, stop)
        go_on(client, stop)


def a_worker_is_reached_again_when_the_actor_on_its_node_was_killed(
    client: Client, program: Path, serving: Child
) -> None:
    set_breakpoints(client, program, "# again and again")
    until(client, "# again and again")
    # Wait for the driver, too: a failed attach would be a further problem.
    serving.wait_for("attached to [^|]*attached to ")
    deadline = time.monotonic() + 60
    while len(killed := relay_actors()) < 2:
        # The worker may have stopped before the actor of the other node is running.
        assert time.monotonic() < deadline
    for actor in killed:
        os.kill(actor, signal.SIGKILL)
    stop = until(client, "# again and again")
    assert not set(relay_actors()) & set(killed)
    (told,) = problems(client)
    assert "over the relay" in told
    assert "raydap attaches to it again" in told
    # The leftovers of a killed actor do not prevent calls of new workers.
    set_breakpoints(client, program, "# in a new worker")
    go_on(client, stop)
    (program.parent / "task2").touch()
    stop = until(client, "# in a new worker")
    assert evaluate(client, stop, "value") == "'new'"
    go_on(client, stop)


def the_workers_run_on_when_raydap_is_killed(client: Client, program: Path, serving: Child) -> None:
    set_breakpoints(client, program, "# again and again")
    until(client, "# again and again")
    actors = [os.pidfd_open(actor) for actor in relay_actors()]
    assert actors
    serving.process.kill()
    for actor in actors:
        assert select.select([actor], [], [], 30)[0], "an actor outlives its hub"
        os.close(actor)


def a_new_worker_is_called_by_the_next_raydap(serving: Child, attach: Callable[..., Client], program: Path) -> None:
    client = attach(serving, "# in a new worker")
    # A worker that begins before raydap can be called on its node is found only some seconds later.
    serving.wait_for(f"{NODE_REACHED}[^|]*{NODE_REACHED}")
    (program.parent / "task3").touch()
    until(client, "# in a new worker")
    leave(client, program)


def test_the_node_filter_and_reach_hold_on_other_nodes(
    cluster: Cluster, program: Path, run: Callable[..., Child], hub: Callable[[], Child], attach: Callable[..., Client]
) -> None:
    child = run("task")
    child.wait_for("running")
    first, second = hub(), hub()
    clients = [attach(first, "# again and again", "# in a new worker", node=cluster.host)]
    first.wait_for(f"{NODE_REACHED}[^|]*{NODE_REACHED}")
    clients += [attach(second, "# again and again", "# in a new worker", reach="paused")]
    for name in ("task", "stop"):
        (program.parent / name).touch()
    assert child.wait() == 0, child.output
    assert [bodies(client, "stopped") for client in clients] == [[], []]
    assert len(relay_actors()) == 2, "the second hub needs none"


def test_a_node_that_dies_takes_only_its_own_workers(
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    hub: Callable[[], Child],
    attach: Callable[..., Client],
    far_node: FarNode,
) -> None:
    """This test is the last one in the file: for a while, Ray may connect a new driver to the dead node."""
    program.write_text(DOOMED.replace("HERE", repr(cluster.host)))
    child = run()
    child.wait_for("running")
    client = attach(hub(), "# again and again")
    stops = [client.wait_event("stopped") for _ in range(2)]
    rows = {row["node"]: row for row in client.request("raydap/workers")["workers"] if row["state"] == "stopped"}
    doomed = rows.pop(far_node.host)
    far_node.kill()
    said = client.wait_event("output", lambda body: body["category"] == "important", timeout=120)["output"]
    assert str(doomed["pid"]) in said
    (stop,) = (stop for stop in stops if stop["threadId"] not in [thread["threadId"] for thread in doomed["threads"]])
    assert stopped_line(client, stop).endswith("# again and again")
    leave(client, program)
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output
    assert re.search(r"result: \w+Error continued", child.output), child.output
    assert problems(client) == [said.strip()]
