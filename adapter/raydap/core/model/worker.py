"""Workers and their threads, as the bridge knows them; the modules in workers/ change them."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Literal

from raydap.analysis.thread_stacks import ThreadStack
from raydap.core.effects import Effect, Log, SendToWorker
from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.flows import Future
from raydap.core.model.handles import Handles, Scope
from raydap.core.model.pending import Asked, Pending, WorkerRefusedError
from raydap.core.model.run import Run
from raydap.core.settings import AttachSettings
from raydap.errors import Code, Problem, ProblemError, sentence
from raydap.protocol.id_fields import Kind
from raydap.protocol.types import Handle, LocalId, Seq, WorkerKey
from raydap.wire import envelope
from raydap.wire.envelope import Body

KEPT_SOURCES = 1000
"""The number of sources without a file whose handles are kept for a worker: pydevd numbers them anew in every stack."""

ANSWER_TIMEOUT_S = 30.0
"""Seconds for a request that a worker can answer at once."""

MESSAGE_LIMIT = 0xFFFFFF
"""The longest message in bytes that debugpy's adapter reads. After a longer one it reads no more (messaging.py,
MAX_BODY_SIZE). For the worker's own messages see inworker/message_limit.py."""


UNANSWERED_LIMIT = 32 * 1024 * 1024
"""Bytes of long requests that a worker may have to answer. A connection with 64 MiB to be read is ended
(transport/peer.py), and with it the stop of a worker that is only slow."""

_LONG = 64 * 1024
"""Bytes of a request that counts for that. A shorter request, such as a pause, is always sent."""


class AttachStage(Enum):
    """How far the attach of a worker is; workers/attach.py goes through these stages."""

    DIALLING = auto()
    STARTING = auto()
    CONFIGURING = auto()
    ATTACHED = auto()
    GONE = auto()


class ThreadState(Enum):
    """BLOCKED: it was to pause and cannot, so a snapshot of its stack is shown (workers/pauses.py). WAITING: it has
    stopped, and no client sees that yet: at a barrier (workers/barriers.py), or between two steps that are one for the
    user (requests/lockstep.py)."""

    RUNNING = auto()
    STOPPED = auto()
    BLOCKED = auto()
    WAITING = auto()
    RESUMING = auto()


class WorkerContext:
    """The state that all workers share. `emit` takes the effects; `now` is the time of the last Tick, in seconds;
    `stopped` are all stopped threads, in the order in which they stopped. `leaving` are the connected workers that are
    to be detached."""

    def __init__(self, emit: Callable[[Effect], None]) -> None:
        self.emit = emit
        self.now = 0.0
        self.handles = Handles()
        self.pending = Pending()
        self.stopped: dict[Handle, Thread] = {}
        self.leaving: set[WorkerKey] = set()

    def log(self, level: Literal["debug", "info", "warning", "error"], text: str) -> None:
        self.emit(Log(level, text))


