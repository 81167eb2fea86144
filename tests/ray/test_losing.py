"""Workers and editors join and leave. The rest keeps working."""

import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.look import attach_to, evaluate, go_on, local_variables, problems, walk

KILLED = """\
import ray

@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self, number):
        for turn in range(2):
            breakpoint()
        return number

ray.init()
walkers = [Walker.remote() for _ in range(2)]
arrived = []
for call in [walker.walk.remote(number) for number, walker in enumerate(walkers)]:
    try:
        arrived.append(ray.get(call))
    except ray.exceptions.RayActorError:
        arrived.append("lost")
print("result: " + str(arrived))
"""

ITERATING = """\
import ray

@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self, turn):
        breakpoint()
        return turn

ray.init()
walkers = [Walker.remote() for _ in range(2)]
print("result: " + str([ray.get([walker.walk.remote(turn) for walker in walkers]) for turn in range(3)]))
"""


@pytest.mark.core
def test_a_worker_killed_while_stopped(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    driver = run_driver(KILLED)
    stops = {local_variables(client, stop)["number"]: stop for stop in (client.wait_event("stopped") for _ in range(2))}
    doomed = stops.pop("1")
    pid = int(evaluate(client, doomed, "__import__('os').getpid()"))
    os.kill(pid, signal.SIGKILL)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": doomed["threadId"]})
    with pytest.raises(RequestFailed, match="1006"):
        client.request("stackTrace", threadId=doomed["threadId"])
    go_on(client, stops["0"])
    assert walk(client, 1, "number", "turn") == {("0", "1"): 1}
    assert driver.wait() == 0, driver.output
    assert "result: [0, 'lost']" in driver.output
    client.wait_event("output", lambda body: "is gone" in body["output"])
    (told,) = problems(client)
    assert f"worker {pid} on" in told
    assert told.endswith("[raydap 3003]")


@pytest.mark.core
def test_editors_come_and_go_and_each_finds_the_next_stops(
    bridge: Bridge,
    cluster: Cluster,
    connect_to: Callable[[str, int], Client],
    run_driver: Callable[..., Child],
    children: ExitStack,
) -> None:
    driver = run_driver(ITERATING)

    def stops(client: Client, turn: str) -> set[str]:
        """Wait until both workers have stopped in this turn, and return their pids."""
        attach_to(client, cluster)
        pids = set()
        for stop in (client.wait_event("stopped"), client.wait_event("stopped")):
            assert local_variables(client, stop)["turn"] == turn
            pids.add(evaluate(client, stop, "__import__('os').getpid()"))
        return pids

    first = connect_to(bridge.host, bridge.port)
    workers = stops(first, "0")
    assert len(workers) == 2
    first.request("disconnect")

    connection = children.enter_context(socket.create_connection((bridge.host, bridge.port)))

    def reset() -> None:
        # A killed editor sends no `disconnect`, and the data for it is discarded.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)

    second = Client(connection.makefile("rb"), connection.makefile("wb"), reset)
    assert stops(second, "1") == workers
    second.close()
    connection.close()

    third = connect_to(bridge.host, bridge.port)
    assert stops(third, "2") == workers
    for thread in third.request("threads")["threads"]:
        go_on(third, {"threadId": thread["id"]})
    assert driver.wait() == 0, driver.output
    assert "result: [[0, 0], [1, 1], [2, 2]]" in driver.output
    assert problems(third) == []
