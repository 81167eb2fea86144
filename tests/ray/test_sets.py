"""Sets of workers on a real cluster: ranks, lines, errors and expressions (docs/usage/sets.md)."""

from collections.abc import Callable
from typing import Any

from dap_client import Client
from local_cluster import Child

from support.look import go_on

PROGRAM = """\
import os
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self, rank):
        os.environ["RANK"] = str(rank + 10)
        loss = 0.5 if rank else float("nan")
        breakpoint()
        return rank

@ray.remote(num_cpus=0.1)
class Loader:
    def load(self):
        breakpoint()
        return 7

@ray.remote(num_cpus=0.1, max_retries=0, runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}})
def prepare(part):
    raise ValueError(part)

ray.init()
trainers = [Trainer.remote() for _ in range(3)]
loaders = [Loader.options(name=f"loader_{number}").remote() for number in (2, 10)]
refs = [trainer.train.remote(rank) for rank, trainer in enumerate(trainers)]
refs += [prepare.remote(1), *(loader.load.remote() for loader in loaders)]
ray.wait(refs, num_returns=len(refs))
print("result: ended")
"""


def test_sets_of_a_real_cluster(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    workers = {worker["key"]: worker for worker in client.request("raydap/workers")["workers"]}
    driver = run_driver(PROGRAM)
    stops = [client.wait_event("stopped") for _ in range(6)]
    # Ray's lists of actors and tasks lag.
    while sum(worker["state"] == "stopped" and worker["task"] != "" for worker in workers.values()) < len(stops):
        for worker in client.wait_event("raydap/workersChanged")["workers"]:
            workers[worker["key"]] = worker

    def groups(select: str, expression: str) -> list[tuple[Any, str]]:
        answer = client.request("raydap/evaluate", expression=expression, select=select)
        assert answer["silent"] == []
        return [(group.get("value"), group["label"]) for group in answer["groups"]]

    assert groups("rank:10,12", "rank") == [("0", "Trainer 10"), ("2", "Trainer 12")]
    assert groups("actor:Trainer", "loss") == [("nan", "Trainer 10"), ("0.5", "Trainer{11-12}")]
    assert groups("Loader", "self.__class__.__name__") == [("'Loader'", "Loader{0-1}")]
    assert groups("rank:1", "1") == [("1", "loader_10")]
    assert groups("actor:loader_10", "1") == [("1", "loader_10")]
    assert groups("line:*.py:9", "rank > 1") == [("True", "Trainer 12"), ("False", "Trainer{10-11}")]
    assert [(value, name.split()[0]) for value, name in groups("error:ValueError", "part")] == [("1", "prepare")]
    assert [each for each, _ in groups("not actor:* where part == 1", "part")] == ["1"]
    assert groups("where loss != loss", "rank") == [("0", "Trainer 10")]
    numbers = client.request("raydap/evaluate", expression="loss", select="actor:Trainer")["statistics"]
    assert numbers == {"min": 0.5, "max": 0.5, "mean": 0.5, "std": 0.0, "nan": 1, "inf": 0}

    tree = client.request("raydap/stacks", select="actor:*")["root"]
    assert (tree["count"], sorted(node["label"] for node in tree["children"])) == (5, ["Loader{0-1}", "Trainer{10-12}"])
    (trainers,) = [node for node in tree["children"] if node["label"] == "Trainer{10-12}"]
    assert trainers["frame"]["name"] == "train"

    resumed = client.request("raydap/continue", select="actor:Trainer not rank:10")["threads"]
    assert len(resumed) == 2
    left = [stop for stop in stops if stop["threadId"] not in resumed]
    for stop in left:
        go_on(client, stop)
    driver.wait_for("result: ended")
    client.request("disconnect")
