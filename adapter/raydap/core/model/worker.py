"""Workers and their threads; the modules in workers/ change them."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Literal

from raydap.analysis.thread_stacks import SampledStack
from raydap.core.effects import Effect, Log, SendToWorker
from raydap.core.flows import Future
from raydap.core.model.handles import Handles, HandleScope
from raydap.core.model.pending import Asked, Pending, WorkerRefusedError
from raydap.core.model.run import Run
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.errors import Code, Problem, ProblemError, sentence
from raydap.protocol.id_fields import Kind
from raydap.protocol.types import Handle, LocalId, Seq, WorkerKey
from raydap.wire import envelope
from raydap.wire.envelope import Body

KEPT_SOURCES = 1000
"""Sources without a file whose handles are kept for a worker: pydevd numbers them anew in every stack."""

ANSWER_TIMEOUT_S = 30.0
"""Seconds for a request that a worker can answer at once."""

MESSAGE_LIMIT = 0xFFFFFF
"""Bytes of the longest message that debugpy's adapter reads (messaging.py, MAX_BODY_SIZE).

After a longer message it stops reading. For the worker's own messages see inworker/message_limit.py.
"""


UNANSWERED_LIMIT = 32 * 1024 * 1024
"""Bytes of long requests that a worker may leave unanswered.

A connection whose peer has 64 MiB still to read is closed (transport/peer.py). With it, the stop of a worker that is
only slow would be lost.
"""

_LONG = 64 * 1024
"""Bytes from which a request counts towards UNANSWERED_LIMIT. A shorter one, such as a pause, is always sent."""


class AttachStage(Enum):
    """How far the attach of a worker is; workers/attach.py goes through these stages."""

    DIALLING = auto()
    """The connection is being made."""
    STARTING = auto()
    """`initialize` and `attach` are sent."""
    CONFIGURING = auto()
    """The worker gets its breakpoints, before it may run."""
    ATTACHED = auto()
    GONE = auto()
    """The connection has ended."""


class ThreadState(Enum):
    """Whether a thread runs, and what clients see."""

    RUNNING = auto()
    STOPPED = auto()
    BLOCKED = auto()
    """The thread was to pause and cannot, so clients see a snapshot of its stack (workers/pauses.py)."""
    WAITING = auto()
    """The thread has stopped, and no client sees that yet.

    It waits at a barrier (workers/barriers.py), or between two steps that are one for the user (requests/lockstep.py).
    """
    RESUMING = auto()
    """A request to resume the thread has been sent, and the worker has not answered it."""


class WorkerContext:
    """The state that all workers share."""

    def __init__(self, emit: Callable[[Effect], None]) -> None:
        self.emit = emit
        """Takes each effect."""
        self.now = 0.0
        """The time of the last Tick, in seconds."""
        self.handles = Handles()
        self.pending = Pending()
        self.stopped: dict[Handle, WorkerThread] = {}
        """All threads that clients see as stopped, in the order in which they stopped."""
        self.leaving: set[WorkerKey] = set()
        """The connected workers that are to be detached."""

    def log(self, level: Literal["debug", "info", "warning", "error"], text: str) -> None:
        """Write a line to raydap's log."""
        self.emit(Log(level, text))


