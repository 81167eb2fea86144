"""Prepared workers on other nodes than raydap's: the relay finds them there, and takes the calls of new ones.

Both nodes are on this machine and share a folder for sockets, so raydap is told to reach nothing directly.
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
import time

import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
class Loop:
    def __init__(self):
        self.name = "loop"  # in __init__

    def run(self, file):
        turns = 0
        while not os.path.exists(file):
            turns += 1  # again and again
            time.sleep(0.01)
        return turns > 0

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def later():
    value = "new"
    return value  # in a new worker

if __name__ == "__main__":
    ray.init()
    stop, start = os.path.abspath("stop"), os.path.abspath("start")
    loop = Loop.remote()
    running = loop.run.remote(stop)
    print("running", flush=True)
    while not os.path.exists(start):
        time.sleep(0.01)
    fresh_loop = Loop.options(runtime_env={"env_vars": {"NEW": "1"}}).remote()
    fresh = fresh_loop.run.remote(stop)
    env = {"env_vars": {"NEW": "2"}}
    values = [ray.get(later.options(runtime_env=env).remote()), ray.get(running)]
    print("result: " + " ".join(map(str, values)))
    ray.get(fresh)
"""

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
    return "ran on"

if __name__ == "__main__":
    ray.init()
    stop = os.path.abspath("stop")
    calls = [loop.options(resources={node: 0.1}).remote(stop) for node in ("far", "doomed")]
    print("running", flush=True)
    try:
        print("result: " + str(ray.get(calls[1])))
    except ray.exceptions.RayError as error:
        print("result: " + " ".join(map(str, [type(error).__name__, ray.get(calls[0])])))
"""

NODE_REACHED = r"agents on node \w+ are reached over the relay"

RAYDAP = [sys.executable, "-m", "raydap"]


@pytest.fixture(scope="module")
def far_node(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a second node of the cluster, which has the resource `far`."""
    host = f"127.78.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 2}"
    with start_node(cluster, host, "far", tmp_path_factory.mktemp("far") / "ray.log") as node:
        node.wait_for("Ray runtime started")
        yield host


@pytest.fixture
def program(tmp_path: Path, children: ExitStack) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    for name in ("stop", "start"):
        children.callback((tmp_path / name).touch)
    return path


@pytest.fixture
def run(cluster: Cluster, program: Path, children: ExitStack, far_node: str) -> Callable[[], Child]:
    def start() -> Child:
        command = [*RAYDAP, "run", str(program)]
        environment = {"RAY_ADDRESS": cluster.address}
        return children.enter_context(Child(command, program.with_suffix(".log"), environment, program.parent))

    return start


@pytest.fixture
def hub(cluster: Cluster, children: ExitStack, tmp_path: Path, far_node: str) -> Callable[[], Child]:
    """Hubs that reach nothing directly."""

    def start() -> Child:
        log = tmp_path / f"hub{len(list(tmp_path.glob('hub*')))}.log"
        command = [*RAYDAP, "serve", "--dashboard", cluster.dashboard, "--no-token", "--relay", "always", "-v"]
        return children.enter_context(Child(command, log))

    return start


@pytest.fixture
def attach(program: Path, connect_to: Callable[[str, int], Client]) -> Callable[..., Client]:
    """A client of a hub, with breakpoints at the lines with these texts."""

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
    """The hub would hold what is stopped."""
    set_breakpoints(client, program)
    client.request("raydap/continue")
    client.request("disconnect")


def until(client: Client, text: str) -> dict[str, object]:
    """The next stop in the line with this text; others go on."""
    while text not in stopped_line(client, stop := client.wait_event("stopped")):
        go_on(client, stop)
    return stop


