"""Clients: editors, terminals and agents, each with its sequence numbers, its capabilities and its open requests."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

from raydap.core.effects import Effect, SendToClient
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.worker import Worker, WorkerThread
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import ClientId, Handle, Seq, WorkerKey
from raydap.wire import envelope
from raydap.wire.envelope import Body


class ClientStage(IntEnum):
    """How far a client's session is."""

    GONE = auto()
    """The client has left; nothing is sent to it any more."""
    LEFT = auto()
    """VS Code after `disconnect`: it gets answers, and no events, until its connection ends."""
    CONNECTED = auto()
    """Before `initialize`."""
    INITIALIZED = auto()
    """Before `attach` or `launch`."""
    ATTACHED = auto()
    """Before `configurationDone`."""
    READY = auto()
    """The client gets stops and threads."""


class ClientRole(Enum):
    """The rights of a client."""

    UNTRUSTED = auto()
    """The client has not presented the hub's token yet."""
    JOINING = auto()
    """The client came by the port for child sessions, and may only become a CHILD."""
    DEBUGGER = auto()
    OBSERVER = auto()
    """The client may look at everything, and change nothing."""
    PARENT = auto()
    """The client's editor opens a child session for each worker."""
    CHILD = auto()
    """The client sees one worker."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A startDebugging request that a PARENT got for a worker."""

    worker: WorkerKey
    """The worker for which the editor has to open a session."""
    until: float
    """The time until which the editor has to open the worker's session."""


class View:
    """What one client has received of a run."""

    def __init__(self) -> None:
        self.focus: WorkerThread | None = None
        """The thread that the client's user looks at, as far as requests show it."""
        self.threads: set[Handle] = set()
        """The threads that were sent to the client."""
        self.breakpoints: set[Handle] = set()
        """The breakpoints that were sent to the client."""
        self.shown: set[Handle] = set()
        """The breakpoints that the client has set itself or received from `raydap/breakpoints`.

        The client removes such a breakpoint by leaving it out of a request.
        """
        self.read: set[Handle] = set()
        """The breakpoints whose conditions the client has received from `raydap/breakpoints`."""
        self.seen: set[Handle] = set()
        """The threads whose stack the client has fetched since they stopped."""
        self.renamed: set[Handle] = set()
        """The threads whose new name the client has not received yet (workers/thread_names.py)."""
        self.unread: set[Handle] = set()
        """The threads whose stop was sent, but whose stack the client has not requested since."""
        self.waiting: dict[Handle, WorkerThread] = {}
        """The threads whose stop will be sent later (workers/stop_pacing.py)."""
        self.waiting_since = 0.0
        """The time of the last request for a stack, or of the first waiting stop if that is later."""
        self.watching = False
        """Whether the client gets changes of workers (raydap/workers)."""
        self.all = False
        """Whether these include changes of alive workers, which are neither attached nor paused."""
        self.offered: dict[int, Offer] = {}
        """The open startDebugging requests of a PARENT, by their sequence numbers."""
        self.adopted: set[WorkerKey] = set()
        """The workers that a PARENT shows itself, because its editor has opened no session for them."""
        self.only: WorkerKey | None = None
        """The worker of a CHILD."""

    def end_stop(self, thread: Handle) -> bool:
        """Forget a stop that is over. Return whether the stop was sent to the client."""
        self.unread.discard(thread)
        return self.waiting.pop(thread, None) is None


