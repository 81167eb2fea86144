"""Watchpoints (docs/usage/watchpoints.md) in several workers of a launched program."""

from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support.launched import ended, line_of
from support.look import frames, go_on

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.loss = 1.0

    def train(self):
        for step in range(4):
            self.backward(step)  # backward
            done = step  # next
        return self.rank

    def backward(self, step):
        if step == self.rank:
            self.loss = float("nan")

if __name__ == "__main__":
    ray.init()
    trainers = [Trainer.remote(rank) for rank in range(3)]
    print(f"trained: {ray.get([each.train.remote() for each in trainers])}", flush=True)
"""


def test_each_worker_stops_where_its_value_changes(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    client.request("initialize", adapterID="raydap")
    where = {"program": str(program), "cwd": str(tmp_path), "dashboard": cluster.dashboard}
    launched = client.send("launch", **where, env={"RAY_ADDRESS": cluster.address})
    client.wait_event("initialized")
    data = f'["self.loss", "{program}", {line_of(PROGRAM, "# backward")}, "train"]'
    client.request("setDataBreakpoints", breakpoints=[{"dataId": data}])
    client.request("configurationDone")
    client.result(launched)
    found: dict[str, Any] = {}
    for _ in range(3):
        stop = client.wait_event("stopped", timeout=60)
        assert stop["reason"] == "data breakpoint"
        top = frames(client, stop)[0]
        assert (top["name"].endswith("train"), top["line"]) == (True, line_of(PROGRAM, "# next"))
        found[stop["raydap"]["step"]] = stop["raydap"]
        go_on(client, stop)
    assert sorted(found) == ["step 0", "step 1", "step 2"]
    assert {(each["before"], each["after"]) for each in found.values()} == {("1.0", "nan")}
    assert "trained: [0, 1, 2]" in ended(client)
