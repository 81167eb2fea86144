"""The bridge's own time, in one process: bytes from a worker in, bytes for the client out, without a socket."""

import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from bench.messages import CLIENT, client_request, stack_frame, worker_answer, worker_event
from bench.report import Row, within
from raydap.core.bridge import Bridge
from raydap.core.effects import CheckFiles, DialWorker, Effect, ScheduleNextPart, SendToClient, SendToWorker
from raydap.core.events import (
    ClientConnected,
    ClientMessage,
    DiscoveryReady,
    Event,
    FilesChecked,
    NextPart,
    WorkerConnected,
    WorkerMessage,
    WorkersPaused,
)
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey
from raydap.wire.framing import Decoder, encode

E = TypeVar("E", SendToClient, SendToWorker)


class Core:
    """A bridge with this many attached workers, which answer each request of the handshake at once."""

    def __init__(self, workers: int) -> None:
        self._bridge = Bridge()
        self.keys = [WorkerKey(f"worker-{number}") for number in range(workers)]
        self.feed(ClientConnected(CLIENT))
        self.feed(client_request("initialize", adapterID="raydap"))
        self.feed(client_request("attach", maxWorkers=workers))
        self.feed(DiscoveryReady("nowhere"))
        self.feed(client_request("configurationDone"))
        rows = (ProcessInfo(key, "10.0.0.1", 1 + n, 4000 + n, "10.0.0.1") for n, key in enumerate(self.keys))
        self.feed(WorkersPaused(tuple(rows)))

    def handle(self, event: Event) -> list[Effect]:
        effects: list[Effect] = []
        for effect in self._bridge.handle(event):
            if isinstance(effect, CheckFiles):
                effects += self._bridge.handle(FilesChecked(dict.fromkeys(effect.paths, True)))
            elif isinstance(effect, ScheduleNextPart):
                effects += self.handle(NextPart())
            else:
                effects.append(effect)
        return effects

    def only(self, kind: type[E], event: Event) -> E:
        """Handle an event that has exactly one effect, of this kind, and return the effect."""
        (effect,) = self.handle(event)
        assert isinstance(effect, kind)
        return effect

    def feed(self, event: Event) -> None:
        """Handle an event and all answers of the workers."""
        todo = [event]
        for each in todo:
            for effect in self.handle(each):
                if isinstance(effect, DialWorker):
                    todo.append(WorkerConnected(effect.worker))
                elif isinstance(effect, SendToWorker):
                    request = json.loads(effect.data)
                    body = {"stackFrames": [{"id": 1}]} if request["command"] == "stackTrace" else {}
                    todo.append(self.answer(effect, body))
                    if request["command"] == "attach":
                        todo.insert(todo.index(each) + 1, worker_event(effect.worker, "initialized"))

    def answer(self, asked: SendToWorker, body: Any) -> WorkerMessage:
        """Return the worker's answer to a request of the bridge."""
        return worker_answer(asked.worker, json.loads(asked.data), body)

    def stop(self, worker: WorkerKey, thread: int = 1) -> int:
        """Stop a thread and return its handle."""
        self.feed(worker_event(worker, "stopped", reason="breakpoint", threadId=thread))
        (listed,) = self.threads()[-1:]
        return int(listed["id"])

    def threads(self) -> list[dict[str, Any]]:
        effect = self.only(SendToClient, client_request("threads"))
        listed: list[dict[str, Any]] = json.loads(effect.data)["body"]["threads"]
        return listed


def measure(_: Path, quick: bool) -> Iterator[Row]:
    repeats = 200 if quick else 2000
    frames = {"stackFrames": [stack_frame(number) for number in range(20)], "totalFrames": 20}
    requests, answers = _forwarded("stackTrace", frames, repeats)
    yield within("own time, 20-frame stackTrace answer", answers, 60, "us")
    yield Row("own time, stackTrace request", "us", requests)
    variables = {"variables": [_variable(number) for number in range(200)]}
    requests, answers = _forwarded("variables", variables, repeats)
    yield within("own time, 200-variable answer", answers, 600, "us")
    yield within("10,000 threads listed, own time", _listed(10 if quick else 50), 20, "ms")


def _forwarded(command: str, body: Any, repeats: int) -> tuple[list[float], list[float]]:
    """Return the microseconds of each request and each response, framing included. Each stop has new ids."""
    core = Core(1)
    worker = core.keys[0]
    ids = count(1000)
    requests, answers = [], []
    for _ in range(repeats):
        thread = core.stop(worker)
        arguments = {"threadId": thread}
        if command == "variables":
            asked = core.only(SendToWorker, client_request("stackTrace", threadId=thread))
            shown = core.only(SendToClient, core.answer(asked, {"stackFrames": [stack_frame(0) | {"id": next(ids)}]}))
            frame = json.loads(shown.data)["body"]["stackFrames"][0]["id"]
            asked = core.only(SendToWorker, client_request("scopes", frameId=frame))
            scopes = {"scopes": [{"name": "Locals", "variablesReference": next(ids)}]}
            shown = core.only(SendToClient, core.answer(asked, scopes))
            arguments = {"variablesReference": json.loads(shown.data)["body"]["scopes"][0]["variablesReference"]}
        asked, took = _through(core, CLIENT, encode(client_request(command, **arguments).data))
        requests.append(took)
        _renumber(body, ids)
        _, took = _through(core, worker, encode(core.answer(asked, body).data))
        answers.append(took)
        core.feed(worker_event(worker, "continued", threadId=1, allThreadsContinued=False))
    return requests, answers


def _through(core: Core, sender: Any, data: bytes) -> tuple[Any, float]:
    """Pass the bytes of one side through the bridge. Return the last effect and the microseconds."""
    decoder = Decoder()
    kind = ClientMessage if sender is CLIENT else WorkerMessage
    began = time.perf_counter_ns()
    for body in decoder.feed(data):
        effects = core.handle(kind(sender, body))
        for effect in effects:
            encode(effect.data)  # type: ignore[union-attr]
    took = (time.perf_counter_ns() - began) / 1000
    return effects[-1], took


def _listed(repeats: int) -> list[float]:
    """Return the milliseconds for a list of 10,000 stopped threads, ten in each of 1,000 workers."""
    core = Core(1000)
    for worker in core.keys:
        for thread in range(1, 11):
            core.feed(worker_event(worker, "stopped", reason="breakpoint", threadId=thread))
    assert len(core.threads()) == 10_000
    return [_through(core, CLIENT, encode(client_request("threads").data))[1] / 1000 for _ in range(repeats)]


def _variable(number: int) -> dict[str, Any]:
    name = f"observation_{number}"
    value = {"value": "array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])", "type": "ndarray", "evaluateName": name}
    return {"name": name, **value, "variablesReference": 0, "presentationHint": {"attributes": ["rawString"]}}


def _renumber(body: dict[str, Any], ids: "count[int]") -> None:
    for frame in body.get("stackFrames", ()):
        frame["id"] = next(ids)
    for variable in body.get("variables", ()):
        variable["variablesReference"] = next(ids)
