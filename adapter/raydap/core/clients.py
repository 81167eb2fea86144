"""Clients: editors, terminals, agents. Each has its own sequence numbers and capabilities."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import Effect, SendToClient
from raydap.protocol.types import ClientId, Handle, Seq, WorkerKey
from raydap.wire import envelope

if TYPE_CHECKING:
    from raydap.core.workers import Thread

Body = Mapping[str, Any] | bytes | None
"""A body to be encoded, one that is encoded already, or none."""


class Client:
    """One connection.

    `ready` is true from its configurationDone on: only then it is sent stops and threads. `focus` is the thread its
    user looks at, as far as requests tell; `threads` and `breakpoints` are those it knows of; `open` are its requests
    without an answer. `admitted`: it has shown the token, if one is wanted. An `observer` may only look. `watching`: it
    is told how the workers change (roster.py).

    With a session for each worker (perworker.py), a `parent` has been `offered` some workers and `adopted` those that
    its editor did not open; a child sees `only` its worker.
    """

    def __init__(self, client: ClientId, emit: Callable[[Effect], None]) -> None:
        self.id = client
        self.name = "client"
        self.adapter = "raydap"
        self.supports: frozenset[str] = frozenset()
        self.initialized = False
        self.attached = False
        self.ready = False
        self.gone = False
        self.guest = False
        self.admitted = True
        self.observer = False
        self.watching = False
        self.breakpoints: set[Handle] = set()
        self.parent = False
        self.only: WorkerKey | None = None
        self.offered: dict[int, WorkerKey] = {}
        self.adopted: set[WorkerKey] = set()
        self.focus: Thread | None = None
        self.threads: set[Handle] = set()
        self.open: dict[Seq, Request] = {}
        self._emit = emit
        self._seq = 0

    def sees(self, worker: WorkerKey) -> bool:
        """Whether this client is shown a worker: all of them in a merged session, its own in a child session."""
        if not self.attached:
            return False
        if self.only is not None:
            return self.only == worker
        return not self.parent or worker in self.adopted

    def event(self, name: str, body: Body = None) -> None:
        self.send(envelope.event(self.next_seq(), name, encode(body)))

    def send(self, data: bytes) -> None:
        if not self.gone:
            self._emit(SendToClient(self.id, data))

    def next_seq(self) -> Seq:
        self._seq += 1
        return Seq(self._seq)

    def introduce(self, arguments: Mapping[str, Any]) -> None:
        """Takes what `initialize` says of the client. Raises ProblemError for positions that start at 0."""
        for name in ("linesStartAt1", "columnsStartAt1"):
            if arguments.get(name, True) is not True:
                raise ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" must be true.'))
        if arguments.get("pathFormat", "path") != "path":
            raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "pathFormat" must be "path".'))
        self.adapter = str(arguments.get("adapterID") or "raydap")
        self.name = str(arguments.get("clientName") or arguments.get("clientID") or "client")
        self.supports = frozenset(
            key for key, value in arguments.items() if key.startswith("supports") and value is True
        )
        self.initialized = True


class Request:
    """A request of a client, to be answered exactly once; a second answer is a mistake of ours and raises."""

    __slots__ = ("_answered", "_cancelled", "_raw", "client", "command", "seq")

    def __init__(self, client: Client, seq: Seq, command: str, raw: bytes | None) -> None:
        self.client = client
        self.seq = seq
        self.command = command
        self._raw = raw
        self._answered = self._cancelled = False
        client.open[seq] = self

    def arguments(self) -> dict[str, Any]:
        """The decoded arguments. Raises ProblemError (BAD_ARGUMENT) if they are not an object."""
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

    def respond(self, body: Body = None) -> None:
        if self._answer():
            self.client.send(envelope.response(self.client.next_seq(), self.seq, self.command, encode(body)))

    def cancel(self) -> None:
        """Answered as the spec wants it (Cancel Request); what is under way goes on, and its answer is dropped."""
        self._refuse("cancelled", b"{}")
        self._cancelled = True

    def fail(self, problem: Problem) -> None:
        self._refuse(str(problem), encode(problem.body()))

    def refuse(self, reply: envelope.Envelope) -> None:
        """A failure in the worker's own words. debugpy leaves out the body that an ErrorResponse must have."""
        self._refuse(reply.message or "", reply.body or b"{}")

    def _refuse(self, message: str, body: bytes | None) -> None:
        if self._answer():
            self.client.send(envelope.failure(self.client.next_seq(), self.seq, self.command, message, body))

    def _answer(self) -> bool:
        """Whether the answer is still wanted."""
        if self._answered and not self._cancelled:
            raise RuntimeError(f"request {self.seq} ({self.command}) is answered twice")
        wanted, self._answered = not self._answered, True
        if self.client.open.get(self.seq) is self:
            del self.client.open[self.seq]
        return wanted


def encode(body: Body) -> bytes | None:
    return body if body is None or isinstance(body, bytes) else envelope.dump(body)
