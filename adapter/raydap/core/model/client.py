"""Clients: editors, terminals, agents. Each has its own sequence numbers and capabilities, and its open requests."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

from raydap.core.effects import Effect, SendToClient
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.worker import Thread, Worker
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import ClientId, Handle, Seq, WorkerKey
from raydap.wire import envelope
from raydap.wire.envelope import Body


class ClientStage(IntEnum):
    """How far a client's session is. A client gets stops and threads once it is READY, after configurationDone. VS
    Code that has LEFT, by `disconnect`, gets answers only."""

    GONE = auto()
    LEFT = auto()
    CONNECTED = auto()
    INITIALIZED = auto()
    ATTACHED = auto()
    READY = auto()


class Role(Enum):
    """The rights of a client.

    UNTRUSTED: it has not shown the hub's token yet. JOINING: it came by the port for child sessions, and may only
    become a CHILD, which sees one worker. A PARENT has a child session for each worker. An OBSERVER may only look.
    """

    UNTRUSTED = auto()
    JOINING = auto()
    DEBUGGER = auto()
    OBSERVER = auto()
    PARENT = auto()
    CHILD = auto()


@dataclass(frozen=True, slots=True)
class Offer:
    """A worker for which a PARENT got a startDebugging request, and the time until which its session has to come."""

    worker: WorkerKey
    until: float


class View:
    """A client's knowledge of one run. `focus` is the thread that its user looks at, as far as requests show it.
    `threads` and `breakpoints` were sent to it. `seen` are the threads whose stack it has fetched since they stopped,
    `renamed` those with a name that it has not got yet. `unread` are those whose stop it was sent while it has not
    asked for their stack, `waiting` those whose stop it will be sent later (workers/stop_pacing.py); they wait since it
    last asked for a stack, or since the first of them came, which is `waiting_since`. `watching`: it gets changes of
    workers (raydap/workers); with `all` also those of alive ones.

    `offered` are the open startDebugging requests of a PARENT, by their numbers; `adopted` are the workers for which
    its editor opened no session, so that it shows them itself. `only` is the worker of a CHILD.
    """

    def __init__(self) -> None:
        self.focus: Thread | None = None
        self.threads: set[Handle] = set()
        self.breakpoints: set[Handle] = set()
        self.shown: set[Handle] = set()
        """The breakpoints that it has sent itself, or knows from `raydap/breakpoints`: it removes one of these by
        leaving it out."""
        self.read: set[Handle] = set()
        """The breakpoints whose conditions it knows from `raydap/breakpoints`."""
        self.seen: set[Handle] = set()
        self.renamed: set[Handle] = set()
        self.unread: set[Handle] = set()
        self.waiting: dict[Handle, Thread] = {}
        self.waiting_since = 0.0
        self.watching = False
        self.all = False
        self.offered: dict[int, Offer] = {}
        self.adopted: set[WorkerKey] = set()
        self.only: WorkerKey | None = None

    def end_stop(self, thread: Handle) -> bool:
        """The stop is over. Returns whether the client knows it."""
        self.unread.discard(thread)
        return self.waiting.pop(thread, None) is None


class Client:
    """One connection. `open` are its requests without an answer. `type` is that of its own configuration, by which the
    editor knows the adapter; None if it did not send one. `is_vscode`: it is VS Code, whose ways can block its window.
    `reads_all`: it asks for the stack of each stop, also where its user does not look; VS Code does, until it asks for
    none (workers/stop_pacing.py). `joined`: it takes part in the
    run of others, and the run may end while it is there."""

    def __init__(self, emit: Callable[[Effect], None], client: ClientId, role: Role) -> None:
        self.id = client
        self.role = role
        self.stage = ClientStage.CONNECTED
        self.name = "client"
        self.type: str | None = None
        self.supports: frozenset[str] = frozenset()
        self.is_vscode = False
        self.reads_all = False
        self.joined = False
        self.view = View()
        self.open: dict[Seq, Request] = {}
        self.parts = 0
        """The number of its requests that are being carried out in parts (model/parts.py)."""
        self.delayed: deque[bytes] = deque()
        """Its messages that wait for the end of these requests."""
        self._emit = emit
        self._seq = 0

    # Transitions.

    def introduce(self, arguments: Mapping[str, object]) -> None:
        """Takes the arguments of `initialize`. Raises ProblemError for positions that start at 0."""
        for name in ("linesStartAt1", "columnsStartAt1"):
            if arguments.get(name, True) is not True:
                raise ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" must be true.'))
        if arguments.get("pathFormat", "path") != "path":
            raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "pathFormat" must be "path".'))
        self.name = str(arguments.get("clientName") or arguments.get("clientID") or "client")
        self.supports = frozenset(
            key for key, value in arguments.items() if key.startswith("supports") and value is True
        )
        # dap-mode for Emacs calls itself VS Code, but starts no sessions.
        self.is_vscode = arguments.get("clientID") == "vscode" and "supportsStartDebuggingRequest" in self.supports
        self.reads_all = self.is_vscode
        self.stage = ClientStage.INITIALIZED

    def admit(self) -> None:
        """The client has shown the hub's token."""
        if self.role is Role.UNTRUSTED:
            self.role = Role.DEBUGGER

    def join(self, role: Role, only: WorkerKey | None = None) -> None:
        """The client takes part in the run, in this role."""
        self.role = role
        self.view = View()
        self.view.only = only
        self.stage = ClientStage.ATTACHED

    def leave_run(self) -> None:
        """The run is over, or never began: the client may attach again. A child session ends with its worker."""
        if self.is_attached and self.role is not Role.CHILD:
            self.role = Role.DEBUGGER
            self.joined = False
            self.view = View()
            self.stage = ClientStage.INITIALIZED

    @property
    def is_attached(self) -> bool:
        return self.stage >= ClientStage.ATTACHED

    @property
    def is_ready(self) -> bool:
        return self.stage is ClientStage.READY

    def sees(self, worker: WorkerKey) -> bool:
        """Whether this client sees a worker: all workers in a merged session, its own one in a child session."""
        if self.stage < ClientStage.ATTACHED:
            return False
        if self.role is Role.CHILD:
            return self.view.only == worker
        return self.role is not Role.PARENT or worker in self.view.adopted

    def may_name(self, worker: Worker) -> bool:
        """Whether the client may use the handles of a worker. A parent may use those that its children see."""
        return self.role is not Role.CHILD or self.view.only == worker.key

    # Messages to it.

    def event(self, name: str, body: Body = None) -> None:
        if self.stage is not ClientStage.LEFT:
            self.send(envelope.event(self.next_seq(), name, body))

    def send(self, data: bytes) -> None:
        if self.stage is not ClientStage.GONE:
            self._emit(SendToClient(self.id, data))

    def next_seq(self) -> Seq:
        self._seq += 1
        return Seq(self._seq)


