"""Eight workers of a real cluster as one: their values, their stacks, and a step after which they part."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Child

COUNT = 8

PROGRAM = f"""\
import os
import sys
import time
import numpy
import ray

@ray.remote(num_cpus=0.01)
class Trainer:
    def __init__(self, rank, end):
        self.rank, sys.argv[1:] = rank, [end]
        self.weights = numpy.arange(1_000_000, dtype="f4")
        self.config = {{"lr": 0.1, "steps": 3}}
        if rank == 5:
            self.weights[999_999] = numpy.nan
        if rank == 2:
            self.config["lr"] = 0.2

    def train(self):
        loss = self.rank / 10
        breakpoint()
        loss = loss * (self.rank % 2)
        if self.rank % 4 == 3:
            return "skipped"
        self.weights[0] = self.rank
        return finish(loss)

def finish(loss):
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.05)
    return loss

ray.init()
trainers = [Trainer.remote(rank, sys.argv[1]) for rank in range({COUNT})]
ray.get([trainer.train.remote() for trainer in trainers])
print("result: ended")
"""


def runs_in_finish(node: dict[str, Any]) -> bool:
    """Return whether the stack has four running threads in `finish`, and no stopped one."""
    (inner, *others) = node["children"] or [{"frame": {"name": ""}, "running": []}]
    return not others and inner["frame"]["name"] == "finish" and len(inner["running"]) == 4


def test_many_as_one(attach: Callable[..., Client], run_driver: Callable[..., Child], tmp_path: Path) -> None:
    end = tmp_path / "end"
    client = attach()
    client.request("raydap/workers")
    driver = run_driver(PROGRAM, str(end))
    stops = [client.wait_event("stopped", timeout=120) for _ in range(COUNT)]
    ranks = {
        each["threadId"]: int(each["value"])
        for each in client.request("raydap/evaluate", expression="self.rank")["results"]
    }
    assert sorted(ranks.values()) == list(range(COUNT))

    def compare(expression: str, **more: Any) -> dict[str, Any]:
        answer = client.request("raydap/compare", expression=expression, timeout=60, **more)
        assert answer["silent"] == []
        return answer

    def members(group: dict[str, Any]) -> list[int]:
        return sorted(ranks[each] for each in group["members"])

    odd, most = compare("self.weights")["groups"]
    assert (members(odd), odd["array"]["nan"], most["array"]["nan"]) == ([5], 1, 0)
    assert (most["array"]["shape"], most["array"]["dtype"], most["array"]["max"]) == ([1_000_000], "float32", 999999)
    odd, most = compare("self.config")["groups"]
    assert (members(odd), odd["difference"]) == ([2], "['lr'] is 0.2 instead of 0.1")
    numbers = compare("loss", keep="before")
    assert numbers["statistics"]["max"] == numbers["histogram"]["high"] == 0.7
    assert members(numbers["histogram"]["lowest"]) == [0]
    assert sum(numbers["histogram"]["counts"]) == COUNT

    step = {"threadId": stops[0]["threadId"], "command": "next", "timeout": 60}
    stepped = client.request("raydap/step", **step)
    assert (len(stepped["threads"]), len(stepped["groups"]), stepped["running"]) == (COUNT, 1, [])
    # The workers part at the second of these steps.
    stepped = client.request("raydap/step", until="parted", **step)
    assert (len(stepped["threads"]), stepped["steps"], stepped["running"]) == (COUNT, 2, [])
    change = compare("loss", baseline="before")["change"]
    assert members(change["unchanged"]) == [0, *range(1, COUNT, 2)]
    groups = stepped["groups"]
    assert [members(group) for group in groups] == [[3, 7], [each for each in range(COUNT) if each not in (3, 7)]]
    skipped, others = (PROGRAM.splitlines()[group["frame"]["line"] - 1].strip() for group in groups)
    assert (skipped, others) == ('return "skipped"', "self.weights[0] = self.rank")

    tree = client.request("raydap/stacks")["root"]
    assert [members(child) for child in tree["children"]] == [members(group) for group in groups]
    located = client.request("raydap/stacks", locals=True)["root"]["children"][0]["locals"]
    (losses,) = [each["groups"] for each in located if each["name"] == "loss"]
    # Groups of one size are sorted by label, and labels follow the order in which the workers were found.
    assert sorted((members(group), group["value"]) for group in losses) == [([3], "0.3"), ([7], "0.7")]
    shown = client.request("evaluate", expression="/stacks", context="repl")["result"].splitlines()
    assert shown[0].split()[:2] == [str(COUNT), "stopped"]
    client.request("raydap/continue", select="where self.rank < 5 and self.rank != 3")
    root: dict[str, Any] = {"children": []}
    # The workers need a moment to get there.
    while not any(child["frame"]["name"] == "train" and runs_in_finish(child) for child in root["children"]):
        root = client.request("raydap/stacks", running=True)["root"]
    assert (root["count"], len(root["running"]), len(root["members"])) == (COUNT, 4, 4)
    assert len(client.request("raydap/stacks")["root"]["members"]) == 4
    end.touch()
    client.request("raydap/continue")
    driver.wait_for("result: ended")
    client.request("disconnect")
