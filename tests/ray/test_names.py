"""A worker has one name everywhere, and the actors of a class are numbered in the order of their creation."""

import os
import signal
from collections.abc import Callable
from typing import Any

from dap_client import Client
from local_cluster import Child

import ray

PROGRAM = """\
import ray, time

@ray.remote(num_cpus=0.1, max_restarts=1, max_task_retries=1)
class Trainer:
    def __init__(self, place, others):
        # The last trainers are ready first, so the stops come in another order than the actors were created.
        time.sleep(0.4 * others)

    def train(self, place):
        breakpoint()
        return place

@ray.remote(num_cpus=0.1)
class Logger:
    def log(self):
        breakpoint()

ray.init()
trainers = []
for place in range(5):
    trainers.append(Trainer.remote(place, 4 - place))
logger = Logger.remote()
done = ray.get([*[trainer.train.remote(place) for place, trainer in enumerate(trainers)], logger.log.remote()])
ray.kill(trainers.pop(1))
late = Trainer.remote(5, 0)
ray.get(late.train.remote(5))
print("result: " + str(done))
"""

KEEPS_ORDER = tuple(int(part) for part in ray.__version__.split(".")[:2]) > (2, 39)
"""Whether the dashboard lists actors in the order of their creation. Ray 2.39 reorders the actors as they start."""


def titles(client: Client) -> dict[int, str]:
    """Return the titles of the stopped workers, by their threads."""
    workers = client.request("raydap/workers")["workers"]
    return {thread["threadId"]: worker["title"] for worker in workers for thread in worker["threads"]}


def named(client: Client, count: int) -> dict[int, str]:
    """Wait until this many workers have stopped and Ray has reported what all of them run. Return their titles."""
    while len(found := titles(client)) < count or any(title.startswith("worker ") for title in found.values()):
        client.wait_event("raydap/workersChanged")
    return found


def places(client: Client, found: dict[int, str]) -> dict[str, str]:
    """Return the value of `place` in the trainers, by their titles."""
    threads = [thread for thread, title in found.items() if title.startswith("Trainer")]
    results = client.request("raydap/evaluate", expression="place", threads=threads)["results"]
    return {found[result["threadId"]]: result["value"] for result in results}


def labels(client: Client, expression: str, **arguments: Any) -> list[tuple[str, str]]:
    groups = client.request("raydap/evaluate", expression=expression, **arguments)["groups"]
    return [(group["value"], group["label"]) for group in groups]


def test_the_actor_that_a_program_creates_first_is_number_0(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    client.request("raydap/workers")
    driver = run_driver(PROGRAM)
    found = named(client, 6)
    assert sorted(found.values()) == ["Logger", *(f"Trainer {number}" for number in range(5))]
    before = places(client, found)
    if KEEPS_ORDER:
        assert before == {f"Trainer {number}": str(number) for number in range(5)}
        assert ("False", "Trainer{0,2-4}") in labels(client, "place == 1", select="actor:Trainer")
        assert labels(client, "place", select="Trainer 3") == [("3", "Trainer 3")]
        assert labels(client, "place > 5", select="Trainer{2-3}") == [("False", "Trainer{2-3}")]
    names = {thread["id"]: thread["name"] for thread in client.request("threads")["threads"]}
    assert all(names[thread].startswith(f"{title} · ") for thread, title in found.items())

    # An actor that Ray restarts keeps its number.
    (killed,) = (thread for thread, title in found.items() if title == "Trainer 2")
    pid = next(each["pid"] for each in client.request("raydap/workers")["workers"] if each["title"] == "Trainer 2")
    os.kill(pid, signal.SIGKILL)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": killed})
    again = named(client, 6)
    assert killed not in again
    assert places(client, again) == before

    # A later actor does not get the number of an actor that has ended.
    client.request("raydap/continue")
    assert list(named(client, 1).values()) == ["Trainer 5"]
    client.request("raydap/continue")
    assert driver.wait() == 0
