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
    """Remembers who waits for which answer."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[WorkerKey, Seq], Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, worker: WorkerKey, seq: Seq, waiting: Waiting) -> None:
        self._waiting[worker, seq] = waiting

    def take(self, worker: WorkerKey, seq: Seq) -> Waiting | None:
        """Whoever waits for this answer; None if nobody (any more)."""
        return self._waiting.pop((worker, seq), None)

    def take_worker(self, worker: WorkerKey) -> list[Waiting]:
        """All that wait for a worker, oldest first: none of them will be answered by it."""
        return [self._waiting.pop(key) for key in [key for key in self._waiting if key[0] == worker]]

    def take_overdue(self, now: float) -> list[tuple[WorkerKey, Waiting]]:
        late = [key for key, waiting in self._waiting.items() if waiting.deadline <= now]
        return [(key[0], self._waiting.pop(key)) for key in late]

    def owes(self, worker: WorkerKey) -> bool:
        """Whether an answer of this worker is still waited for."""
        return any(key[0] == worker for key in self._waiting)
