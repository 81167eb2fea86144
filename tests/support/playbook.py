"""Scripts of sessions: a Play feeds events into a Bridge, and fakes at both ends receive its effects.

    client = play.session()
    worker = play.worker("w1")
    play.paused(worker)
    worker.stop()
    stop = client.stop()
    client.request("continue", threadId=stop["threadId"])

A script has to account for every effect of the bridge. Messages to a worker are answered by its FakeWorker. Messages to
a client wait in its inbox until the script takes them, and all other effects wait for `play.take`. `finish` fails if
anything is left. A log of level "error" is an error of the bridge and fails at once. Each message to either side is
validated against the DAP schema.
"""

from collections import deque
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from raydap.analysis.ray_state import RayState
from raydap.core.bridge import Bridge
from raydap.core.effects import (
    AskActors,
    AskAgent,
    AskExitReason,
    AskFacts,
    AskRayState,
    AskWaiting,
    CheckFiles,
    DialWorker,
    DropClient,
    Effect,
    FindForkedWaits,
    HangUp,
    InjectAgent,
    Log,
    OpenChildPort,
    ReachAgents,
    ReachNodes,
    ReleaseAgent,
    SampleStack,
    ScheduleNextPart,
    SendToClient,
    SendToWorker,
    StartDebuggee,
    StartDiscovery,
    StopDebuggee,
    StopDiscovery,
    WatchAlive,
)
from raydap.core.events import (
    AgentsSearched,
    ClientConnected,
    DebuggeeStopped,
    DiscoveryReady,
    Event,
    FactsListed,
    FilesChecked,
    ForkedWaitsFound,
    NextPart,
    RayStateListed,
    Shutdown,
    StackSampled,
    Tick,
    WorkersAlive,
    WorkersPaused,
)
from raydap.core.model.handles import FIRST
from raydap.core.process_info import ForkedWaits, ProcessInfo, RayFacts
from raydap.core.settings import HubSettings
from raydap.core.workers.holding import WORKERS_END_S
from raydap.protocol.types import ClientId, WorkerKey
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker

E = TypeVar("E", bound=Effect)

VSCODE: dict[str, Any] = {"clientID": "vscode", "supportsStartDebuggingRequest": True}
"""The arguments of `initialize` that identify VS Code."""

NEEDED: dict[str, dict[str, Any]] = {
    "evaluate": {"expression": "x"},
    "setVariable": {"name": "x", "value": "2"},
    "setExpression": {"expression": "x", "value": "2"},
    "completions": {"text": "x", "column": 2},
    "gotoTargets": {"source": {"path": "/app/train.py"}, "line": 7},
    "goto": {"targetId": 1},
}
"""The arguments that the schema requires of a request, except the id that refers to the worker."""


