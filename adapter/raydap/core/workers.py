"""Workers and their threads, as the bridge knows them; handshake.py and stops.py say how they change."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

from raydap.core.clients import encode
from raydap.core.events import Effect, PausedWorker, SendToWorker, WorkerLabel
from raydap.core.ids import Ids, Scope
from raydap.core.pending import Pending, Reply, Waiting
from raydap.core.settings import AttachSettings
from raydap.protocol.ids import Kind
from raydap.protocol.types import Handle, LocalId, Seq
from raydap.wire import envelope

KEPT_SOURCES = 1000
"""Sources without a file that a worker's handles are kept for: pydevd numbers them anew in every stack it shows."""


class Stage(Enum):
    """How far the attach is; handshake.py has the table."""

    DIALLING = auto()
    STARTING = auto()
    CONFIGURING = auto()
    ATTACHED = auto()
    GONE = auto()


class State(Enum):
    RUNNING = auto()
    STOPPED = auto()
    RESUMING = auto()


class Thread:
    """One thread of a worker that has stopped at least once.

    `stop` is the scope of what was shown of the current stop; `stopped` is the body of its event, for clients that come
    later. `stepping`: it runs only until the end of a step, so the user still looks at it. `order` counts from 1.
    """

    __slots__ = ("handle", "local", "order", "scope", "state", "stepping", "stop", "stopped", "worker")

    def __init__(self, worker: "Worker", local: LocalId, order: int) -> None:
        self.worker = worker
        self.local = local
        self.order = order
        self.scope = worker.scope.open()
        self.handle: Handle = self.scope.up(Kind.THREAD, local)
        self.state = State.RUNNING
        self.stepping = False
        self.stop: Scope | None = None
        self.stopped: dict[str, Any] = {}

    def halt(self, stopped: dict[str, Any]) -> None:
        self.run()
        self.state = State.STOPPED
        self.stepping = False
        self.stop = self.scope.open()
        self.stopped = stopped

    def run(self) -> None:
        """It runs: everything that was shown of its stop is void."""
        self.state = State.RUNNING
        if self.stop is not None:
            self.stop.close()
            self.stop = None

    def end(self) -> None:
        self.run()
        self.stepping = False
        self.scope.close()


class Worker:
    """One worker process and the connection to it. `leaving`: nobody wants it any more, but it cannot be let go yet."""

    def __init__(
        self,
        row: PausedWorker,
        settings: AttachSettings,
        ids: Ids,
        pending: Pending,
        emit: Callable[[Effect], None],
        parent: "Worker | None" = None,
    ) -> None:
        self.parent = parent
        self.row = row
        self.settings = settings
        self.key = row.key
        self.label = WorkerLabel()
        self.stage = Stage.DIALLING
        self.leaving = False
        self.package: str | None = None
        self.scope = ids.scope(row.key)
        self.threads: dict[LocalId, Thread] = {}
        self._sources: dict[LocalId, Scope] = {}
        self._pending = pending
        self._emit = emit
        self._seq = 0
        self._threads_seen = 0

    def thread(self, local: LocalId) -> Thread:
        """The thread with debugpy's id `local`, which may be new to us."""
        thread = self.threads.get(local)
        if thread is None:
            self._threads_seen += 1
            thread = self.threads[local] = Thread(self, local, self._threads_seen)
        return thread

    def source(self, local: LocalId) -> Handle:
        """The handle of debugpy's sourceReference `local`; that which was shown longest ago gives way to a new one."""
        scope = self._sources.pop(local, None) or self.scope.open()
        self._sources[local] = scope
        if len(self._sources) > KEPT_SOURCES:
            self._sources.pop(next(iter(self._sources))).close()
        return scope.up(Kind.SOURCE, local)

    def request(
        self,
        command: str,
        arguments: Mapping[str, Any] | bytes | None,
        then: Callable[[Reply], None],
        deadline: float,
    ) -> None:
        """Sends a request; `then` gets its answer, or a Problem once `deadline` (as in events.Tick) has passed."""
        self._seq += 1
        seq = Seq(self._seq)
        self._pending.add(self.key, seq, Waiting(command, then, deadline))
        self.send(envelope.request(seq, command, encode(arguments)))

    def refuse(self, request: envelope.Envelope, message: str) -> None:
        """Answers a reverse request of the worker, which is not trusted with any."""
        self._seq += 1
        self.send(envelope.failure(Seq(self._seq), Seq(request.seq), request.command, message, None))

    def send(self, data: bytes) -> None:
        self._emit(SendToWorker(self.key, data))

    @property
    def threaded(self) -> bool:
        """Whether several of its threads have stopped so far."""
        return self._threads_seen > 1

    def __str__(self) -> str:
        """How messages call it: `worker 1234 on 10.0.0.7`."""
        row = self.row
        return f"worker {row.pid} on {row.node}" if row.pid else f"worker {row.host}:{row.port}"
