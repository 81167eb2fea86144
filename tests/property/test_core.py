"""In any order of events, every request is answered once, ids stay distinct, nothing raises, and no state is left.

The Play itself makes most of the assertions, for every message and at the end of the play.
"""

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from raydap.core.effects import AskAgent
from raydap.core.events import (
    AgentAnswered,
    AgentCalled,
    ClientAdmitted,
    DebuggeeExited,
    DebuggeeFailed,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    FactsListed,
)
from raydap.core.model.client import ClientRole
from raydap.core.process_info import RayFacts
from raydap.core.requests.table import TABLE, Mode
from raydap.core.settings import AttachSettings, HubSettings
from raydap.core.workers import worker_entries
from raydap.errors import Code, Problem
from raydap.protocol.id_fields import COMMANDS
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.types import Handle
from support.examples import examples
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import NEEDED, Play

KEYS = ("w1", "w2", "w3")
PREPARED = "w4"
"""The key of a worker that has an agent."""
STEPS = ("dial", "initialize", "initialized", "attach", "configurationDone", "evaluate", "stackTrace", "setBreakpoints")
DOWN = Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer.")
FAILED = Problem(Code.LAUNCH_FAILED, "It cannot be started.")
BEGINNINGS: list[tuple[str, dict[str, Any]]] = [
    ("attach", {}),
    ("attach", {"maxWorkers": 2}),
    ("attach", {"task": "step", "tuneWorkers": False}),
    ("attach", {"role": "observer"}),
    ("attach", {"autoAttach": False}),
    ("launch", {"program": "train.py"}),
]
BREAKPOINTS: list[tuple[str, dict[str, Any]]] = [
    ("setBreakpoints", {"source": {"path": "/app/train.py"}, "breakpoints": [{"line": 7}]}),
    ("setBreakpoints", {"source": {"path": "/app/train.py"}, "breakpoints": [{"line": 8}, {"line": 7}]}),
    ("setBreakpoints", {"source": {"path": "/app/train.py"}, "breakpoints": []}),
    ("setFunctionBreakpoints", {"breakpoints": [{"name": "step"}]}),
    ("setExceptionBreakpoints", {"filters": ["raised"]}),
]
OURS: list[tuple[str, dict[str, Any]]] = [
    ("raydap/workers", {}),
    ("raydap/workers", {"all": True}),
    ("raydap/attach", {}),
    ("raydap/attach", {"workers": ["w1"]}),
    ("raydap/attach", {"workers": [PREPARED]}),
    ("raydap/detach", {"workers": ["w1"]}),
    ("raydap/detach", {"workers": ["w2", "w3"]}),
    ("raydap/continue", {}),
    ("raydap/step", {"command": "next"}),
    ("raydap/evaluate", {"expression": "x"}),
    ("raydap/waits", {}),
    ("raydap/compare", {"expression": "x", "keep": "before"}),
]
ROUTED = sorted(name for name, rule_ in TABLE.items() if rule_.mode in (Mode.ROUTE, Mode.RESUME) or name == "pause")
JUNK = [b"", b"{", b"[]", b'{"seq":1,"type":"event","event":"stopped"}', b'{"seq":1,"type":"request"}']

worker_keys = st.sampled_from(KEYS)
all_keys = st.sampled_from((*KEYS, PREPARED))
threads = st.integers(1, 3)


def heard(client: FakeClient) -> dict[str, dict[str, Any]]:
    """Return a client's view of the workers, from what it received since its last `raydap/workers` request."""
    known: dict[str, dict[str, Any]] = {}
    for message in client.transcript:
        if message.get("command") == "raydap/workers" and message.get("success"):
            known.clear()
        if "raydap/workers" in (message.get("command"), message.get("event", "").removesuffix("Changed")):
            for worker in message.get("body", {}).get("workers", []):
                known[worker["key"]] = _without_times(worker)
    return {key: worker for key, worker in known.items() if worker["state"] not in ("detached", "gone")}


def as_json(entry: WorkerEntry) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(entry))
    return shown


def _without_times(entry: dict[str, Any]) -> dict[str, Any]:
    """Remove what depends on the time at which an entry is sent."""
    return {name: value for name, value in entry.items() if name not in ("age", "retry")}


