"""Workers whose debug ports can be reached only on their own node: Ray carries the bytes."""

import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from dap_client import Client
from local_cluster import Child, Cluster, clean_environment

from support import processes
from support.look import attach_to, go_on, local_variables, problems, user_frames, walk
from support.two_machines import TwoMachines

STEPS = """\
import ray

@ray.remote({options})
def count(number):
    for turn in range({turns}):
        breakpoint()
    return number

ray.init()
print("result: " + str(ray.get([count.remote(number) for number in range({tasks})])))
"""

RAYDAP = [sys.executable, "-m", "raydap"]


def relay_actors() -> list[int]:
    """Return the pids of the relay's actors that this test session has started."""
    return [pid for pid in processes.marked() if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::RaydapRe")]


def test_everything_over_the_relay(
    cluster: Cluster,
    children: ExitStack,
    connect_to: Callable[[str, int], Client],
    run_driver: Callable[..., Child],
    tmp_path: Path,
) -> None:
    command = [*RAYDAP, "serve", "--dashboard", cluster.dashboard, "--no-token", "--relay", "always", "-v"]
    hub = children.enter_context(Child(command, tmp_path / "hub.log"))
    host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
    client = connect_to(host, int(port))
    client.start_session("attach", {})
    driver = run_driver(STEPS.format(options="num_cpus=0.1", turns=2, tasks=2))
    stop = client.wait_event("stopped")
    question = {"expression": "'x' * 60_000", "frameId": user_frames(client, stop)[0]["id"], "context": "repl"}
    # The relay's own actor and driver are not listed as workers.
    client.request("raydap/workers", all=True)
    labels: set[str] = set()
    while not labels:
        changed = client.wait_event("raydap/workersChanged")["workers"]
        labels = {worker["label"] for worker in changed if worker["state"] == "alive"}
    assert any(label.startswith("driver ") for label in labels), "the program's"
    assert not any("elay" in label for label in labels), labels
    assert len(relay_actors()) == 1
    # This is more than the relay sends through Ray at a time.
    for answer in [client.send("evaluate", **question) for _ in range(40)]:
        assert client.result(answer)["result"] == repr("x" * 60_000)
    go_on(client, stop)
    assert len(walk(client, 3, "number", "turn")) == 3, "no stop comes twice"
    assert driver.wait() == 0, driver.output
    assert "result: [0, 1]" in driver.output
    assert problems(client) == []
    assert hub.output.count("using the relay for node ") == 1
    client.request("disconnect")
    client.close()

    (actor,) = relay_actors()
    descriptor = os.pidfd_open(actor)
    try:
        os.kill(hub.pid, signal.SIGKILL)
        assert select.select([descriptor], [], [], 30)[0], "an actor outlives its hub"
    finally:
        os.close(descriptor)


def test_a_firewalled_node_and_the_end_of_its_actor(machines: TwoMachines, children: ExitStack, tmp_path: Path) -> None:
    log = tmp_path / "raydap.log"
    command = [*machines.head, *RAYDAP, "adapter", "-v", "--log-file", str(log)]
    client = children.enter_context(Client.spawn(command, timeout=60, env=clean_environment({})))
    attach_to(client, machines)
    source = tmp_path / "job.py"
    source.write_text(STEPS.format(options="resources={'far': 1}", turns=3, tasks=1))
    command = [*machines.head, sys.executable, str(source)]
    driver = children.enter_context(Child(command, tmp_path / "job.log", {"RAY_ADDRESS": machines.address}))

    stop = client.wait_event("stopped")
    assert [frame["name"] for frame in user_frames(client, stop)] == ["count"]
    assert local_variables(client, stop) == {"number": "0", "turn": "0"}
    assert "no connection within 3 s" in log.read_text()
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert local_variables(client, stop)["turn"] == "1"

    # As after every lost connection, the worker continues to its next breakpoint(), and waits there.
    (actor,) = relay_actors()
    os.kill(actor, signal.SIGKILL)
    stop = client.wait_event("stopped")
    assert local_variables(client, stop)["turn"] == "2"
    assert relay_actors() != [actor]
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: [0]" in driver.output
    (told,) = problems(client)
    assert "closed over the relay" in told
    assert told.endswith("[raydap 3003]")