class Client:
    """One connection of a client."""

    def __init__(self, emit: Callable[[Effect], None], client: ClientId, role: ClientRole) -> None:
        self.id = client
        self.role = role
        self.stage = ClientStage.CONNECTED
        self.name = "client"
        self.type: str | None = None
        """The `type` in the client's arguments, by which its editor finds the adapter; None if there is none."""
        self.supports: frozenset[str] = frozenset()
        """The names of the client's capabilities, such as `supportsProgressReporting`."""
        self.is_vscode = False
        """Whether the client is VS Code, whose window many stops at once would block."""
        self.reads_all = False
        """Whether the client requests the stack of each stop, not only where its user looks.

        VS Code does, until it stops requesting stacks (workers/stop_pacing.py).
        """
        self.joined = False
        """Whether the client takes part in the run of another client, which may end while it is connected."""
        self.view = View()
        self.open: dict[Seq, Request] = {}
        """The client's requests without an answer."""
        self.parts = 0
        """The number of the client's requests that are being carried out in parts (model/parts.py)."""
        self.delayed: deque[bytes] = deque()
        """The client's messages that wait for the end of these requests."""
        self._emit = emit
        self._seq = 0

    # Transitions.

    def introduce(self, arguments: Mapping[str, object]) -> None:
        """Take the arguments of `initialize`.

        Raises ProblemError (BAD_ARGUMENT) for positions that start at 0, and for URIs in place of paths.
        """
        for name in ("linesStartAt1", "columnsStartAt1"):
            if arguments.get(name, True) is not True:
                raise ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" must be true.'))
        if arguments.get("pathFormat", "path") != "path":
            raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "pathFormat" must be "path".'))
        self.name = str(arguments.get("clientName") or arguments.get("clientID") or "client")
        self.supports = frozenset(
            key for key, value in arguments.items() if key.startswith("supports") and value is True
        )
        # dap-mode for Emacs sends the clientID "vscode", too, but cannot start sessions.
        self.is_vscode = arguments.get("clientID") == "vscode" and "supportsStartDebuggingRequest" in self.supports
        self.reads_all = self.is_vscode
        self.stage = ClientStage.INITIALIZED

    def admit(self) -> None:
        """Give the client the rights of a debugger, because it has presented the hub's token."""
        if self.role is ClientRole.UNTRUSTED:
            self.role = ClientRole.DEBUGGER

    def join(self, role: ClientRole, only: WorkerKey | None = None) -> None:
        """Let the client take part in the run, in this role. `only` is the worker of a CHILD."""
        self.role = role
        self.view = View()
        self.view.only = only
        self.stage = ClientStage.ATTACHED

    def leave_run(self) -> None:
        """Let the client attach again, because the run is over or never began.

        A child session ends with its worker instead.
        """
        if self.is_attached and self.role is not ClientRole.CHILD:
            self.role = ClientRole.DEBUGGER
            self.joined = False
            self.view = View()
            self.stage = ClientStage.INITIALIZED

    @property
    def is_attached(self) -> bool:
        """Whether the client has attached, launched or joined."""
        return self.stage >= ClientStage.ATTACHED

    @property
    def is_ready(self) -> bool:
        """Whether the client has sent `configurationDone`."""
        return self.stage is ClientStage.READY

    def sees(self, worker: WorkerKey) -> bool:
        """Return whether the client sees a worker: all in a merged session, its own one in a child session.

        A PARENT sees the workers that it has adopted.
        """
        if self.stage < ClientStage.ATTACHED:
            return False
        if self.role is ClientRole.CHILD:
            return self.view.only == worker
        return self.role is not ClientRole.PARENT or worker in self.view.adopted

    def may_name(self, worker: Worker) -> bool:
        """Return whether the client may use the handles of a worker.

        A PARENT may use all handles, also those that only its child sessions have received.
        """
        return self.role is not ClientRole.CHILD or self.view.only == worker.key

    # Messages to the client.

    def event(self, name: str, body: Body = None) -> None:
        """Send an event, unless the client has left."""
        if self.stage is not ClientStage.LEFT:
            self.send(envelope.event(self.next_seq(), name, body))

    def send(self, data: bytes) -> None:
        """Send an encoded message, unless the client is gone."""
        if self.stage is not ClientStage.GONE:
            self._emit(SendToClient(self.id, data))

    def next_seq(self) -> Seq:
        """Return the sequence number of the next message to the client."""
        self._seq += 1
        return Seq(self._seq)


class Request:
    """One request of a client, which is answered exactly once."""

    __slots__ = ("_cancelled", "_raw", "answered", "client", "command", "seq", "timeout_s")

    def __init__(self, client: Client, seq: Seq, command: str, raw: bytes | None) -> None:
        self.client = client
        self.seq = seq
        self.command = command
        self.timeout_s = 0.0
        """Seconds in which a worker has to answer each request that is sent to it for this one."""
        self.answered = False
        self._raw = raw
        self._cancelled = False
        client.open[seq] = self

    def arguments(self) -> dict[str, object]:
        """Return the decoded arguments; {} if there are none.

        Raises ProblemError: BAD_MESSAGE if they are not JSON, BAD_ARGUMENT if they are not an object.
        """
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
        """Whether the client still waits for the answer: none was sent, and the client is connected."""
        return not self.answered and self.client.stage is not ClientStage.GONE

    def respond(self, body: Body = None) -> None:
        """Answer with `body`. If `body` cannot be encoded, raises EnvelopeError without having answered."""
        encoded = body if body is None or isinstance(body, bytes) else envelope.dump(body)
        if self._answer():
            self.client.send(envelope.response(self.client.next_seq(), self.seq, self.command, encoded))

    def cancel(self) -> None:
        """Answer as cancelled (spec: Cancel Request).

        A request that was sent to a worker is still carried out, and the worker's answer is dropped.
        """
        self._refuse("cancelled", {})
        self._cancelled = True

    def drop(self) -> None:
        """End the request without an answer."""
        self._answer()
        self._cancelled = True

    def fail(self, error: Exception) -> None:
        """Answer with the exception. Anything but a ProblemError is a bug in raydap."""
        if isinstance(error, WorkerRefusedError):
            # debugpy leaves out the body that an ErrorResponse must have.
            self._refuse(error.reply.message or "", error.reply.body or {})
            return
        if isinstance(error, ProblemError):
            problem = error.problem
        else:
            problem = Problem(
                Code.INTERNAL, f"raydap failed to handle {self.command}; please report this with the log."
            )
        self._refuse(str(problem), problem.body())

    def _refuse(self, message: str, body: Body) -> None:
        if self._answer():
            self.client.send(envelope.failure(self.client.next_seq(), self.seq, self.command, message, body))

    def _answer(self) -> bool:
        """Mark the request as answered. Return whether the answer is still wanted."""
        if self.answered and not self._cancelled:
            raise RuntimeError(f"request {self.seq} ({self.command}) was answered twice")
        wanted, self.answered = not self.answered, True
        if self.client.open.get(self.seq) is self:
            del self.client.open[self.seq]
        return wanted