class WorkerThread:
    """One thread of a worker that has stopped at least once."""

    __slots__ = (
        "accept", "arriving", "call", "entering", "handle", "local", "order", "scope", "snapshot", "state",
        "stepped_from", "stepping", "stop", "stopped", "submits", "task", "uncalled", "watched", "worker",
    )  # fmt: skip

    def __init__(self, worker: "Worker", local: LocalId, order: int) -> None:
        self.worker = worker
        self.local = local
        """debugpy's id of the thread."""
        self.order = order
        """The thread's number among those of the worker, from 1, in the order of their first stops."""
        self.scope = worker.scope.open()
        self.handle: Handle = self.scope.handle(Kind.THREAD, local)
        self.state = ThreadState.RUNNING
        self.stepping = False
        """Whether the thread runs only until the end of a step, so that the user still looks at it."""
        self.entering = False
        """Whether the thread steps to the launched program's first line, where it stops with the reason `entry`."""
        self.stop: HandleScope | None = None
        """The scope with the handles of the current stop; None while the thread runs."""
        self.stopped: dict[str, object] = {}
        """The body of the last `stopped`, for clients that connect later."""
        self.snapshot: SampledStack | None = None
        """The stack of a BLOCKED thread."""
        self.submits = False
        """Whether the thread has stopped at a line with `.remote` (workers/remote_steps.py)."""
        self.task = ""
        """The hex id of the task of Ray that the thread ran at its last stop; "" if it ran none."""
        self.uncalled: set[str] = set()
        """The tasks whose callers were looked up in vain at this stop, by their hex ids."""
        self.watched: dict[str, object] = {}
        """The fields of the next stop if a watchpoint leads to it (workers/watch_hits.py); {} otherwise."""
        self.arriving = False
        """Whether its next stop is at the hidden breakpoint of a step across `.remote()`."""
        self.call: object = None
        """The RemoteStep that has led to the call that the thread runs, or has run."""
        self.stepped_from: WorkerThread | None = None
        """The other thread whose step leads to the next stop of this one, until that stop is shown."""
        self.accept: Callable[[], None] | None = None
        """Answers the request that resumes the thread, if that request has no answer yet."""

    @property
    def is_shown(self) -> bool:
        """Whether clients see the thread as stopped. It may be about to run."""
        return self.handle in self.worker.context.stopped

    @property
    def is_held(self) -> bool:
        """Whether clients see the thread as stopped, and none has resumed it."""
        return self.state in (ThreadState.STOPPED, ThreadState.BLOCKED)

    @property
    def is_at_barrier(self) -> bool:
        """Whether the thread waits at a barrier."""
        return self.state is ThreadState.WAITING and not self.stepping

    @property
    def raised(self) -> bool:
        """Whether the last stop was for an exception."""
        return self.stopped.get("reason") == "exception"

    def halt(self, stopped: dict[str, object], snapshot: SampledStack | None = None) -> None:
        """Mark the thread as stopped, or with `snapshot` as BLOCKED, and open a scope for the handles of the stop."""
        self.run()
        self.state = ThreadState.STOPPED if snapshot is None else ThreadState.BLOCKED
        self.snapshot = snapshot
        self.stepping = False
        self.stop = self.scope.open()
        self.stopped = stopped
        self.worker.context.stopped[self.handle] = self

    def wait(self) -> None:
        """Mark the thread as stopped without showing it to clients."""
        self.state = ThreadState.WAITING
        self.worker.mark()

    def run(self) -> bool:
        """Mark the thread as running, and end the handles of its stop. Return whether clients saw it as stopped."""
        self.state = ThreadState.RUNNING
        self.snapshot = None
        self.uncalled.clear()
        if self.stop is not None:
            self.stop.close()
            self.stop = None
        self.worker.mark()
        return self.worker.context.stopped.pop(self.handle, None) is not None

    def end(self) -> None:
        """End all handles of a thread that has ended."""
        self.run()
        self.stepping = False
        self.scope.close()