class Sessions(RuleBasedStateMachine):
    hub: HubSettings | None = None

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(hub_settings=self.hub)
        for key in KEYS:
            self.play.worker(key, RayFacts(task="step"))
        self.play.worker(PREPARED, RayFacts(task="step"), port=0, agent="/sockets/w4")

    def living(self, choice: int) -> FakeClient | None:
        clients = [client for client in self.play.clients.values() if not client.left]
        return clients[choice % len(clients)] if clients else None

    def able(self, key: str) -> FakeWorker | None:
        """Return the worker if it is configured, so that it can send events, else None."""
        worker = self.play.workers[key]
        return worker if worker.complete and worker.connected else None

    @initialize(attached=st.sampled_from([(), KEYS[:1], KEYS]))
    def start(self, attached: tuple[str, ...]) -> None:
        """Attach to these workers first in most plays: by chance alone, few would get so far."""
        if attached:
            self.play.session()
            self.list_paused(list(attached))

    # Events of clients.

    @precondition(lambda self: sum(not client.left for client in self.play.clients.values()) < 3)
    @rule(beginning=st.sampled_from(BEGINNINGS), configure=st.booleans())
    def begin(self, beginning: tuple[str, dict[str, Any]], configure: bool) -> None:
        client = self.play.client(supportsInvalidatedEvent=configure)
        client.send(beginning[0], **beginning[1])
        if configure:
            client.send("configurationDone")

    @rule(choice=st.integers(0, 9), asked=st.sampled_from(BREAKPOINTS + BEGINNINGS))
    def ask(self, choice: int, asked: tuple[str, dict[str, Any]]) -> None:
        client = self.living(choice)
        if client is not None:
            client.send(asked[0], **asked[1])

    @rule(choice=st.integers(0, 9), command=st.sampled_from(sorted(COMMANDS - {"disconnect"})))
    def ask_anything(self, choice: int, command: str) -> None:
        client = self.living(choice)
        if client is not None:
            client.send(command, **NEEDED.get(command, {}))

    @rule(choice=st.integers(0, 9), command=st.sampled_from(ROUTED), back=st.integers(0, 5))
    def ask_worker(self, choice: int, command: str, back: int) -> None:
        """Send a request about a recent handle, which may have ended or be of another kind."""
        client = self.living(choice)
        handles = sorted(self.play._origins)[-6:] or [1000]
        if client is not None:
            route = TABLE[command].route
            name = (route.argument if route is not None else "") or "threadId"
            client.send(command, **{**NEEDED.get(command, {}), name: handles[back % len(handles)]})

    @rule(choice=st.integers(0, 9), asked=st.sampled_from(OURS), back=st.integers(0, 2))
    def ask_of_many(self, choice: int, asked: tuple[str, dict[str, Any]], back: int) -> None:
        client = self.living(choice)
        stopped = sorted(self.play.bridge.state.stopped) or [Handle(1000)]
        if client is not None:
            first = {"threadId": stopped[back % len(stopped)]} if asked[0] == "raydap/step" else {}
            client.send(asked[0], **asked[1], **first)

    @rule(choice=st.integers(0, 9))
    def look_at_everything(self, choice: int) -> None:
        client = self.living(choice)
        if client is None or self.play.bridge.state.clients[client.id].role is ClientRole.UNTRUSTED:
            return
        listed = client.request("threads")["threads"]
        for thread in listed:
            client.send("stackTrace", threadId=thread["id"])
        frames = [frame for answer in client.inbox for frame in (answer.get("body") or {}).get("stackFrames", [])]
        for frame in frames[-2:]:
            client.send("scopes", frameId=frame["id"])
        scopes = [scope for answer in client.inbox for scope in (answer.get("body") or {}).get("scopes", [])]
        for scope in scopes[-2:]:
            client.send("variables", variablesReference=scope["variablesReference"])

    @rule(choice=st.integers(0, 9), politely=st.booleans())
    def leave(self, choice: int, politely: bool) -> None:
        client = self.living(choice)
        if client is not None and politely:
            client.send("disconnect", terminateDebuggee=choice > 5)
        elif client is not None:
            client.hang_up()

    @rule(choice=st.integers(0, 9), data=st.sampled_from(JUNK))
    def client_junk(self, choice: int, data: bytes) -> None:
        client = self.living(choice)
        if client is not None:
            client.raw(data)

    # Events of Ray and the program.

    @rule(keys=st.lists(worker_keys, unique=True))
    def list_paused(self, keys: list[str]) -> None:
        self.play.paused(*(self.play.workers[key] for key in keys))

    @rule(keys=st.lists(all_keys, unique=True))
    def list_alive(self, keys: list[str]) -> None:
        self.play.alive(*(self.play.workers[key] for key in keys))

    @rule()
    def call(self) -> None:
        self.play.feed(AgentCalled(self.play.workers[PREPARED].row))

    @rule(key=all_keys, task=st.sampled_from(["step", "other", ""]))
    def describe(self, key: str, task: str) -> None:
        self.play.feed(FactsListed({self.play.workers[key].key: RayFacts(task=task)}))

    @rule(up=st.booleans())
    def discovery(self, up: bool) -> None:
        self.play.feed(DiscoveryReady("the cluster") if up else DiscoveryFailed(DOWN))

    @rule(event=st.sampled_from([DebuggeeStarted("train.py", 1), DebuggeeExited(0), DebuggeeFailed(FAILED)]))
    def program(self, event: Any) -> None:
        self.play.feed(event)

    @rule(seconds=st.sampled_from([0.5, 6, 31]))
    def time(self, seconds: float) -> None:
        self.play.tick(seconds)

    # Events of workers.

    @rule(key=all_keys, step=st.sampled_from(STEPS))
    def hold(self, key: str, step: str) -> None:
        self.play.workers[key].hold.add(step)

    @rule(key=all_keys)
    def release(self, key: str) -> None:
        self.play.workers[key].release()

    @rule(key=all_keys, thread=threads)
    def stop(self, key: str, thread: int) -> None:
        worker = self.able(key)
        if worker is not None and thread not in worker.stopped:
            worker.stop(thread, hitBreakpointIds=[0])

    @rule(key=all_keys, thread=threads, every=st.booleans())
    def run_on(self, key: str, thread: int, every: bool) -> None:
        worker = self.able(key)
        if worker is not None and every:
            worker.stopped.clear()
            worker.say("continued", {"threadId": thread})
        elif worker is not None:
            worker.resume(thread)

    @rule(key=all_keys, thread=threads)
    def phantom(self, key: str, thread: int) -> None:
        worker = self.able(key)
        if worker is not None and len(worker.started) > 1 and thread not in worker.stopped:
            worker.say("stopped", {"reason": "breakpoint", "threadId": thread})

    @rule(key=all_keys, thread=threads)
    def end_thread(self, key: str, thread: int) -> None:
        worker = self.able(key)
        if worker is not None:
            worker.exit(thread)

    @rule(key=all_keys)
    def output(self, key: str) -> None:
        worker = self.able(key)
        if worker is not None:
            worker.say("output", {"category": "stdout", "output": "x", **worker.reference()})

    @rule(key=all_keys, refused=st.booleans())
    def die(self, key: str, refused: bool) -> None:
        worker = self.play.workers[key]
        if worker.connected:
            worker.die(refused=refused)

    @rule(key=all_keys)
    def terminate(self, key: str) -> None:
        worker = self.able(key)
        if worker is not None:
            worker.say("terminated")

    @rule(key=all_keys, data=st.sampled_from(JUNK))
    def worker_junk(self, key: str, data: bytes) -> None:
        self.play.workers[key].raw(data)

    # Invariants.

    @invariant()
    def living_handles_are_of_living_workers(self) -> None:
        state = self.play.bridge.state
        bound = state.handles._bound
        assert {scope.worker for _, scope in bound.values()} <= set(state.workers)
        assert len({(key, scope.worker, id(scope)) for key, scope in bound.values()}) == len(bound)
        assert set(state.stopped) <= set(bound)

    @invariant()
    def the_roster_is_right_and_watchers_know_it(self) -> None:
        state = self.play.bridge.state
        roster = state.run.roster
        waiting = [process.key for process in state.run.processes.candidates()]
        listed = [*state.workers, *waiting, *state.run.processes.alive]
        assert not state.run.processes.alive.keys() & {*state.workers, *waiting}
        expected = {key: entry for key in listed if (entry := worker_entries.entry_of(state, key)) is not None}
        assert {key: roster.states[key][0] for key in expected} == {key: each.state for key, each in expected.items()}
        shown = {key: each.entry for key, each in roster.entries.items()}
        assert {key: entry for key, entry in expected.items() if shown.get(key) != entry}.keys() <= roster.stale.keys()
        for client in self.play.clients.values():
            side = state.clients.get(client.id)
            if side is not None and side.view.watching and side.is_attached:
                told = {key: entry for key, entry in shown.items() if side.view.all or entry.state != "alive"}
                assert heard(client) == {key: _without_times(as_json(entry)) for key, entry in told.items()}
        watched = any(side.view.all and side.is_attached for side in state.clients.values())
        assert watched or not state.run.processes.alive

    def teardown(self) -> None:
        for worker in self.play.workers.values():
            worker.release()
        self.play.feed(DebuggeeStarted("train.py", 1), DiscoveryReady("the cluster"))
        # Answer each question to an agent. An answer can lead to the next question.
        while asked := self.play.take_all(AskAgent):
            for each in asked:
                self.play.feed(AgentAnswered(each.number, "", "it does not answer"))
        self.play.tick(10_000)
        for client in self.play.clients.values():
            assert client.left or not client.open, client.open
        self.play.leave()


class Hubs(Sessions):
    """The same for a hub that holds workers for 60 s after the last client, and with clients that show no token."""

    hub = HubSettings(AttachSettings(), hold=60.0)

    @precondition(lambda self: sum(not client.left for client in self.play.clients.values()) < 3)
    @rule(admitted=st.booleans())
    def knock(self, admitted: bool) -> None:
        client = self.play.connect(admitted=False)
        client.send("initialize", adapterID="raydap")
        if admitted:
            self.play.feed(ClientAdmitted(client.id))
        client.send("attach")


TestSessions = Sessions.TestCase
TestHubs = Hubs.TestCase
TestHubs.settings = settings(examples(80), stateful_step_count=60)
TestSessions.settings = settings(examples(120), stateful_step_count=60)
