"""Real Ray workers: 24 at once, compared with a bare parallel script, and the delay until a pause is shown."""

import asyncio
import contextlib
import json
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from local_cluster import Child, Cluster

from bench.connection import Connection, milliseconds
from bench.report import Row, against, within
from bench.stepping import HUMAN, Side
from raydap.wire.framing import Decoder, encode
from support.bridge import Bridge

ACTORS = """
import ray, sys

@ray.remote(num_cpus=0.1)
class Actor:
    def work(self):
        total = 0
        while True:
            breakpoint()
            total += 1

ray.init(log_to_driver=False)
actors = [Actor.remote() for _ in range(int(sys.argv[1]))]
ray.get([actor.work.remote() for actor in actors])
"""

ONE_AFTER_ANOTHER = """
import ray, sys

@ray.remote(num_cpus=0.1)
class Actor:
    def work(self):
        breakpoint()

ray.init(log_to_driver=False)
for _ in range(int(sys.argv[1])):
    actor = Actor.remote()
    ray.get(actor.work.remote())
    ray.kill(actor)
"""

PAUSED = (
    "/api/v0/workers?detail=1&limit=10000&filter_keys=num_paused_threads&filter_predicates=!%3D&filter_values=0"
    "&filter_keys=is_alive&filter_predicates=%3D&filter_values=True"
)

REST = 3.0
"""Seconds between two sessions with the same workers.

An adapter that is dialled before it has finished its last session stops answering, and nothing shows when it has
finished.
"""


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    workers, repeats = (6, 1) if quick else (24, 5)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(num_cpus=8))
        bridge = Bridge.start(directory / "bridge-ray.log")
        stack.callback(bridge.end)
        with _job(ACTORS, workers, cluster, directory):
            bare: list[list[float]] = []
            through: list[list[float]] = []
            for _ in range(repeats):
                bare.append(asyncio.run(_bare(_await_paused(cluster, workers))))
                time.sleep(REST)
                _await_paused(cluster, workers)
                through.append(_through(bridge, cluster, workers))
                time.sleep(REST)
            for place, (name, factor) in enumerate(_TARGETS):
                yield against(
                    f"{workers} Ray workers: {name}",
                    [sample[place] for sample in bare],
                    [sample[place] for sample in through],
                    factor=factor,
                )
        with _job(ACTORS, 2, cluster, directory):
            yield against(
                "Ray worker: next across breakpoint() lines",
                *(_stepped(bridge, cluster, way, 5 if quick else 40) for way in (False, True)),
                factor=1 / 20,
            )
        pauses = list(_seen(bridge, cluster, directory, 3 if quick else 10))
        yield within("pause visible until stopped", pauses, 300, "ms")


_TARGETS = (
    ("attach all, shown", 1.2),
    ("continue all, stopped again, human pace", 1 / 5),
    ("continue all, stopped again, back to back", 1 / 5),
)


def _job(source: str, count: int, cluster: Cluster, directory: Path) -> Child:
    program = directory / "job.py"
    program.write_text(source)
    environment = {"RAY_ADDRESS": cluster.address}
    return Child([sys.executable, str(program), str(count)], directory / "job.log", environment)


def _paused(cluster: Cluster) -> list[dict[str, Any]]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(cluster.dashboard + PAUSED, timeout=10) as answer:
        listed = json.load(answer)["data"]["result"]
    rows: list[dict[str, Any]] = listed["result"] if isinstance(listed, dict) else listed
    return rows


def _await_paused(cluster: Cluster, count: int) -> list[tuple[str, int]]:
    """Wait until this many workers are paused, and return the addresses of their adapters."""
    deadline = time.monotonic() + 120
    while len(rows := _paused(cluster)) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(rows)} of {count} workers are paused")
        time.sleep(0.1)
    return [(row["ip"], row["debugger_port"]) for row in rows]


def _through(bridge: Bridge, cluster: Cluster, count: int) -> list[float]:
    """Return the milliseconds until all workers are shown, and twice from the first continue until all stop again."""
    began = time.perf_counter()
    with Connection(bridge.host, bridge.port) as client:
        client.start({"dashboard": cluster.dashboard, "justMyCode": False})
        stops = client.take("stopped", count)
        attached = milliseconds(began)
        time.sleep(HUMAN)
        resumed = []
        for _ in range(2):
            began = time.perf_counter()
            for stop in stops:
                client.send("continue", {"threadId": stop["threadId"]})
            stops = client.take("stopped", count)
            resumed.append(milliseconds(began))
        client.leave()
    return [attached, *resumed]