class Worker:
    """One worker process and the connection to it."""

    def __init__(
        self,
        context: WorkerContext,
        run: Run,
        row: ProcessInfo,
        settings: AttachSettings,
        parent: "Worker | None" = None,
    ) -> None:
        self.context = context
        self.run = run
        """The run for which it was attached."""
        self.parent = parent
        """The attached worker that a child comes from, if there is one."""
        self.row = row
        self.settings = settings
        self.key = row.key
        self.facts = RayFacts()
        self.stage = AttachStage.DIALLING
        self.leaving = False
        """Whether the worker is to be detached, which waits for the end of its attach."""
        self.detaching = False
        """Whether the detach of a leaving worker has begun."""
        self.watched: list[Handle] = []
        """The ids of the watchpoints that it has got last (workers/watch_setting.py)."""
        self.has_called = False
        """Whether the process waits until its attach is over."""
        self.package: str | None = None
        """The folder of the job's working_dir, if there is one; valid when `package_asked` is done."""
        self.package_asked: Future[None] | None = None
        """Done when the worker has reported its folders; None until it is asked for them."""
        self.has_modules = False
        """Whether the job has `py_modules`; valid when `package_asked` is done."""
        self.module_copies: dict[str, list[str]] = {}
        """The copies of a client's file in `py_modules`, by its path. A path that is missing was not looked up yet."""
        self.arrays: Future[None] | None = None
        """Done when the worker shows large arrays by their numbers; None until it is asked to."""
        self.connected: Future[None] = Future()
        """Done when the connection is made."""
        self.initialized: Future[None] = Future()
        """Done when the worker has sent `initialized`, or has answered `attach` without it."""
        self.quiet: Future[None] = Future()
        """Done when a leaving worker owes no answer, or when its time for answers is over."""
        self.answers_until: float | None = None
        """The deadline for the answers of a leaving worker; None before it is set and once the worker is quiet."""
        self.scope = context.handles.scope(row.key)
        """The handles that live as long as the connection."""
        self.threads: dict[LocalId, WorkerThread] = {}
        self._sources: dict[LocalId, HandleScope] = {}
        """The scope of each source's handle, the least recently shown first."""
        self._seq = 0
        self._unanswered = 0
        """Bytes of the long requests that have no answer."""
        self._threads_seen = 0
        """The number of threads that have been seen so far."""

    # Transitions, which mark the worker in the roster.

    def mark(self) -> None:
        """Mark the worker in the roster, because its state may have changed."""
        self.run.roster.mark(self.key)

    def advance(self, stage: AttachStage) -> None:
        """Enter the next stage of the attach."""
        self.stage = stage
        self.mark()

    def leave(self) -> None:
        """Mark the worker as one that is to be detached."""
        self.leaving = True
        self.context.leaving.add(self.key)
        self.mark()

    def thread(self, local: LocalId) -> WorkerThread:
        """Return the thread with debugpy's id `local`; create it if it has not been seen before."""
        thread = self.threads.get(local)
        if thread is None:
            self._threads_seen += 1
            thread = self.threads[local] = WorkerThread(self, local, self._threads_seen)
            self.mark()  # The second thread changes the name of the first, which gets its number.
        return thread

    def source(self, local: LocalId) -> Handle:
        """Return the handle of debugpy's sourceReference `local`.

        Beyond KEPT_SOURCES, the handle of the least recently shown source ends.
        """
        scope = self._sources.pop(local, None) or self.scope.open()
        self._sources[local] = scope
        if len(self._sources) > KEPT_SOURCES:
            self._sources.pop(next(iter(self._sources))).close()
        return scope.handle(Kind.SOURCE, local)

    # Messages to the worker.

    def ask(self, command: str, arguments: Body = None, timeout_s: float = ANSWER_TIMEOUT_S) -> Asked:
        """Send a request now. Return the future of its answer, for `yield from`.

        If the worker is gone, nothing is sent and the future fails: a flow whose request has just failed for this
        reason may send another one.
        """
        asked = Asked(command, self.context.now + timeout_s)
        if self.stage is AttachStage.GONE:
            text = sentence(f"{self} has ended, so {command} has no answer.")
            asked.set_exception(ProblemError(Problem(Code.WORKER_GONE, text)))
            return asked
        seq = Seq(self._seq + 1)
        message = envelope.request(seq, command, arguments)
        if len(message) > MESSAGE_LIMIT:
            text = f"{command} is longer than debugpy can read ({MESSAGE_LIMIT} bytes); send less."
            asked.set_exception(ProblemError(Problem(Code.BAD_ARGUMENT, text)))
        elif len(message) >= _LONG and self._unanswered + len(message) > UNANSWERED_LIMIT:
            text = f"{self} has not answered earlier long requests; send {command} again when it has."
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

    def request_logged(self, command: str, arguments: Body = None, timeout_s: float = ANSWER_TIMEOUT_S) -> Asked:
        """Send a request like `ask`, and log its failure."""

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
        """Answer a reverse request with a failure: a worker is not trusted with any."""
        self._seq += 1
        self.send(envelope.failure(Seq(self._seq), Seq(request.seq), request.command, message, None))

    def send(self, data: bytes) -> None:
        """Send an encoded message."""
        self.context.emit(SendToWorker(self.key, data))

    @property
    def can_end_unanswered(self) -> bool:
        """Whether a process that resumes and ends immediately may leave the request unanswered.

        Its agent does not answer then, nor does the adapter of its parent. An adapter of its own does.
        """
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
        """Whether raydap reaches the worker through its parent's adapter."""
        return self.parent is not None and not self.row.agent

    @property
    def is_attached(self) -> bool:
        """Whether the worker is attached, and not to be detached."""
        return self.stage is AttachStage.ATTACHED and not self.leaving

    @property
    def threaded(self) -> bool:
        """Whether several threads of the worker have stopped so far."""
        return self._threads_seen > 1

    def __str__(self) -> str:
        """Return the worker's name in messages: `worker 1234 on 10.0.0.7`."""
        row = self.row
        return f"worker {row.pid} on {row.node}" if row.pid else f"worker {row.host}:{row.port}"
