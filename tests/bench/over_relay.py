"""Up to 1,000 fake workers of one node, reached only over the relay of a real cluster."""

import contextlib
import json
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from local_cluster import Child, Cluster

from bench.connection import Connection, milliseconds
from bench.crowd import RECORDING
from bench.report import Row, within


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    size, repeats = (100, 2) if quick else (1000, 5)
    stacks: list[float] = []
    evaluate: list[float] = []
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(num_cpus=2))
        session = _ask(cluster, "/api/version")["session_name"]
        node = _ask(cluster, "/api/v0/nodes")["data"]["result"]["result"][0]["node_id"]
        command = [sys.executable, "-m", "bench.fake_debugpy", str(size), str(RECORDING)]
        fakes = stack.enter_context(
            Child([*command, "--node", node, "--session", session], directory / "fakes-relay.log")
        )
        dashboard = fakes.wait_for(r"dashboard at (\S+) end")[1]
        command = [sys.executable, "-m", "raydap", "serve", "--dashboard", dashboard, "--no-token", "--relay", "always"]
        hub = stack.enter_context(Child(command, directory / "hub-relay.log"))
        host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
        with Connection(host, int(port)) as client:
            began = time.perf_counter()
            client.start({})
            client.take("stopped", size)
            attach = milliseconds(began) / 1000
            for _ in range(repeats):
                began = time.perf_counter()
                assert client.request("raydap/stacks")["root"]["count"] == size
                stacks.append(milliseconds(began) / 1000)
                began = time.perf_counter()
                assert len(client.request("raydap/evaluate", expression="1")["results"]) == size
                evaluate.append(milliseconds(began) / 1000)
            client.leave()
    yield Row(f"{size:,} workers over the relay: attach all, with its start", "s", [attach])
    yield within(f"{size:,} workers over the relay: one tree of all stacks", stacks, 1.0, "s")
    yield Row(f"{size:,} workers over the relay: evaluate in all", "s", evaluate)


def _ask(cluster: Cluster, path: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(cluster.dashboard + path, timeout=10) as answer:
        return json.load(answer)
