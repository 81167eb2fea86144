"""The states of workers, and the entries that watching clients know; workers/worker_entries.py renews both."""

from dataclasses import dataclass

from raydap.protocol.raydap_messages import WorkerEntry, WorkerState
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """`since` is when the state of the entry began; the entry's own `age` is 0. `only_all`: the worker is alive, or was
    until it ended, so only clients that ask for all workers are told."""

    since: float
    entry: WorkerEntry
    only_all: bool = False


class Roster:
    """`changed` are the workers whose state may be another one now. Transitions of workers, threads and paused workers
    mark them. `states` has the state of each worker and when it began. `stale` are the workers whose entry in `entries`
    is missing or out of date, because nobody watches. `exit_reasons` says why a worker has ended, and `ended_entries`
    keeps its last entry."""

    def __init__(self) -> None:
        self.changed: dict[WorkerKey, None] = {}
        self.states: dict[WorkerKey, tuple[WorkerState, float]] = {}
        self.stale: dict[WorkerKey, None] = {}
        self.entries: dict[WorkerKey, RosterEntry] = {}
        self.ended_entries: dict[WorkerKey, RosterEntry] = {}
        self.exit_reasons: dict[WorkerKey, str] = {}

    def mark(self, key: WorkerKey) -> None:
        self.changed[key] = None

    def end(self, key: WorkerKey, reason: str) -> None:
        """The worker's process has ended; `reason` is "" for a normal end."""
        self.exit_reasons[key] = reason
        self.mark(key)
