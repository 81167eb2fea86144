"""The bridge's own time with 10,000 workers that answer at once: one process, no sockets."""

import gc
import json
import os
import time
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

from bench.messages import CLIENT, client_request, stack_frame, worker_answer, worker_event
from bench.report import Row, within
from raydap.cli.main import GARBAGE_THRESHOLDS
from raydap.cluster.dashboard.facts_polling import MAX_FACTS
from raydap.core.bridge import Bridge
from raydap.core.effects import AskFacts, CheckFiles, DialWorker, Effect, ScheduleNextPart, SendToWorker
from raydap.core.events import (
    AgentCalled,
    ClientConnected,
    DiscoveryReady,
    Event,
    FactsListed,
    FilesChecked,
    NextPart,
    Tick,
    WorkerConnected,
    WorkerGone,
    WorkersPaused,
)
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

NODES = 40


class Cluster:
    """A bridge, and workers that answer each request in the next event.

    `refusing` workers refuse the connection, `silent` workers never answer the dial. `spent_s` is the processor time of
    the bridge since the last `take_time`, and `longest_s` that of the longest event.
    """

    longest: ClassVar[dict[str, float]] = {}
    """Seconds of the longest event in each measure of all clusters."""

    def __init__(self, refusing: Collection[WorkerKey] = (), silent: Collection[WorkerKey] = ()) -> None:
        self.bridge = Bridge()
        self.facts: dict[WorkerKey, RayFacts] = {}
        self.spent_s = self.longest_s = 0.0
        self._refusing, self._silent = set(refusing), set(silent)
        self._events: deque[Event] = deque()
        self._now = 0.0

    def begin(self, line: int | None, **arguments: Any) -> None:
        """Start a session with a breakpoint in this line of a file, if there is one."""
        self.feed(ClientConnected(CLIENT))
        self.request("initialize", adapterID="raydap")
        self.request("attach", **arguments)
        self.feed(DiscoveryReady("nowhere"))
        self.set_breakpoint("train", line)
        self.request("configurationDone")
        self.take_time()

    def set_breakpoint(self, file: str, line: int | None) -> None:
        breakpoints = [] if line is None else [{"line": line}]
        self.request("setBreakpoints", source={"path": f"/app/{file}.py"}, breakpoints=breakpoints)

    def request(self, command: str, **arguments: Any) -> None:
        self.feed(client_request(command, **arguments))

    def stop(self, *rows: ProcessInfo) -> None:
        for row in rows:
            self.feed(worker_event(row.key, "stopped", reason="breakpoint", threadId=1, hitBreakpointIds=[0]))

    def rest(self, seconds: int) -> None:
        """Let time pass without events of workers or clients."""
        for _ in range(seconds):
            self._now += 1
            self.feed(Tick(self._now))

    def take_time(self) -> tuple[float, float]:
        """Return the seconds of the bridge since the last call: the total, and those of the longest event."""
        taken = self.spent_s, self.longest_s
        self.spent_s = self.longest_s = 0.0
        return taken

    def feed(self, event: Event) -> None:
        """Handle an event and the answers of all workers."""
        self._events.append(event)
        while self._events:
            current = self._events.popleft()
            began = time.thread_time()
            effects = self.bridge.handle(current)
            took = time.thread_time() - began
            self.spent_s += took
            self.longest_s = max(self.longest_s, took)
            for effect in effects:
                self._events.extend(self._answers(effect))

    def _answers(self, effect: Effect) -> Iterator[Event]:
        if isinstance(effect, DialWorker):
            if effect.worker in self._refusing:
                yield WorkerGone(effect.worker, "refused", refused=True)
            elif effect.worker not in self._silent:
                yield WorkerConnected(effect.worker)
        elif isinstance(effect, CheckFiles):
            yield FilesChecked(dict.fromkeys(effect.paths, True))
        elif isinstance(effect, AskFacts):
            for start in range(0, len(effect.workers), MAX_FACTS):
                rows = effect.workers[start : start + MAX_FACTS]
                yield FactsListed({row.key: self.facts.get(row.key, RayFacts(task="train")) for row in rows})
        elif isinstance(effect, ScheduleNextPart):
            yield NextPart()
        elif isinstance(effect, SendToWorker):
            yield from _replies(effect.worker, json.loads(effect.data))


def _replies(worker: WorkerKey, request: dict[str, Any]) -> Iterator[Event]:
    command, arguments = request["command"], request.get("arguments", {})
    if command == "attach":
        yield worker_event(worker, "initialized")
    body: dict[str, Any] = {}
    if command == "stackTrace":
        frames = _parted(int(worker[1:]) % 10)
        body = {"stackFrames": frames, "totalFrames": len(frames)}
    elif command == "setBreakpoints":
        body = {"breakpoints": [{"verified": True, "id": 0, "line": 7} for _ in arguments.get("breakpoints", ())]}
    elif command == "evaluate":
        body = {"result": "''", "variablesReference": 0}
    yield worker_answer(worker, request, body)