class Thread:
    """One thread of a worker that has stopped at least once.

    `stop` is the scope with the handles of the current stop; `stopped` is the body of its event, for clients that come
    later. `snapshot` is the stack of a BLOCKED one. `stepping`: it runs only until the end of a step, so the user still
    looks at it. `order` counts from 1. `accept` answers the request that resumes it, if one is not answered yet.
    """

    __slots__ = (
        "accept", "handle", "local", "order", "scope", "snapshot", "state", "stepping", "stop", "stopped", "worker",
    )  # fmt: skip

    def __init__(self, worker: "Worker", local: LocalId, order: int) -> None:
        self.worker = worker
        self.local = local
        self.order = order
        self.scope = worker.scope.open()
        self.handle: Handle = self.scope.handle(Kind.THREAD, local)
        self.state = ThreadState.RUNNING
        self.stepping = False
        self.stop: Scope | None = None
        self.stopped: dict[str, object] = {}
        self.snapshot: ThreadStack | None = None
        self.accept: Callable[[], None] | None = None

    @property
    def is_shown(self) -> bool:
        """Whether clients see a stop of it. The thread may be about to run on."""
        return self.handle in self.worker.context.stopped

    @property
    def is_held(self) -> bool:
        """Whether it is shown and nobody has resumed it."""
        return self.state in (ThreadState.STOPPED, ThreadState.BLOCKED)

    @property
    def is_at_barrier(self) -> bool:
        return self.state is ThreadState.WAITING and not self.stepping

    @property
    def raised(self) -> bool:
        """Whether its last stop was for an exception."""
        return self.stopped.get("reason") == "exception"

    def halt(self, stopped: dict[str, object], snapshot: ThreadStack | None = None) -> None:
        """With `snapshot` it is BLOCKED."""
        self.run()
        self.state = ThreadState.STOPPED if snapshot is None else ThreadState.BLOCKED
        self.snapshot = snapshot
        self.stepping = False
        self.stop = self.scope.open()
        self.stopped = stopped
        self.worker.context.stopped[self.handle] = self

    def wait(self) -> None:
        """It has stopped, and no client sees that yet."""
        self.state = ThreadState.WAITING
        self.worker.mark()

    def run(self) -> bool:
        """Marks the thread as running and ends the handles of its stop. Returns whether it was stopped."""
        self.state = ThreadState.RUNNING
        self.snapshot = None
        if self.stop is not None:
            self.stop.close()
            self.stop = None
        self.worker.mark()
        return self.worker.context.stopped.pop(self.handle, None) is not None

    def end(self) -> None:
        self.run()
        self.stepping = False
        self.scope.close()


