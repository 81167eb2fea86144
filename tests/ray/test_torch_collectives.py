"""Actors of a real cluster that meet in collectives of torch: their names, and the warning."""

import importlib.util
import re
from collections.abc import Callable

import pytest
from dap_client import Client
from local_cluster import Child

from raydap.errors import Code
from support.look import go_on, name_of, problems

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed here")

COUNT = 3

PROGRAM = f"""\
import os
import sys
import ray
import torch
import torch.distributed

@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, place, store):
        # The actors' own order is another one than that of the ranks.
        self.rank = ({COUNT} - 1) - place
        torch.distributed.init_process_group(
            "gloo", init_method="file://" + store, rank=self.rank, world_size={COUNT}
        )

    def train(self):
        values = torch.full((4,), float(self.rank))
        breakpoint()
        torch.distributed.all_reduce(values)
        return values[0].item()

ray.init()
trainers = [Trainer.remote(place, sys.argv[1]) for place in range({COUNT})]
print("reduced: " + str(ray.get([each.train.remote() for each in trainers])))
"""


def test_resuming_one_alone_causes_a_warning(
    attach: Callable[..., Client], run_driver: Callable[..., Child], tmp_path: object
) -> None:
    client = attach()
    client.request("raydap/workers")
    driver = run_driver(PROGRAM, f"{tmp_path}/store")
    stops = [client.wait_event("stopped", timeout=120) for _ in range(COUNT)]
    own = client.request("raydap/evaluate", expression="self.rank")["results"]
    ranks = {each["threadId"]: int(each["value"]) for each in own}
    assert sorted(ranks.values()) == [0, 1, 2]
    for thread, rank in ranks.items():
        # This is torch's own rank of the process: none of the processes has RANK in its environment.
        (found,) = client.request("raydap/evaluate", expression="self.rank", select=f"rank:{rank}")["results"]
        assert (found["threadId"], found["value"]) == (thread, str(rank))

    # Only workers of one class meet, and Ray reports their class a little after their stops.
    for stop in stops:
        assert name_of(client, stop, r"Trainer \d+")
    compared = client.request("raydap/compare", expression="values", timeout=60)["groups"]
    found = {ranks[each["members"][0]]: each["value"] for each in compared}
    assert found[2] == "float32[4] on cpu, min 2, max 2, mean 2, std 0"
    assert len(found) == COUNT

    first = next(stop for stop in stops if ranks[stop["threadId"]] == 1)
    go_on(client, first)
    (warning,) = [each for each in problems(client) if f"[raydap {Code.COLLECTIVE.value}]" in each]
    pattern = r"You are resuming only Trainer 1, while Trainer\{0,2\} stay stopped\. They use torch\.distributed"
    assert re.search(pattern, warning)
    # The resumed worker waits for the others in the collective.
    for stop in stops:
        if stop is not first:
            go_on(client, stop)
    driver.wait_for(r"reduced: \[3\.0, 3\.0, 3\.0\]")
    assert driver.wait() == 0