def relay_actors() -> list[int]:
    """The pids of the relay's actors that this test session has started."""
    return [pid for pid in processes.marked() if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::RaydapRe")]


def sockets(cluster: Cluster) -> list[str]:
    return sorted(path.name for path in cluster.directory.glob("session_2*/sockets/raydap-call-*"))


@pytest.mark.core
def test_a_running_actor_and_new_workers_stop(
    cluster: Cluster,
    program: Path,
    run: Callable[[], Child],
    hub: Callable[[], Child],
    attach: Callable[..., Client],
    far_node: str,
) -> None:
    child = run()
    child.wait_for("running")
    client = attach(hub(), "# again and again")
    stop = until(client, "# again and again")
    (listed,) = (row for row in client.request("raydap/workers")["workers"] if row["state"] == "stopped")
    assert listed["node"] == far_node
    go_on(client, stop)
    set_breakpoints(client, program, "# in __init__", "# in a new worker")
    (program.parent / "start").touch()
    seen = set()
    for _ in range(2):
        stop = client.wait_event("stopped")
        while "# again" in stopped_line(client, stop):
            go_on(client, stop)
            stop = client.wait_event("stopped")
        seen.add(stopped_line(client, stop).partition("# ")[2])
        go_on(client, stop)
    assert seen == {"in __init__", "in a new worker"}
    assert len(sockets(cluster)) == 1, "nodes that share a folder have one socket"
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output
    assert "result: new True" in child.output
    assert problems(client) == []


def test_a_worker_is_reached_again_when_the_actor_on_its_node_was_killed(
    program: Path, run: Callable[[], Child], hub: Callable[[], Child], attach: Callable[..., Client]
) -> None:
    child = run()
    child.wait_for("running")
    serving = hub()
    client = attach(serving, "# again and again")
    until(client, "# again and again")
    # The driver, too: an attach that fails would be told of as well.
    serving.wait_for("attached to [^|]*attached to ")
    deadline = time.monotonic() + 60
    while len(killed := relay_actors()) < 2:
        # The worker may have stopped before the actor of the other node runs.
        assert time.monotonic() < deadline
    for actor in killed:
        os.kill(actor, signal.SIGKILL)
    stop = until(client, "# again and again")
    assert not set(relay_actors()) & set(killed)
    (told,) = problems(client)
    assert "over the relay" in told
    assert "raydap attaches to it again" in told
    # What a killed actor has left does not keep others from being called.
    set_breakpoints(client, program, "# in a new worker")
    go_on(client, stop)
    (program.parent / "start").touch()
    assert evaluate(client, until(client, "# in a new worker"), "value") == "'new'"
    leave(client, program)
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output


def test_the_workers_run_on_when_raydap_is_killed(
    cluster: Cluster, program: Path, run: Callable[[], Child], hub: Callable[[], Child], attach: Callable[..., Client]
) -> None:
    child = run()
    child.wait_for("running")
    killed = hub()
    until(attach(killed, "# again and again"), "# again and again")
    actors = [os.pidfd_open(actor) for actor in relay_actors()]
    killed.process.kill()
    for actor in actors:
        assert select.select([actor], [], [], 30)[0], "an actor outlives its hub"
        os.close(actor)
    assert sockets(cluster) == []
    after = hub()
    client = attach(after, "# in a new worker")
    # A worker that begins before raydap can be called on its node is found some seconds later.
    after.wait_for(f"{NODE_REACHED}[^|]*{NODE_REACHED}")
    (program.parent / "start").touch()
    until(client, "# in a new worker")
    leave(client, program)
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output


def test_the_node_filter_and_reach_hold_on_other_nodes(
    cluster: Cluster, program: Path, run: Callable[[], Child], hub: Callable[[], Child], attach: Callable[..., Client]
) -> None:
    child = run()
    child.wait_for("running")
    first, second = hub(), hub()
    clients = [attach(first, "# again and again", "# in a new worker", node=cluster.host)]
    first.wait_for(f"{NODE_REACHED}[^|]*{NODE_REACHED}")
    clients += [attach(second, "# again and again", "# in a new worker", reach="paused")]
    (program.parent / "start").touch()
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output
    assert [bodies(client, "stopped") for client in clients] == [[], []]
    assert len(relay_actors()) == 2, "the second hub needs none"


def test_a_node_that_dies_takes_only_its_own_workers(
    cluster: Cluster,
    program: Path,
    run: Callable[[], Child],
    hub: Callable[[], Child],
    attach: Callable[..., Client],
    children: ExitStack,
    tmp_path: Path,
) -> None:
    """The last one here: for a while Ray may lead a new driver to the node that is dead."""
    host = cluster.host.replace("127.77.", "127.79.")
    children.enter_context(start_node(cluster, host, "doomed", tmp_path / "doomed.log")).wait_for("runtime started")
    program.write_text(DOOMED)
    child = run()
    child.wait_for("running")
    client = attach(hub(), "# again and again")
    stops = [client.wait_event("stopped") for _ in range(2)]
    rows = {row["node"]: row for row in client.request("raydap/workers")["workers"] if row["state"] == "stopped"}
    doomed = rows.pop(host)
    kill_node(host)
    said = client.wait_event("output", lambda body: body["category"] == "important", timeout=120)["output"]
    assert str(doomed["pid"]) in said
    (stop,) = (stop for stop in stops if stop["threadId"] not in [thread["threadId"] for thread in doomed["threads"]])
    assert stopped_line(client, stop).endswith("# again and again")
    leave(client, program)
    (program.parent / "stop").touch()
    assert child.wait() == 0, child.output
    assert re.search(r"result: \w+Error ran on", child.output), child.output
    assert problems(client) == [said.strip()]