class Play:
    """One bridge with fakes for all its clients and workers.

    `conform=False` is for scripts whose workers send invalid DAP. `ray_states` are Ray's answers about unfinished
    tasks, in order; the last one is repeated. `missing` are files that do not exist on the bridge's machine; without
    `answer_checks` the bridge gets no answer about files. With `holds_parts`, the next part of long work begins when
    the script feeds `NextPart`. `errors_expected` is for scripts about errors of the bridge. `hub_settings` makes the
    bridge a hub.
    """

    def __init__(self, conform: bool = True, hub_settings: HubSettings | None = None) -> None:
        self.bridge = Bridge(hub_settings)
        self.conform = conform
        self.clients: dict[int, FakeClient] = {}
        self.workers: dict[str, FakeWorker] = {}
        self.described: list[str] = []
        self.asked_exit_reasons: list[ProcessInfo] = []
        self.reached: list[str] = []
        self.missing: set[str] = set()
        self.answer_checks = True
        self.search_ends = True
        self.holds_parts = False
        self.errors_expected = False
        self.sampled: dict[str, str] = {}
        self.forked_waits: dict[str, ForkedWaits] = {}
        self.ray_states: list[RayState] = [RayState()]
        self.now = 0.0
        self._origins: dict[int, str] = {}
        self._handles: dict[str, int] = {}
        self._effects: list[Effect] = []
        self._events: deque[Event] = deque()
        self._busy = False

    def feed(self, *events: Event) -> None:
        """Feed these events, and the answers of the fakes to the effects that follow."""
        self._events.extend(events)
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                for effect in self.bridge.handle(self._events.popleft()):
                    self._perform(effect)
        finally:
            self._busy = False

    def _perform(self, effect: Effect) -> None:
        match effect:
            case SendToClient(client, data):
                self.clients[client].received(data)
            case DropClient(client):
                self.clients[client].dropped = True
            case SendToWorker(worker, data):
                self.workers[worker].received(data)
            case DialWorker(worker, host, port):
                self.workers[worker].dialled(host, port)
            case HangUp(worker):
                self.workers[worker].connected = False
            case AskWaiting(target):
                assert not self.workers[target.worker].connected, "debugpy takes one client"
                self._effects.append(effect)
            case ReachAgents(folder):
                self.reached.append(folder)
                if self.search_ends:
                    self.feed(AgentsSearched())
            case ReachNodes():
                self._effects.append(effect)
                self.feed(AgentsSearched())
            case AskExitReason(row):
                self.asked_exit_reasons.append(row)
            case AskFacts(rows):
                self.described += [row.key for row in rows]
                known = {row.key: self.workers[row.key].facts for row in rows}
                self.feed(FactsListed({key: facts for key, facts in known.items() if facts is not None}))
            case SampleStack(row):
                text = self.sampled.get(row.key, "")
                self.feed(StackSampled(row.key, text, "" if text else "py-spy is not installed"))
            case FindForkedWaits(number, host, may_relay=may_relay):
                is_read = may_relay or host == "10.0.0.1"
                answer = msgspec.json.encode(self.forked_waits.get(host, ForkedWaits()) if is_read else ForkedWaits())
                self.feed(ForkedWaitsFound(number, answer.decode()))
            case AskRayState(number, _) if self.ray_states:
                # The last state is repeated.
                state = self.ray_states.pop(0) if len(self.ray_states) > 1 else self.ray_states[0]
                self.feed(RayStateListed(number, state))
            case CheckFiles(paths) if self.answer_checks:
                self.feed(FilesChecked({path: path not in self.missing for path in paths}))
            case CheckFiles():
                pass
            case ScheduleNextPart():
                if not self.holds_parts:
                    self.feed(NextPart())
            case Log("error", text) if not self.errors_expected:
                raise AssertionError(f"the bridge failed: {text}")
            case (
                Log("warning")
                | OpenChildPort()
                | StartDiscovery()
                | StopDiscovery()
                | StartDebuggee()
                | StopDebuggee()
                | AskAgent()
                | ReleaseAgent()
                | InjectAgent()
                | WatchAlive()
                | AskActors()
                | AskRayState()
            ):
                self._effects.append(effect)
            case Log("info" | "debug" | "error"):
                pass
            case _:
                raise AssertionError(f"unknown effect {effect}")

    def identify(self, shown: Any) -> None:
        """Check that during the play each handle stands for one thing of one worker, and each thing has one handle."""
        if isinstance(shown, list):
            for item in shown:
                self.identify(item)
        elif isinstance(shown, dict):
            if "origin" in shown:
                origin = shown["origin"]
                handle = next(shown[name] for name in ("threadId", "id", "variablesReference") if name in shown)
                assert handle >= FIRST, f"{origin} leaks through as {handle}"
                assert self._origins.setdefault(handle, origin) == origin, f"{handle} is {origin} now"
                assert self._handles.setdefault(origin, handle) == handle, f"{origin} has a second handle"
            for value in shown.values():
                self.identify(value)

    def take(self, kind: type[E]) -> E:
        """Take the oldest effect, which must be of this kind."""
        assert self._effects, f"no {kind.__name__} came"
        effect = self._effects.pop(0)
        assert isinstance(effect, kind), effect
        return effect

    def take_all(self, kind: type[E]) -> list[E]:
        """Take all effects of this kind, and leave the others."""
        found: list[E] = [effect for effect in self._effects if isinstance(effect, kind)]
        self._effects = [effect for effect in self._effects if not isinstance(effect, kind)]
        return found

    def warned(self, part: str) -> None:
        """Take the oldest effect, which must be a log line that contains this text."""
        text = self.take(Log).text
        assert part in text, text

    def client(self, **supports: Any) -> "FakeClient":
        """Return a client that has connected and sent `initialize` with these capabilities."""
        client = self.connect()
        client.request("initialize", adapterID="raydap", **supports)
        return client

    def connect(self, admitted: bool = True) -> "FakeClient":
        client = FakeClient(self, ClientId(len(self.clients) + 1))
        self.clients[client.id] = client
        self.feed(ClientConnected(client.id, admitted=admitted))
        return client

    def session(self, arguments: dict[str, Any] | None = None, **supports: Any) -> "FakeClient":
        """Return a client that has attached with these arguments and finished its configuration."""
        client = self.client(**supports)
        attach = client.send("attach", **(arguments or {}))
        self.take(StartDiscovery)
        self.feed(DiscoveryReady("the cluster"))
        client.event("initialized")
        client.answer(attach)
        client.request("configurationDone")
        return client

    def joined(self, arguments: dict[str, Any] | None = None, **supports: Any) -> "FakeClient":
        """Return a client that has joined the existing session."""
        client = self.client(**supports)
        client.request("attach", **(arguments or {}))
        client.event("initialized")
        client.request("configurationDone")
        return client

    def worker(self, key: str, facts: RayFacts | None = None, **row: Any) -> FakeWorker:
        """Return a worker that waits for a debugger, which `paused` reports. `row` has fields of ProcessInfo.

        Actors without a rank are numbered in the order of their creation, as RayCluster numbers them.
        """
        number = len(self.workers) + 1
        if facts is not None and facts.actor and facts.rank is None:
            known = [each.facts for each in self.workers.values() if each.facts is not None]
            rank = sum((each.job, each.actor) == (facts.job, facts.actor) for each in known)
            facts = replace(facts, rank=rank, created=rank + 1)
        fields = {"host": "10.0.0.1", "port": 40000 + number, "pid": 100 + number, "node": "10.0.0.1", **row}
        worker = self.workers[key] = FakeWorker(self.feed, ProcessInfo(WorkerKey(key), **fields), facts)
        return worker

    def paused(self, *workers: FakeWorker) -> None:
        """Let discovery find these workers, and no others, waiting for a debugger."""
        self.feed(WorkersPaused(tuple(worker.row for worker in workers)))

    def alive(self, *workers: FakeWorker) -> None:
        """Let Ray list these workers, and no others, as alive. Ray's rows contain neither debug ports nor agents."""
        rows = {replace(worker.row, port=0, agent=""): worker.facts or RayFacts() for worker in workers}
        self.feed(WorkersAlive(rows))

    def attached(self, *keys: str) -> list[FakeWorker]:
        """Return new workers to which the session has attached."""
        workers = [self.worker(key) for key in keys]
        self.paused(*workers)
        return workers

    def tick(self, seconds: float) -> None:
        self.now += seconds
        self.feed(Tick(self.now))

    def finish(self) -> None:
        """Check that no effect or message is left, then end everything and check that the bridge is empty."""
        assert not self._effects, self._effects
        for client in self.clients.values():
            client.nothing()
            assert client.left or not client.open, f"without an answer: {client.open}"
        self.leave()

    def leave(self) -> None:
        """End everything, and check that the bridge is empty then.

        All clients disconnect, a hub shuts down, a launched program ends, and all workers send the responses that they
        have held back.
        """
        for client in self.clients.values():
            client.hang_up()
        if self.bridge.state.hub is not None:
            self.feed(Shutdown())
        if self.bridge.state.endings:
            self.feed(DebuggeeStopped())
            self.tick(WORKERS_END_S)
        for worker in self.workers.values():
            worker.release()
        for worker in self.workers.values():
            if worker.connected and not worker.complete:
                worker.die()
        state = self.bridge.state
        assert self.bridge.idle, state.workers
        assert not len(state.pending), "requests to workers are left"
        assert not len(state.handles), "handles are left"
        assert not state.stopped, "stopped threads are left"