def _stepped(bridge: Bridge, cluster: Cluster, way: bool, count: int) -> list[float]:
    """Return the milliseconds of steps in one worker. Each way uses a worker without an earlier session."""
    host, port = _await_paused(cluster, 1 if way else 2)[0]
    if way:
        place, arguments = (bridge.host, bridge.port), {"workers": [f"{host}:{port}"], "justMyCode": False}
    else:
        place, arguments = (host, port), {"justMyCode": False}
    with Connection(*place) as client:
        client.start(arguments)
        side = Side(client, client.event("stopped")["threadId"])
        side.step_and_refresh("next")
        return [side.step("next") for _ in range(count)]


async def _bare(places: list[tuple[str, int]]) -> list[float]:
    """Measure the same as `_through` without a bridge: a small script attaches to all workers at once."""
    began = time.perf_counter()
    workers = await asyncio.gather(*(_Bare.attach(host, port) for host, port in places))
    attached = milliseconds(began)
    await asyncio.sleep(HUMAN)
    resumed = []
    for _ in range(2):
        began = time.perf_counter()
        await asyncio.gather(*(worker.resume() for worker in workers))
        resumed.append(milliseconds(began))
    await asyncio.gather(*(worker.leave() for worker in workers))
    return [attached, *resumed]


class _Bare:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._decoder = Decoder()
        self._heard: list[dict[str, Any]] = []
        self._seq = 0
        self._thread = 0

    @classmethod
    async def attach(cls, host: str, port: int) -> "_Bare":
        self = cls(*await asyncio.open_connection(host, port))
        self._send("initialize", adapterID="bare", linesStartAt1=True, columnsStartAt1=True)
        self._send("attach", justMyCode=False)
        await self._until("initialized")
        self._send("setExceptionBreakpoints", filters=["uncaught"])
        self._send("configurationDone")
        self._thread = (await self._until("stopped"))["threadId"]
        return self

    async def resume(self) -> None:
        self._send("continue", threadId=self._thread)
        self._thread = (await self._until("stopped"))["threadId"]

    async def leave(self) -> None:
        self._send("disconnect", terminateDebuggee=False)
        await self._until("disconnect")
        self._writer.close()

    def _send(self, command: str, **arguments: Any) -> None:
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        self._writer.write(encode(msgspec.json.encode(message)))

    async def _until(self, name: str) -> dict[str, Any]:
        """Wait for an event or a response with this name, and return its body."""
        while True:
            while self._heard:
                message = self._heard.pop(0)
                if name in (message.get("event"), message.get("command")):
                    body: dict[str, Any] = message.get("body") or {}
                    return body
            data = await self._reader.read(1 << 16)
            if not data:
                raise ConnectionError(f"closed while waiting for {name}")
            self._heard += [msgspec.json.decode(body) for body in self._decoder.feed(data)]


def _seen(bridge: Bridge, cluster: Cluster, directory: Path, count: int) -> Iterator[float]:
    """Yield the milliseconds from the time when Ray lists a worker as paused until the client receives its stop.

    A second thread queries Ray every 10 ms, which is the resolution of this measure. If the stop arrives before that
    thread has seen the worker listed, the delay counts as 0.
    """
    visible: dict[int, float] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            for row in _paused(cluster):
                visible.setdefault(row["pid"], time.perf_counter())

    with Connection(bridge.host, bridge.port) as client:
        client.start({"dashboard": cluster.dashboard, "justMyCode": False})
        looking = threading.Thread(target=look)
        looking.start()
        try:
            with _job(ONE_AFTER_ANOTHER, count, cluster, directory):
                for _ in range(count):
                    stop = client.event("stopped")
                    now = time.perf_counter()
                    listed = client.request("threads")["threads"]
                    name = next(thread["name"] for thread in listed if thread["id"] == stop["threadId"])
                    pid = int(name.split(" · ")[1])
                    client.send("continue", {"threadId": stop["threadId"]})
                    yield max(0.0, now - visible.get(pid, now)) * 1000
        finally:
            over.set()
            looking.join()
        client.leave()
