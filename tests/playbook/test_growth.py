"""A request or event costs at most in proportion to the workers that it is about. The tests count lines of Python."""

from collections.abc import Callable
from typing import Any

import pytest

from raydap.analysis.ray_state import ListCut, RayState
from raydap.core import bridge, flows
from raydap.core import events as ev
from raydap.core.effects import Effect, SendToWorker
from raydap.core.process_info import EndedJob, EndedWorker, RayFacts
from raydap.core.requests.table import TABLE
from raydap.errors import Code, Problem
from raydap.protocol.types import ClientId, WorkerKey
from support.counted_lines import Counted
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

SIZES = (10, 20, 40)

ABOUT_ALL = {
    "setDataBreakpoints",
    *("threads", "setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints", "disconnect", "pause"),
    *("raydap/workers", "raydap/attach", "raydap/pause", "raydap/detach", "raydap/stacks", "raydap/places"),
    *("raydap/waits", "raydap/select", "raydap/continue", "raydap/step", "raydap/evaluate", "raydap/compare"),
    "raydap/reload",
}
"""The requests whose cost may grow in proportion to the number of workers."""

LISTS = {
    *(ev.WorkersPaused, ev.WorkersAlive, ev.AgentsEnded, ev.NodesAlive, ev.JobsListed),
    *(ev.ChildPortOpened, ev.ClientGone, ev.Shutdown, ev.Tick),
}
"""The events whose cost may grow in proportion to the number of workers."""

LINES_OF_A_TICK = 4
"""Lines of Python that a tick may cost for each attached worker."""


class Crowd:
    """A session whose workers are all stopped. `thread`, `frame` and `variables` are ids of the first worker."""

    def __init__(self, size: int) -> None:
        self.play = Play(conform=False)
        self.client: FakeClient = self.play.session()
        self.workers: list[FakeWorker] = [
            self.play.worker(f"w{number}", RayFacts(task="train", actor="Trainer", job="01")) for number in range(size)
        ]
        self.play.paused(*self.workers)
        for worker in self.workers:
            worker.stop()
        threads = self.client.request("threads")["threads"]
        # The first resume asks the other workers of the class whether they are in a collective operation.
        self.client.request("continue", threadId=threads[-1]["id"])
        self.workers[-1].stop()
        self.thread = threads[0]["id"]
        self.frame = self.client.request("stackTrace", threadId=self.thread)["stackFrames"][0]["id"]
        scope = self.client.request("scopes", frameId=self.frame)["scopes"][0]
        self.variables = scope["variablesReference"]
        self.first = self.workers[0]
        self.play.tick(20)
        self.client.inbox.clear()

    def arguments(self, command: str) -> dict[str, Any]:
        """Return valid arguments for a request."""
        every, one = {"select": "*"}, {"threadId": self.thread}
        source, expression = {"source": {"path": "/app/train.py"}}, {"expression": "x", "frameId": self.frame}
        wanted: dict[str, dict[str, Any]] = {
            "initialize": {"adapterID": "raydap"},
            "launch": {"program": "train.py"},
            "cancel": {"requestId": 1},
            "breakpointLocations": {**source, "line": 7},
            "setBreakpoints": {**source, "breakpoints": [{"line": 7}]},
            "setFunctionBreakpoints": {"breakpoints": [{"name": "step"}]},
            "setExceptionBreakpoints": {"filters": ["uncaught"]},
            "dataBreakpointInfo": {"name": "x", "frameId": self.frame},
            "setDataBreakpoints": {"breakpoints": [{"dataId": '["x", "/app/train.py", 7, "step"]'}]},
            "pause": {"threadId": 0},
            "scopes": {"frameId": self.frame},
            "stepInTargets": {"frameId": self.frame},
            "variables": {"variablesReference": self.variables},
            "setVariable": {"variablesReference": self.variables, "name": "x", "value": "2"},
            "evaluate": {**expression, "context": "repl"},
            "setExpression": {**expression, "value": "2"},
            "completions": {"text": "x", "column": 2, "frameId": self.frame},
            "source": {"sourceReference": 1000},
            "gotoTargets": {**source, "line": 7},
            "goto": {**one, "targetId": 1000},
            "raydap/attach": {},
            "raydap/stack": {"worker": self.first.key},
            "raydap/pause": every,
            "raydap/detach": every,
            "raydap/select": every,
            "raydap/step": {**one, "command": "next"},
            "raydap/evaluate": {"expression": "x"},
            "raydap/compare": {"expression": "x"},
            "raydap/reload": {"path": "/app/train.py", "text": "x = 1\n"},
        }
        about_one = ("stackTrace", "exceptionInfo", "continue", "next", "stepIn", "stepOut", "raydap/focus")
        return wanted.get(command, one if command in about_one else {})