class Request:
    """One request of a client, which is answered exactly once. `timeout_s` is the time in which a worker has to answer
    each request that is sent to it on behalf of this one."""

    __slots__ = ("_cancelled", "_raw", "answered", "client", "command", "seq", "timeout_s")

    def __init__(self, client: Client, seq: Seq, command: str, raw: bytes | None) -> None:
        self.client = client
        self.seq = seq
        self.command = command
        self.timeout_s = 0.0
        self.answered = False
        self._raw = raw
        self._cancelled = False
        client.open[seq] = self

    def arguments(self) -> dict[str, object]:
        """The decoded arguments. Raises ProblemError (BAD_MESSAGE, BAD_ARGUMENT) if they are not an object."""
        if self._raw is None:
            return {}
        try:
            arguments = envelope.load(self._raw)
        except envelope.EnvelopeError as error:
            raise ProblemError(Problem(Code.BAD_MESSAGE, "The arguments cannot be read as JSON.", str(error))) from None
        if arguments is None:
            return {}
        if not isinstance(arguments, dict):
            text = f"The arguments of {self.command} must be an object."
            raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
        return arguments

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for the answer still: it is not cancelled, and its client is there."""
        return not self.answered and self.client.stage is not ClientStage.GONE

    def respond(self, body: Body = None) -> None:
        """Raises EnvelopeError, and has not answered, if `body` cannot be encoded."""
        encoded = body if body is None or isinstance(body, bytes) else envelope.dump(body)
        if self._answer():
            self.client.send(envelope.response(self.client.next_seq(), self.seq, self.command, encoded))

    def cancel(self) -> None:
        """Answers as cancelled (spec: Cancel Request). A request to a worker goes on, and its answer is dropped."""
        self._refuse("cancelled", {})
        self._cancelled = True

    def drop(self) -> None:
        """It gets no answer any more."""
        self._answer()
        self._cancelled = True

    def fail(self, error: Exception) -> None:
        """Answers with the exception. An exception that is no ProblemError is a mistake of ours."""
        if isinstance(error, WorkerRefusedError):
            # debugpy leaves out the body that an ErrorResponse must have.
            self._refuse(error.reply.message or "", error.reply.body or {})
            return
        if isinstance(error, ProblemError):
            problem = error.problem
        else:
            problem = Problem(Code.INTERNAL, f"raydap could not do {self.command}; please report it with the log.")
        self._refuse(str(problem), problem.body())

    def _refuse(self, message: str, body: Body) -> None:
        if self._answer():
            self.client.send(envelope.failure(self.client.next_seq(), self.seq, self.command, message, body))

    def _answer(self) -> bool:
        """Whether the answer is still wanted."""
        if self.answered and not self._cancelled:
            raise RuntimeError(f"request {self.seq} ({self.command}) is answered twice")
        wanted, self.answered = not self.answered, True
        if self.client.open.get(self.seq) is self:
            del self.client.open[self.seq]
        return wanted
