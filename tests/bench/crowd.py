"""Up to 1,000 workers: how the bridge's attach and resume times, memory and idle load grow with their number."""

import contextlib
import json
import os
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from local_cluster import Child

from bench.connection import Connection, milliseconds, processor
from bench.plot import Curve, curves
from bench.report import Row, p50, within
from support.bridge import Bridge

RECORDING = Path(__file__).parent.parent / "golden" / "debugpy_session.jsonl"

IDLE = 10.0
"""Seconds for which the idle bridge is measured."""

_CURVES = {"attach all": "s", "continue all": "s", "memory per worker": "KB"}


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    """Measure three numbers of workers. Only the largest has targets."""
    sizes = (10, 100) if quick else (10, 100, 1000)
    for size in sizes:
        yield from _crowd(directory, size, largest=size == sizes[-1], repeats=1 if quick else 3)


def _crowd(directory: Path, size: int, largest: bool, repeats: int) -> Iterator[Row]:
    """Measure with a new bridge for each repeat, so that its memory is that of a first attach."""
    attach: list[float] = []
    resume: list[float] = []
    memory: list[float] = []
    stacks: list[float] = []
    command = [sys.executable, "-m", "bench.fake_debugpy", str(size), str(RECORDING)]
    for repeat in range(repeats):
        with contextlib.ExitStack() as stack:
            fakes = stack.enter_context(Child(command, directory / f"fakes-{size}-{repeat}.log"))
            dashboard = fakes.wait_for(r"dashboard at (\S+) end")[1]
            bridge = Bridge.start(directory / f"bridge-{size}-{repeat}.log")
            stack.callback(bridge.end)
            with Connection(bridge.host, bridge.port) as client:
                before = _memory(bridge.child.pid)
                began = time.perf_counter()
                client.start({"dashboard": dashboard})
                stops = client.take("stopped", size)
                attach.append(milliseconds(began) / 1000)
                memory.append((_memory(bridge.child.pid) - before) / 1024 / size)
                began = time.perf_counter()
                assert client.request("raydap/stacks")["root"]["count"] == size
                stacks.append(milliseconds(began) / 1000)
                began = time.perf_counter()
                for stop in stops:
                    client.send("continue", {"threadId": stop["threadId"]})
                client.take("stopped", size)
                resume.append(milliseconds(began) / 1000)
                if largest and repeat == repeats - 1:
                    yield from _idle(bridge, dashboard, size)
                client.leave()
    rows = (
        ("attach all", attach, 5.0, "s"),
        ("continue all", resume, 1.0, "s"),
        ("one tree of all stacks", stacks, 1.0, "s"),
        ("memory per worker", memory, 64, "KB"),
    )
    for name, samples, allowed, unit in rows:
        title = f"{size:,} workers: {name}"
        yield within(title, samples, allowed, unit) if largest else Row(title, unit, samples)


def _idle(bridge: Bridge, dashboard: str, size: int) -> Iterator[Row]:
    """Measure the idle load. The bridge polls for the facts of stopped workers for a few seconds before."""
    time.sleep(5)
    used, asked = processor(bridge.child.pid), _requests(dashboard)
    time.sleep(IDLE)
    share = (processor(bridge.child.pid) - used) / IDLE * 100
    yield within(f"{size:,} workers: idle bridge", [share], 1.0, "% of a core")
    polls = (_requests(dashboard) - asked) / IDLE
    yield Row(f"{size:,} workers: requests to the dashboard, idle", "1/s", [polls])


def plot(rows: Sequence[Row]) -> str:
    """Return the curves over the number of workers as SVG, or "" if they were not measured."""
    found = {row.name: row for row in rows}
    lines = []
    for name, unit in _CURVES.items():
        points = [
            (float(size), p50(found[title].bridge))
            for size in (10, 100, 1000)
            if (title := f"{size:,} workers: {name}") in found
        ]
        if points:
            lines.append(Curve(f"{name} ({unit})", points))
    return curves("Growth with the number of workers", "workers", lines) if lines else ""


def _memory(pid: int) -> int:
    """Return the resident memory in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _requests(dashboard: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{dashboard}/requests", timeout=10) as answer:
        return int(json.load(answer))