def cost(size: int, action: Callable[[Crowd], object]) -> int:
    crowd = Crowd(size)
    counted = Counted(crowd.play)
    action(crowd)
    return counted.lines


def check(action: Callable[[Crowd], object], about_all: bool) -> None:
    cost(1, action)  # The first use fills caches.
    few, some, many = (cost(size, action) for size in SIZES)
    assert few > 0
    if about_all:
        assert many - some <= 2.1 * (some - few), (few, some, many)
    else:
        assert few == many, (few, some, many)


@pytest.mark.parametrize("command", TABLE)
def test_a_request(command: str) -> None:
    check(lambda crowd: crowd.client.send(command, **crowd.arguments(command)), command in ABOUT_ALL)


def events(crowd: Crowd) -> dict[type, ev.Event]:
    """Return one event of each type."""
    row, key = crowd.first.row, crowd.first.key
    new = crowd.play.worker("new", agent="/agents/new").row
    rows = tuple(worker.row for worker in crowd.workers)
    problem = Problem(Code.DASHBOARD_UNREACHABLE, "It does not answer.")
    client = ClientId(1)
    made: list[ev.Event] = [
        ev.ClientConnected(ClientId(7)),
        ev.ClientAdmitted(client),
        ev.ClientMessage(client, b"{}"),
        ev.ClientGone(client, "closed"),
        ev.WorkerConnected(key),
        ev.WorkerMessage(key, b'{"seq":1,"type":"event","event":"continued","body":{"threadId":1}}'),
        ev.WorkerGone(key, "closed"),
        ev.WorkersPaused(rows),
        ev.WorkersAlive(dict.fromkeys(rows, RayFacts())),
        ev.AgentCalled(new),
        ev.AgentFound(new),
        ev.AgentsEnded({"/agents/old"}),
        ev.NodesAlive({"n": "10.0.0.1"}),
        ev.AgentsExpected("one calls"),
        ev.AgentsSearched(),
        ev.AgentInjected(key, ""),
        ev.AgentAnswered(1, "{}"),
        ev.WaitingAnswered(key, ""),
        ev.StackSampled(key, ""),
        ev.ForkedWaitsFound(1, "{}"),
        ev.FactsListed({key: RayFacts(task="other")}),
        ev.ActorsListed(()),
        ev.RayStateListed(1, RayState()),
        ev.WorkersEnded((EndedWorker(row, "it crashed", True),)),
        ev.JobsListed(("01",)),
        ev.JobsEnded((EndedJob("01", "It has ended."),)),
        ev.DiscoveryReady("the cluster"),
        ev.DiscoveryFailed(problem),
        ListCut("The list is cut."),
        ev.TerminalNeeded(("python",), "/work", "train.py"),
        ev.DebuggeeStarted("train.py", 1),
        ev.DebuggeeOutput("stdout", "x\n"),
        ev.DebuggeeExited(0),
        ev.DebuggeeStopped(),
        ev.DebuggeeFailed(problem),
        ev.ChildPortOpened(1, "token"),
        ev.ChildPortFailed("no port"),
        ev.FilesChecked({"/app/train.py": True}),
        ev.NextPart(),
        ev.Tick(crowd.play.now + 1),
        ev.Shutdown(),
    ]
    return {type(event): event for event in made}


@pytest.mark.parametrize("kind", bridge._EVENTS)
def test_an_event(kind: type) -> None:
    check(lambda crowd: crowd.play.feed(events(crowd)[kind]), kind in LISTS)


def test_a_tick_costs_little_for_each_worker() -> None:
    few, many = (cost(size, lambda crowd: crowd.play.tick(1)) for size in (SIZES[0], SIZES[-1]))
    assert (many - few) / (SIZES[-1] - SIZES[0]) <= LINES_OF_A_TICK


def test_the_first_worker_is_one_of_the_crowd() -> None:
    crowd = Crowd(SIZES[0])
    assert crowd.first.key == WorkerKey("w0")
    assert crowd.client.request("evaluate", **crowd.arguments("evaluate"))["result"] == "x of w0"


@pytest.mark.parametrize("command", sorted(ABOUT_ALL))
def test_no_event_sends_messages_to_many_workers(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages are sent in parts, so that other events are handled in between."""
    monkeypatch.setattr(flows, "PART", 10)
    crowd = Crowd(100)
    numbers: list[int] = []
    handle = crowd.play.bridge.handle

    def counted(event: ev.Event) -> list[Effect]:
        effects = handle(event)
        numbers.append(sum(isinstance(effect, SendToWorker) for effect in effects))
        return effects

    monkeypatch.setattr(crowd.play.bridge, "handle", counted)
    crowd.client.send(command, **crowd.arguments(command))
    crowd.play.tick(2)
    assert max(numbers) <= 40, numbers
