"""Requests sent to workers that have no answer yet."""

from collections.abc import Callable
from dataclasses import dataclass

from raydap.core.errors import Problem
from raydap.protocol.types import Seq, WorkerKey
from raydap.wire.envelope import Envelope

Reply = Envelope | Problem
"""A response (success or not) of the worker, or the reason why none will come."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """`then` is called exactly once. `deadline` is a time as in events.Tick."""

    command: str
    then: Callable[[Reply], None]
    deadline: float


class Pending:
    """Remembers who waits for which answer. Kept by worker, so that one worker's traffic costs the same beside many."""

    def __init__(self) -> None:
        self._waiting: dict[WorkerKey, dict[Seq, Waiting]] = {}  # A worker that owes nothing has no entry.

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, worker: WorkerKey, seq: Seq, waiting: Waiting) -> None:
        self._waiting.setdefault(worker, {})[seq] = waiting

    def take(self, worker: WorkerKey, seq: Seq) -> Waiting | None:
        """Whoever waits for this answer; None if nobody (any more)."""
        owed = self._waiting.get(worker, {})
        waiting = owed.pop(seq, None)
        if waiting is not None and not owed:
            del self._waiting[worker]
        return waiting

    def take_worker(self, worker: WorkerKey) -> list[Waiting]:
        """All that wait for a worker, oldest first: none of them will be answered by it."""
        return list(self._waiting.pop(worker, {}).values())

    def take_overdue(self, now: float) -> list[tuple[WorkerKey, Waiting]]:
        late = [
            (worker, seq)
            for worker, owed in self._waiting.items()
            for seq, waiting in owed.items()
            if waiting.deadline <= now
        ]
        taken = [(worker, self.take(worker, seq)) for worker, seq in late]
        return [(worker, waiting) for worker, waiting in taken if waiting is not None]

    def owes(self, worker: WorkerKey) -> bool:
        """Whether an answer of this worker is still waited for."""
        return worker in self._waiting
