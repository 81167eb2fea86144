"""A client sees all workers of a cluster, and a request about many workers reaches each of them (docs/requests.md)."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Child, Cluster

from support.look import bodies, problems

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

TWO_LINES = """\
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self, rank):
        breakpoint()
        loss = 0.5 if rank else float("nan")
        done = rank + 1
        breakpoint()
        return done

ray.init()
trainers = [Trainer.remote() for _ in range(3)]
print("result: " + str(ray.get([trainer.train.remote(rank) for rank, trainer in enumerate(trainers)])))
"""


class Roster:
    """The workers that a client has received so far."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._workers = {worker["key"]: worker for worker in client.request("raydap/workers")["workers"]}

    def wait(self, *states: str, task: str = "") -> list[dict[str, Any]]:
        """Wait until the workers that are not gone have these states, in any order, and run this task.

        Ray's lists lag, and an actor may have the name of its class at first.
        """
        while True:
            alive = [worker for worker in self._workers.values() if worker["state"] != "gone"]
            named = all(worker["task"] == task for worker in alive) or not task
            if sorted(worker["state"] for worker in alive) == sorted(states) and named:
                return sorted(alive, key=lambda worker: int(worker["pid"]))
            for worker in self._client.wait_event("raydap/workersChanged")["workers"]:
                self._workers[worker["key"]] = worker


def test_a_client_that_only_watches_has_no_effect(
    attach: Callable[..., Client], run_driver: Callable[..., Child], cluster: Cluster
) -> None:
    client = attach(autoAttach=False)
    roster = Roster(client)
    driver = run_driver(TWO_LINES)
    paused = roster.wait("paused", "paused", "paused", task="Trainer.train")
    assert {worker["actor"] for worker in paused} == {"Trainer"}
    assert {worker["node"] for worker in paused} == {cluster.host}
    assert len({worker["job"] for worker in paused}) == 1
    assert bodies(client, "stopped") == []

    chosen, other, _ = paused
    client.request("raydap/attach", workers=[chosen["key"]])
    stop = client.wait_event("stopped")
    roster.wait("stopped", "paused", "paused")
    client.request("raydap/continue", threads=[stop["threadId"]])
    client.wait_event("stopped", lambda body: body["threadId"] == stop["threadId"])
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [stop["threadId"]]

    # It is detached at its last breakpoint(), so the actor ends its work. The others still wait.
    client.request("raydap/detach", workers=[chosen["key"]])
    roster.wait("detached", "paused", "paused")
    client.request("raydap/attach", workers=[other["key"]])
    client.wait_event("stopped", lambda body: body["threadId"] != stop["threadId"])
    client.request("raydap/detach", workers=[other["key"]])
    # At its next breakpoint() it waits again, and is not attached.
    roster.wait("detached", "paused", "paused")
    client.request("raydap/attach")
    for _ in range(3):
        client.wait_event("stopped")
        client.request("raydap/continue")
    assert driver.wait() == 0, driver.output
    assert "result: [1, 2, 3]" in driver.output
    assert problems(client) == []


def await_stop(client: Client, thread: int) -> None:
    client.wait_event("stopped", lambda body: body["threadId"] == thread)


def test_many_at_once(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    roster = Roster(client)
    driver = run_driver(TWO_LINES)
    threads = [client.wait_event("stopped")["threadId"] for _ in range(3)]
    roster.wait("stopped", "stopped", "stopped", task="Trainer.train")
    for _ in range(2):
        moved = client.request("raydap/step", threadId=threads[0], command="next")["threads"]
        assert sorted(moved) == sorted(threads)
        for thread in threads:
            await_stop(client, thread)
    results = client.request("raydap/evaluate", expression="loss")["results"]
    assert sorted(result["value"] for result in results) == ["0.5", "0.5", "nan"]
    assert {result["type"] for result in results} == {"float"}
    assert {re.sub(r"\d+", "7", result["label"]) for result in results} == {"Trainer 7 · train"}
    failures = client.request("raydap/evaluate", expression="nobody")["results"]
    assert {result["error"] for result in failures} == {"NameError: name 'nobody' is not defined"}

    # One thread steps alone. Then a step of another thread leaves the first one where it is.
    client.request("next", threadId=threads[0])
    await_stop(client, threads[0])
    moved = client.request("raydap/step", threadId=threads[1], command="next")["threads"]
    assert sorted(moved) == sorted(threads[1:])
    for thread in threads[1:]:
        await_stop(client, thread)
    assert sorted(client.request("raydap/continue")["threads"]) == sorted(threads)
    for thread in threads:
        await_stop(client, thread)
    client.request("raydap/continue")
    assert driver.wait() == 0, driver.output
    assert "result: [1, 2, 3]" in driver.output
    assert problems(client) == []


def test_the_error_of_a_post_mortem(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    roster = Roster(client)
    driver = run_driver(EXAMPLES / "post_mortem.py")
    shown = roster.wait("stopped", "stopped")
    threads = [thread for worker in shown for thread in worker["threads"]]
    assert {(thread["reason"], thread["error"]) for thread in threads} == {
        ("exception", "IndexError"),
        ("exception", "KeyError"),
    }
    client.request("raydap/continue")
    assert driver.wait() == 0, driver.output
