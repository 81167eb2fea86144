"""What the rooms of the core share: the clients, the workers, and what they are to do."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal

from raydap.core.breakpoints import Breakpoints
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem
from raydap.core.events import DoorOpened, Effect, Log, PausedWorker, WorkerLabel
from raydap.core.ids import Ids
from raydap.core.pending import Pending
from raydap.core.settings import AttachSettings, Hosting
from raydap.core.workers import Thread, Worker
from raydap.protocol import messages
from raydap.protocol.ids import Kind
from raydap.protocol.types import ClientId, Handle, WorkerKey

MISSED = 50
"""Messages that are kept for the client that comes back."""


class Phase(Enum):
    """IDLE: nothing asked for. STARTING: discovery or the program has not answered yet. ACTIVE: it has."""

    IDLE = auto()
    STARTING = auto()
    ACTIVE = auto()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paused worker that waits for room, or for the labels by which the filters judge it.

    `ask_at`: when Ray is asked for those labels again, if they are needed and still unknown.
    """

    row: PausedWorker
    ask_at: float


@dataclass(frozen=True, slots=True)
class Failure:
    """A paused worker that could not be attached, and why; when to try again, and how long that was put off."""

    row: PausedWorker
    problem: str
    retry_at: float
    delay: float


@dataclass(frozen=True, slots=True)
class Entry:
    """What was told last of a worker (roster.py); `since` is when its state began."""

    since: float
    body: dict[str, Any]


@dataclass(slots=True)
class Progress:
    """How far the attach to many workers is (progress.py): `most` were to be attached at a time; `shown` is the
    percentage that `clients` were told last."""

    id: str
    clients: list[Client]
    most: int
    shown: int = 0


class Session:
    """State only; the functions around it change it. `emit` takes the effects, `now` is the time of the last Tick.

    Of workers that are let go (handshake.py), `parting` says how long their answers are waited for before the farewell,
    and `left` when it was over, for as long as they need their rest. `waiting` are the candidates that have yet to be
    looked at (again), `under_way` the workers whose attach goes on: what is done after every event must not walk over
    all candidates or workers. `held`, `release_at` and `missed` are about a hub without clients (hosting.py).

    `outage` is what the users were told of a cluster that does not answer, "" if it does.

    `auto_attach`: whoever pauses is attached, but for those that the user has made other `choices` about. `changed` are
    the workers that `roster` may be wrong about, `ends` why some of them have ended, `departed` the last of their kind.
    """

    def __init__(self, emit: Callable[[Effect], None], hosting: Hosting | None = None) -> None:
        self.emit = emit
        self.hosting = hosting
        self.held = False
        self.release_at: float | None = None
        self.missed: list[str] = []
        self.now = 0.0
        self.phase = Phase.IDLE
        self.settings: AttachSettings | None = None
        self.configured = False
        self.outage = ""
        self.starting: list[Request] = []
        self.clients: dict[ClientId, Client] = {}
        self.workers: dict[WorkerKey, Worker] = {}
        self.under_way: set[WorkerKey] = set()
        self.candidates: dict[WorkerKey, Candidate] = {}
        self.waiting: dict[WorkerKey, None] = {}
        self.failures: dict[WorkerKey, Failure] = {}
        self.labels: dict[WorkerKey, WorkerLabel] = {}
        self.parting: dict[WorkerKey, float] = {}
        self.left: dict[WorkerKey, float] = {}
        self.said: set[Code] = set()
        self.ids = Ids()
        self.pending = Pending()
        self.breakpoints = Breakpoints(self.ids)
        self.stopped: dict[Handle, Thread] = {}
        self.sources: dict[str, messages.Source] = {}
        self.files: dict[str, bool] = {}
        self.checks: list[tuple[set[str], Callable[[], None]]] = []
        self.door: DoorOpened | None = None
        self.progress: Progress | None = None
        self.auto_attach = False
        self.choices: dict[WorkerKey, bool] = {}
        self.changed: dict[WorkerKey, None] = {}
        self.ends: dict[WorkerKey, str] = {}
        self.roster: dict[WorkerKey, Entry] = {}
        self.departed: dict[WorkerKey, Entry] = {}

    def reset(self) -> None:
        """Forgets what was asked for; clients and workers stay until each has gone."""
        self.phase = Phase.IDLE
        self.settings = None
        self.configured = False
        self.auto_attach = False
        self.choices.clear()
        self.outage = ""
        self.held = False
        self.release_at = None
        self.missed.clear()
        self.changed.update(dict.fromkeys([*self.candidates, *self.failures]))
        self.candidates.clear()
        self.waiting.clear()
        self.failures.clear()
        self.labels.clear()
        self.ends.clear()
        self.said.clear()
        self.breakpoints.clear()
        self.sources.clear()
        self.files.clear()
        self.progress = None

    def look_again(self) -> None:
        """Something has changed that may concern any candidate."""
        self.waiting.update(dict.fromkeys(self.candidates))

    def ready(self) -> Iterator[Client]:
        return (client for client in self.clients.values() if client.ready)

    def broadcast(self, event: str, body: Mapping[str, Any], worker: WorkerKey | None = None) -> None:
        """Tells all clients, or those that see a worker."""
        for client in self.ready():
            if worker is None or client.sees(worker):
                client.event(event, body)

    def thread(self, handle: object) -> Thread:
        """The thread behind a handle. Raises ProblemError (STALE_ID)."""
        target = self.ids.down(Kind.THREAD, handle)
        assert isinstance(target.local, int)
        return self.workers[target.worker].threads[target.local]

    def end(self, thread: Thread) -> None:
        """The thread is no more; clients that know of it are told."""
        self.stopped.pop(thread.handle, None)
        self.changed[thread.worker.key] = None
        thread.end()
        for client in self.clients.values():
            if thread.handle in client.threads:
                client.threads.remove(thread.handle)
                client.event("thread", {"reason": "exited", "threadId": thread.handle})

    def say(self, text: str) -> None:
        """Tells the users something that is no answer to anything."""
        self._output("console", text)

    def report(self, problem: Problem) -> None:
        """Tells the users of a problem that no request of theirs can be blamed for."""
        self.log("warning", f"{problem} {problem.detail}".rstrip())
        self._output("important", str(problem))

    def report_once(self, problem: Problem) -> None:
        """The same, but only the first time in this session."""
        if problem.code not in self.said:
            self.said.add(problem.code)
            self.report(problem)

    def log(self, level: Literal["debug", "info", "warning", "error"], text: str) -> None:
        self.emit(Log(level, text))

    def _output(self, category: str, text: str) -> None:
        if self.held:
            self.missed.append(text)
            del self.missed[:-MISSED]
        for client in self.clients.values():
            if client.attached:
                client.event("output", {"category": category, "output": f"{text}\n"})
