"""The states of workers, and their entries for clients that watch; workers/worker_entries.py renews both."""

from dataclasses import dataclass

from raydap.protocol.raydap_messages import WorkerEntry, WorkerState
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A worker's entry, and when its state began."""

    since: float
    """The time at which the state began. The entry's own `age` is 0 until the entry is sent."""
    entry: WorkerEntry
    """The entry as clients get it, except for its `age`."""
    only_all: bool = False
    """Whether only clients that request all workers get it: the worker is alive, or was until it ended."""


class Roster:
    """The states and entries of all workers of a run."""

    def __init__(self) -> None:
        self.changed: dict[WorkerKey, None] = {}
        """The workers whose state may have changed. Transitions of workers, threads and processes mark them."""
        self.states: dict[WorkerKey, tuple[WorkerState, float]] = {}
        """The state of each worker, and the time at which it began."""
        self.stale: dict[WorkerKey, None] = {}
        """The workers whose entry in `entries` is missing or out of date, because no client watches."""
        self.entries: dict[WorkerKey, RosterEntry] = {}
        """The newest entry of each worker."""
        self.ended_entries: dict[WorkerKey, RosterEntry] = {}
        """The last entries of workers that have ended or been detached."""
        self.exit_reasons: dict[WorkerKey, str] = {}
        """Why workers have ended, until their entries are renewed; "" for a normal end."""

    def mark(self, key: WorkerKey) -> None:
        """Mark a worker whose state may have changed."""
        self.changed[key] = None

    def end(self, key: WorkerKey, reason: str) -> None:
        """Note that a worker's process has ended; `reason` is "" for a normal end."""
        self.exit_reasons[key] = reason
        self.mark(key)