class Worker:
    """One worker process and the connection to it; `run` is the run that it was attached for. `parent` is the worker
    that a child comes from.

    `leaving`: it is to be detached, but cannot be yet. `has_called`: its process waits until it is attached.
    `connected` and `initialized` are done when that has happened, `quiet` when a leaving worker owes no answer.
    `package` is the folder of its job's working_dir, if there is one; it is known when `package_asked` is done.
    `arrays` is done when the worker shows large arrays by their numbers, None before it is asked to.
    """

    def __init__(
        self,
        context: WorkerContext,
        run: Run,
        row: PausedWorker,
        settings: AttachSettings,
        parent: "Worker | None" = None,
    ) -> None:
        self.context = context
        self.run = run
        self.parent = parent
        self.row = row
        self.settings = settings
        self.key = row.key
        self.label = WorkerLabel()
        self.stage = AttachStage.DIALLING
        self.leaving = False
        self.detaching = False
        """Whether the last requests have been sent to a worker that is leaving."""
        self.has_called = False
        self.package: str | None = None
        self.package_asked: Future[None] | None = None
        self.has_modules = False
        """Whether its job has `py_modules`; known with `package`."""
        self.module_copies: dict[str, list[str]] = {}
        """The files of `py_modules` that are copies of a client's file, by its path. Absent: not asked yet."""
        self.arrays: Future[None] | None = None
        self.connected: Future[None] = Future()
        self.initialized: Future[None] = Future()
        self.quiet: Future[None] = Future()
        self.answers_until: float | None = None
        """Until when a leaving worker may answer what it was asked; None before that counts."""
        self.scope = context.handles.scope(row.key)
        self.threads: dict[LocalId, Thread] = {}
        self._sources: dict[LocalId, Scope] = {}
        self._seq = 0
        self._unanswered = 0
        """Bytes of the long requests that have no answer."""
        self._threads_seen = 0

    # Transitions, which mark what clients are told of the worker.

    def mark(self) -> None:
        self.run.roster.mark(self.key)

    def advance(self, stage: AttachStage) -> None:
        self.stage = stage
        self.mark()

    def leave(self) -> None:
        self.leaving = True
        self.context.leaving.add(self.key)
        self.mark()

    def thread(self, local: LocalId) -> Thread:
        """The thread with debugpy's id `local`, which may be new to us."""
        thread = self.threads.get(local)
        if thread is None:
            self._threads_seen += 1
            thread = self.threads[local] = Thread(self, local, self._threads_seen)
            self.mark()  # With a second thread, the first is called #1.
        return thread

    def source(self, local: LocalId) -> Handle:
        """The handle of debugpy's sourceReference `local`. Beyond KEPT_SOURCES the least recently shown one ends."""
        scope = self._sources.pop(local, None) or self.scope.open()
        self._sources[local] = scope
        if len(self._sources) > KEPT_SOURCES:
            self._sources.pop(next(iter(self._sources))).close()
        return scope.handle(Kind.SOURCE, local)

    # Messages to it.

    def ask(self, command: str, arguments: Body = None, timeout_s: float = ANSWER_TIMEOUT_S) -> Asked:
        """Sends a request now; flows wait for its answer by `yield from`.

        A worker that is gone is sent nothing: a flow that one of its requests has ended may have another one for it.
        """
        asked = Asked(command, self.context.now + timeout_s)
        if self.stage is AttachStage.GONE:
            text = sentence(f"{self} is gone, so {command} has no answer.")
            asked.set_exception(ProblemError(Problem(Code.WORKER_GONE, text)))
            return asked
        seq = Seq(self._seq + 1)
        message = envelope.request(seq, command, arguments)
        if len(message) > MESSAGE_LIMIT:
            text = f"{command} has more bytes than debugpy reads at once ({MESSAGE_LIMIT}); send less."
            asked.set_exception(ProblemError(Problem(Code.BAD_ARGUMENT, text)))
        elif len(message) >= _LONG and self._unanswered + len(message) > UNANSWERED_LIMIT:
            text = f"{self} has not answered the long requests before {command}; send it again when it has."
            asked.set_exception(ProblemError(Problem(Code.WORKER_SILENT, sentence(text))))
        else:
            if len(message) >= _LONG:
                self._unanswered += len(message)
                asked.add_done_callback(lambda _: self._note_answer(len(message)))
            self._seq = seq
            self.context.pending.add(self.key, seq, asked)
            self.send(message)
        return asked

    def _note_answer(self, length: int) -> None:
        self._unanswered -= length

    def tell(self, command: str, arguments: Body = None, timeout_s: float = ANSWER_TIMEOUT_S) -> Asked:
        """Like `ask`, for requests whose failure is only logged."""

        def log(asked: Future[Any]) -> None:
            error = asked.exception
            if isinstance(error, WorkerRefusedError):
                self.context.log("warning", f"{self} failed {command}: {error.reply.message}")
            elif isinstance(error, ProblemError):
                self.context.log("warning", str(error.problem))

        asked = self.ask(command, arguments, timeout_s)
        asked.add_done_callback(log)
        return asked

    def refuse(self, request: envelope.Envelope, message: str) -> None:
        """Answers a reverse request of the worker, which is not trusted with any."""
        self._seq += 1
        self.send(envelope.failure(Seq(self._seq), Seq(request.seq), request.command, message, None))

    def send(self, data: bytes) -> None:
        self.context.emit(SendToWorker(self.key, data))

    @property
    def can_end_unanswered(self) -> bool:
        """Whether a process that is continued and ends at once may not answer: neither its agent does, nor the adapter
        of its parent. The adapter of any other process does."""
        return bool(self.row.agent) or self.parent is not None

    @property
    def origin(self) -> "Worker":
        """The Ray worker that a child comes from; the worker itself if it is no child."""
        worker = self
        while worker.parent is not None:
            worker = worker.parent
        return worker

    @property
    def shares_adapter(self) -> bool:
        """Whether it is reached through its parent's adapter."""
        return self.parent is not None and not self.row.agent

    @property
    def is_attached(self) -> bool:
        """Whether the worker is attached and stays so."""
        return self.stage is AttachStage.ATTACHED and not self.leaving

    @property
    def threaded(self) -> bool:
        """Whether several of its threads have stopped so far."""
        return self._threads_seen > 1

    def __str__(self) -> str:
        """Its name in messages: `worker 1234 on 10.0.0.7`."""
        row = self.row
        return f"worker {row.pid} on {row.node}" if row.pid else f"worker {row.host}:{row.port}"