def _parted(branch: int) -> list[dict[str, Any]]:
    """Return a stack of 20 frames, the innermost `branch` of which differ from those of other branches."""
    return [
        {**stack_frame(number), "id": number + 1, "line": branch if number < branch else 10} for number in range(20)
    ]


def rows(size: int, agents: bool = False) -> list[ProcessInfo]:
    """Return workers on NODES nodes, paused or with agents."""
    found = []
    for number in range(size):
        host, port, agent = f"10.0.0.{number % NODES}", 1 + number, f"/agents/{number}"
        found.append(
            ProcessInfo(
                WorkerKey(f"w{number}"), host, 0 if agents else port, 4000 + number, host, agent=agent if agents else ""
            )
        )
    return found


def measure(_: Path, quick: bool) -> Iterator[Row]:
    size = 1000 if quick else 10_000
    # `raydap adapter` sets these thresholds, and the engine creates this text while it searches for workers.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    calls.enter(tune=True)
    yield from _session(size)
    yield from _prepared(size)
    for name, bad in (("a tenth refuses", 10), ("one in 100 never answers", 100)):
        workers = rows(size)
        keys = [row.key for row in workers[::bad]]
        cluster = Cluster(keys, ()) if bad == 10 else Cluster((), keys)
        cluster.begin(7, maxWorkers=size)
        cluster.feed(WorkersPaused(tuple(workers)))
        yield _row(size, f"attach, {name}", cluster, 5.0)
    workers = rows(size)
    cluster = Cluster()
    cluster.facts = {row.key: RayFacts(task="other") for row in workers[size // 10 :]}
    cluster.begin(7, task="train")
    cluster.feed(WorkersPaused(tuple(workers)))
    yield _row(size, "attach, nine tenths kept out by a filter", cluster, 5.0)
    name = max(Cluster.longest, key=lambda each: Cluster.longest[each])
    yield within(f"{size:,} workers: the longest event ({name})", [Cluster.longest[name] * 1000], 50, "ms")


def _session(size: int) -> Iterator[Row]:
    """Measure a session with paused workers from its start to its end."""
    cluster, workers = Cluster(), rows(size)
    cluster.begin(7, maxWorkers=size)
    before = _resident_kb()

    def done(name: str, allowed_s: float) -> Row:
        return _row(size, name, cluster, allowed_s)

    cluster.feed(WorkersPaused(tuple(workers)))
    yield done("attach all", 5.0)
    yield within(f"{size:,} workers: memory of the core, each", [(_resident_kb() - before) / size], 8, "KB")
    cluster.set_breakpoint("other", 9)
    yield done("a breakpoint in all", 3.0)
    cluster.stop(*workers)
    yield done("all stop", 3.0)
    cluster.request("raydap/stacks")
    yield done("one tree of all stacks", 2.0)
    cluster.request("raydap/workers")
    yield done("list all", 1.0)
    cluster.request("raydap/evaluate", expression="rank")
    yield done("an expression in all", 3.0)
    for thread in list(cluster.bridge.state.stopped):
        cluster.request("continue", threadId=thread)
    yield done("continue all, one by one", 3.0)
    cluster.stop(*workers)
    cluster.take_time()
    cluster.request("raydap/continue")
    yield done("continue all at once", 3.0)
    cluster.rest(60)
    spent, _ = cluster.take_time()
    yield within(f"{size:,} workers: idle", [spent / 60 * 100], 2, "% of a core")
    for row in workers[: size // 10]:
        cluster.feed(WorkerGone(row.key, "closed"))
    yield done("a tenth ends at once", 1.0)
    cluster.request("disconnect")
    yield done("detach from all", 5.0)


def _prepared(size: int) -> Iterator[Row]:
    cluster, workers = Cluster(), rows(size, agents=True)
    cluster.begin(None, maxWorkers=size)
    for row in workers:
        cluster.feed(AgentCalled(row))
    cluster.rest(10)
    yield _row(size, "agents call", cluster, 5.0)
    cluster.set_breakpoint("train", 7)
    yield _row(size, "a breakpoint attaches all prepared workers", cluster, 5.0)


def _row(size: int, name: str, cluster: Cluster, allowed_s: float) -> Row:
    spent, Cluster.longest[name] = cluster.take_time()
    return within(f"{size:,} workers: {name}, own time", [spent], allowed_s, "s")


def _resident_kb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024
