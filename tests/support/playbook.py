"""Scripts of sessions: a Play feeds events into a Bridge, and fakes at both ends take what it sends.

    client = play.session()
    worker = play.worker("w1")
    play.paused(worker)
    worker.stop()
    stop = client.stop()
    client.request("continue", threadId=stop["threadId"])

Everything the bridge does has to be accounted for. Messages to a worker are answered by its FakeWorker, messages to a
client wait in its inbox until the script takes them, and so do all other effects (`play.take`); `finish` fails for what
is left. A log of level "error" is a mistake of the bridge and fails at once. Each message to either side is held
against the DAP schema.
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
    AskLabels,
    AskRayState,
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
    FilesChecked,
    ForkedWaits,
    ForkedWaitsFound,
    NextPart,
    PausedWorker,
    RayStateListed,
    Shutdown,
    StackSampled,
    Tick,
    WorkerLabel,
    WorkersAlive,
    WorkersLabelled,
    WorkersPaused,
)
from raydap.core.model.handles import FIRST
from raydap.core.settings import HubSettings
from raydap.core.workers.holding import WORKERS_END_S
from raydap.protocol.types import ClientId, WorkerKey
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker

E = TypeVar("E", bound=Effect)

VSCODE: dict[str, Any] = {"clientID": "vscode", "supportsStartDebuggingRequest": True}
"""What tells VS Code from other clients."""

NEEDED: dict[str, dict[str, Any]] = {
    "evaluate": {"expression": "x"},
    "setVariable": {"name": "x", "value": "2"},
    "setExpression": {"expression": "x", "value": "2"},
    "completions": {"text": "x", "column": 2},
    "gotoTargets": {"source": {"path": "/app/train.py"}, "line": 7},
    "goto": {"targetId": 1},
}
"""What the schema wants of a request besides the id that names the worker."""


class Play:
    """One bridge and everybody it talks to. `conform=False` is for scripts whose workers send what is no DAP.

    `ray_states` is what Ray says of unfinished tasks, when it is asked, one after the other. `missing` are files that
    the bridge's machine has not; without `answer_checks` it does not say. With `holds_parts` the next part of long work
    begins when the script feeds `NextPart`. `errors_expected`: a mistake of the bridge is
    what the script is about. `hub_settings` makes the bridge a hub.
    """

    def __init__(self, conform: bool = True, hub_settings: HubSettings | None = None) -> None:
        self.bridge = Bridge(hub_settings)
        self.conform = conform
        self.clients: dict[int, FakeClient] = {}
        self.workers: dict[str, FakeWorker] = {}
        self.described: list[str] = []
        self.asked_exit_reasons: list[PausedWorker] = []
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
        """Lets these events happen, and all that the fakes answer to what comes of them."""
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
            case ReachAgents(folder):
                self.reached.append(folder)
                if self.search_ends:
                    self.feed(AgentsSearched())
            case ReachNodes():
                self._effects.append(effect)
                self.feed(AgentsSearched())
            case AskExitReason(row):
                self.asked_exit_reasons.append(row)
            case AskLabels(rows):
                self.described += [row.key for row in rows]
                labels = {row.key: self.workers[row.key].label for row in rows}
                self.feed(WorkersLabelled({key: label for key, label in labels.items() if label is not None}))
            case SampleStack(row):
                text = self.sampled.get(row.key, "")
                self.feed(StackSampled(row.key, text, "" if text else "py-spy is not installed"))
            case FindForkedWaits(number, host, may_relay=may_relay):
                is_read = may_relay or host == "10.0.0.1"
                answer = msgspec.json.encode(self.forked_waits.get(host, ForkedWaits()) if is_read else ForkedWaits())
                self.feed(ForkedWaitsFound(number, answer.decode()))
            case AskRayState(number, _) if self.ray_states:
                # The last one is what Ray says from then on.
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
        """A handle stands for one thing of one worker, and a thing has one handle, over the whole play."""
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
        """The oldest effect nobody has taken yet, which must be of this kind."""
        assert self._effects, f"no {kind.__name__} came"
        effect = self._effects.pop(0)
        assert isinstance(effect, kind), effect
        return effect

    def take_all(self, kind: type[E]) -> list[E]:
        """All of this kind that nobody has taken yet, whatever else has come."""
        found: list[E] = [effect for effect in self._effects if isinstance(effect, kind)]
        self._effects = [effect for effect in self._effects if not isinstance(effect, kind)]
        return found

    def warned(self, part: str) -> None:
        """The bridge has logged a warning with this in it."""
        text = self.take(Log).text
        assert part in text, text

    def client(self, **supports: Any) -> "FakeClient":
        """A client that has connected and said `initialize`, with these capabilities."""
        client = self.connect()
        client.request("initialize", adapterID="raydap", **supports)
        return client

    def connect(self, admitted: bool = True) -> "FakeClient":
        client = FakeClient(self, ClientId(len(self.clients) + 1))
        self.clients[client.id] = client
        self.feed(ClientConnected(client.id, admitted=admitted))
        return client

    def session(self, arguments: dict[str, Any] | None = None, **supports: Any) -> "FakeClient":
        """A client whose attach, with these arguments, is over: it waits for stops."""
        client = self.client(**supports)
        attach = client.send("attach", **(arguments or {}))
        self.take(StartDiscovery)
        self.feed(DiscoveryReady("the cluster"))
        client.event("initialized")
        client.answer(attach)
        client.request("configurationDone")
        return client

    def joined(self, arguments: dict[str, Any] | None = None, **supports: Any) -> "FakeClient":
        """A client that joins the session there is."""
        client = self.client(**supports)
        client.request("attach", **(arguments or {}))
        client.event("initialized")
        client.request("configurationDone")
        return client

    def worker(self, key: str, label: WorkerLabel | None = None, **row: Any) -> FakeWorker:
        """A worker that waits for a debugger; `paused` lets discovery find it. `row` is as in PausedWorker."""
        number = len(self.workers) + 1
        fields = {"host": "10.0.0.1", "port": 40000 + number, "pid": 100 + number, "node": "10.0.0.1", **row}
        worker = self.workers[key] = FakeWorker(self.feed, PausedWorker(WorkerKey(key), **fields), label)
        return worker

    def paused(self, *workers: FakeWorker) -> None:
        """Discovery finds these workers, and no others, waiting for a debugger."""
        self.feed(WorkersPaused(tuple(worker.row for worker in workers)))

    def alive(self, *workers: FakeWorker) -> None:
        """Ray lists these workers, and no others, as alive. It knows neither ports that wait nor agents."""
        rows = {replace(worker.row, port=0, agent=""): worker.label or WorkerLabel() for worker in workers}
        self.feed(WorkersAlive(rows))

    def attached(self, *keys: str) -> list[FakeWorker]:
        """Workers that the session has attached to."""
        workers = [self.worker(key) for key in keys]
        self.paused(*workers)
        return workers

    def tick(self, seconds: float) -> None:
        self.now += seconds
        self.feed(Tick(self.now))

    def finish(self) -> None:
        """Nothing is left unaccounted for; and once everybody has gone, nothing is left in the bridge."""
        assert not self._effects, self._effects
        for client in self.clients.values():
            client.nothing()
            assert client.left or not client.open, f"without an answer: {client.open}"
        self.leave()

    def leave(self) -> None:
        """All clients hang up, a hub shuts down, a launched program ends, all workers answer what they have held back:
        the bridge has to be empty then."""
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
