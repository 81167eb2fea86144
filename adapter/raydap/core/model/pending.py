"""Requests to workers that have no answer yet."""

from raydap.core.flows import Future
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import Seq, WorkerKey
from raydap.wire.envelope import Envelope


class WorkerRefusedError(ProblemError):
    """A worker's failed response. The client gets the worker's own message; the error number is for the log."""

    def __init__(self, reply: Envelope) -> None:
        super().__init__(Problem(Code.WORKER_BROKEN, reply.message or "The worker gave no reason."))
        self.reply = reply


class Asked(Future[Envelope]):
    """The answer to one request.

    The result is a successful response. The exception is WorkerRefusedError for a failed response, or ProblemError
    (WORKER_SILENT, WORKER_GONE) if there is no response.
    """

    __slots__ = ("command", "deadline")

    def __init__(self, command: str, deadline: float) -> None:
        super().__init__()
        self.command = command
        self.deadline = deadline
        """The time at which the request fails without a response, as in events.Tick."""

    def answer(self, reply: Envelope) -> None:
        """Finish with the worker's response."""
        if reply.success:
            self.set_result(reply)
        else:
            self.set_exception(WorkerRefusedError(reply))


class Pending:
    """The open requests, by worker, so that a message of one worker costs the same among any number of workers."""

    def __init__(self) -> None:
        self._asked: dict[WorkerKey, dict[Seq, Asked]] = {}  # A worker that owes no answer has no entry.

    def __len__(self) -> int:
        return sum(map(len, self._asked.values()))

    def add(self, worker: WorkerKey, seq: Seq, asked: Asked) -> None:
        """Add a request that is about to be sent."""
        self._asked.setdefault(worker, {})[seq] = asked

    def take(self, worker: WorkerKey, seq: Seq) -> Asked | None:
        """Remove and return the request that a response answers; None if there is none (any more)."""
        owed = self._asked.get(worker, {})
        asked = owed.pop(seq, None)
        if asked is not None and not owed:
            del self._asked[worker]
        return asked

    def take_worker(self, worker: WorkerKey) -> list[Asked]:
        """Remove and return all requests to a worker that is gone, oldest first."""
        return list(self._asked.pop(worker, {}).values())

    def take_overdue(self, now: float) -> list[tuple[WorkerKey, Asked]]:
        """Remove and return all requests whose deadline is over."""
        late = [
            (worker, seq)
            for worker, owed in self._asked.items()
            for seq, asked in owed.items()
            if asked.deadline <= now
        ]
        taken = [(worker, self.take(worker, seq)) for worker, seq in late]
        return [(worker, asked) for worker, asked in taken if asked is not None]

    def owes(self, worker: WorkerKey) -> bool:
        """Return whether this worker still owes an answer."""
        return worker in self._asked
