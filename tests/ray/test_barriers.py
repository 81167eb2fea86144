"""Barriers (docs/usage/barriers.md) in a launched program whose actors start one after the other, and may die."""

import os
import re
import signal
from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Cluster

from support.launched import ended, line_of
from support.look import bodies, go_on

PROGRAM = """\
import os
import time
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, rank):
        self.rank = rank

    def pid(self):
        return os.getpid()

    def train(self):
        for step in range(3):
            total = self.rank + step  # the barrier
        while self.rank == 0:
            time.sleep(0.05)  # the first is behind
        return self.meet(total)

    def meet(self, total):
        return total  # the second barrier

if __name__ == "__main__":
    ray.init()
    trainers = []
    for rank in range(4):
        trainers.append(Trainer.remote(rank))
        print(f"pid of {rank}: {ray.get(trainers[-1].pid.remote())}", flush=True)
    calls = [trainer.train.remote() for trainer in trainers]
    for call in calls:
        try:
            print(f"trained: {ray.get(call)}", flush=True)
        except ray.exceptions.ActorDiedError:
            print("trained: died", flush=True)
"""


def test_all_arrive_at_a_barrier(client: Client, cluster: Cluster, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    barriers = [{"line": line_of(PROGRAM, text), "hitCondition": "all"} for text in ("# the barrier", "# the second")]
    launch(client, cluster, program, barriers)
    for step in range(3):
        stops = [client.wait_event("stopped", timeout=60) for _ in range(4)]
        assert {stop["reason"] for stop in stops} == {"breakpoint"}
        assert client.request("raydap/barriers") == {"barriers": []}
        (group,) = client.request("raydap/evaluate", expression="step")["groups"]
        assert (len(group["members"]), group["value"]) == (4, str(step))
        client.request("raydap/continue")

    # No stop is shown, and the progress names the missing worker and its line.
    behind = line_of(PROGRAM, "# the first is behind")
    progress = client.wait_event("progressStart", lambda body: "Barrier at program.py" in body["title"])
    pids = {int(rank): int(pid) for rank, pid in re.findall(r"pid of (\d): (\d+)", output(client))}
    # The program creates its trainers in the order of its own ranks.
    wanted = {f"3 of 4 arrived, missing: Trainer 0 (running, program.py:{line})" for line in (behind - 1, behind)}
    client.wait_event("progressUpdate", lambda body: body["message"] in wanted, timeout=60)
    assert client.request("threads") == {"threads": []}
    (barrier,) = client.request("raydap/barriers")["barriers"]
    assert numbers_in(barrier["label"]) == {1, 2, 3}
    assert barrier["text"] in wanted

    os.kill(pids[3], signal.SIGKILL)
    client.wait_event("progressUpdate", lambda body: "2 of 3 arrived" in body["message"], timeout=60)
    os.kill(pids[0], signal.SIGKILL)
    stops = [client.wait_event("stopped", timeout=60) for _ in range(2)]
    client.wait_event("progressEnd", lambda body: body["progressId"] == progress["progressId"])
    for stop in stops:
        go_on(client, stop)
    text = ended(client)
    assert [line for line in text.splitlines() if line.startswith("trained")] == [
        "trained: died",
        *[f"trained: {rank + 2}" for rank in range(1, 3)],
        "trained: died",
    ]


def launch(client: Client, cluster: Cluster, program: Path, breakpoints: list[dict[str, Any]]) -> None:
    client.request("initialize", adapterID="raydap", supportsProgressReporting=True)
    where = {"program": str(program), "cwd": str(program.parent), "dashboard": cluster.dashboard}
    launched = client.send("launch", **where, env={"RAY_ADDRESS": cluster.address})
    client.wait_event("initialized")
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=breakpoints)
    client.request("configurationDone")
    client.result(launched)


def numbers_in(label: str) -> set[int]:
    """Return the numbers in a label such as `Trainer{0-2,4}`."""
    ranges = [each.split("-") for each in label.removeprefix("Trainer{").removesuffix("}").split(",")]
    return {number for each in ranges for number in range(int(each[0]), int(each[-1]) + 1)}


def output(client: Client) -> str:
    return "".join(body["output"] for body in bodies(client, "output"))
