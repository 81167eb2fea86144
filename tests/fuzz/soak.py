"""Stop one real worker many times through one bridge, and check that each stop frees what it used.

    python -m fuzz.soak --stops 10000

At each stop, the requests of an editor are sent. Prints what the bridge holds at intervals; ends with 1 if that grows.
"""

import argparse
import asyncio
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from bench.connection import Connection
from fuzz.campaign import Campaign
from raydap.core.settings import AttachSettings, HubSettings
from raydap.runtime.engine import Engine
from raydap.transport import tcp
from raydap.transport.peer import Peer
from support import processes
from support.debuggee import Debuggee

PROGRAM = """\
import sys

def step(turn, data):
    breakpoint()
    return len(data) + turn

turn = 0
while True:
    step(turn, {"name": "x" * 20, "values": list(range(10))})
    turn += 1
"""

GROWTH = 4 * 2**20
"""How many bytes the process may grow after the first sample: 450 for each of 9,000 stops."""


@dataclass(frozen=True)
class Sample:
    """Resources of the process at one stop."""

    stops: int
    resident: int
    """Bytes of memory in use."""
    handles: int
    """Handles that are alive."""
    requests: int
    """Requests that the worker has not answered yet."""
    descriptors: int
    tasks: int


@dataclass(frozen=True)
class Served:
    """A hub in a thread of this process, whose state can be inspected."""

    engine: Engine
    loop: asyncio.AbstractEventLoop
    port: int

    def sample(self, stops: int) -> Sample:
        session = self.engine._bridge.state
        gc.collect()
        held = (Campaign.resident(), len(session.handles), len(session.pending), len(os.listdir("/proc/self/fd")))
        return Sample(stops, *held, len(asyncio.all_tasks(self.loop)))


@contextmanager
def serve() -> Iterator[Served]:
    started: list[Served] = []
    ready = threading.Event()
    ended = asyncio.Event()

    async def run() -> None:
        engine = Engine(HubSettings(AttachSettings()))
        listener = await tcp.listen("127.0.0.1", 0, lambda: engine.clients.connect(Peer))
        started.append(Served(engine, asyncio.get_running_loop(), listener.port))
        ready.set()
        await ended.wait()
        listener.close()
        await engine.close()

    thread = threading.Thread(target=asyncio.run, args=(run(),), name="hub")
    thread.start()
    assert ready.wait(60)
    try:
        yield started[0]
    finally:
        started[0].loop.call_soon_threadsafe(ended.set)
        thread.join(60)


def soak(directory: Path, stops: int, every: int) -> Iterator[Sample]:
    """Yield a sample at every `every`-th stop, each taken at the same point of the stop."""
    debuggee = Debuggee.start(PROGRAM, directory)
    with debuggee.child, serve() as hub, Connection("127.0.0.1", hub.port) as client:
        client.start({"workers": [f"{debuggee.host}:{debuggee.port}"]})
        for number in range(1, stops + 1):
            thread = client.event("stopped")["threadId"]
            client.events.clear()
            client.request("threads")
            frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
            scope = client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
            shown = client.request("variables", variablesReference=scope)["variables"]
            (data,) = (variable for variable in shown if variable["name"] == "data")
            client.request("variables", variablesReference=data["variablesReference"])
            said = client.request("evaluate", expression="turn", frameId=frame, context="watch")
            assert int(said["result"]) == number - 1, f"stop {number} shows turn {said['result']}"
            if number % every == 0:
                yield hub.sample(number)
            client.request("continue", threadId=thread)
        client.event("stopped")
        client.request("disconnect", terminateDebuggee=True)


def growth(samples: list[Sample]) -> list[str]:
    """Return the names of what has grown since the first sample."""
    first, last = samples[0], samples[-1]
    names = ("handles", "requests", "descriptors", "tasks")
    grown = [name for name in names if getattr(last, name) > getattr(first, name)]
    return grown + (["memory"] if last.resident - first.resident > GROWTH else [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.soak", description=__doc__)
    parser.add_argument("--stops", type=int, default=10_000)
    options = parser.parse_args()
    processes.mark()
    began = time.monotonic()
    samples = []
    with tempfile.TemporaryDirectory(prefix="raydap-soak-") as scratch:
        for sample in soak(Path(scratch), options.stops, max(1, options.stops // 10)):
            samples.append(sample)
            number, resident, *held = astuple(sample)
            _say(f"{number:,} stops, {time.monotonic() - began:.0f} s: {resident / 2**20:.1f} MB, {held}")
    grown = growth(samples)
    _say(f"grown: {', '.join(grown) or 'nothing'} (handles, requests, descriptors, tasks)")
    return 1 if grown else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
