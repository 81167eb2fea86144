"""Alive workers: those that run, and are neither attached nor paused. They are known while a client asks for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.model.roster import Roster
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class AliveWorker:
    """`row.agent` is "" for a worker that cannot be attached now."""

    row: PausedWorker
    label: WorkerLabel


class AliveWorkers:
    """`watched`: a client asks for them, so the source reports them; `reported`: it has done so. `problems` say why a
    worker could not be attached, although raydap or a client wanted that. `ended` are the workers that have ended since
    the last report, and may still be in the next one."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self.watched = False
        self.reported = False
        self.workers: dict[WorkerKey, AliveWorker] = {}
        self.problems: dict[WorkerKey, str] = {}
        self.ended: set[WorkerKey] = set()

    def replace(self, workers: Mapping[WorkerKey, AliveWorker]) -> None:
        """Takes a new report, without the workers that are attached or paused, and those in `ended`. Those that are
        missing have ended."""
        for key in [key for key in self.workers if key not in workers]:
            self.take(key)
            self.problems.pop(key, None)
            self._roster.end(key, "")
        for key, worker in workers.items():
            if self.workers.get(key) != worker:
                self._roster.mark(key)
            self.workers[key] = worker
        self.ended.clear()

    def take(self, key: WorkerKey) -> WorkerLabel:
        """Removes a worker that is paused or attached from now on, or has ended; returns its label."""
        taken = self.workers.pop(key, None)
        self._roster.mark(key)
        return WorkerLabel() if taken is None else taken.label

    def note_end(self, key: WorkerKey) -> None:
        """A worker has ended, as far as its connection tells; the next report may be older than that."""
        if self.watched:
            self.ended.add(key)

    def set_problem(self, key: WorkerKey, problem: str) -> None:
        self.problems[key] = problem
        self._roster.mark(key)

    def drop_problem(self, key: WorkerKey) -> None:
        if self.problems.pop(key, None) is not None:
            self._roster.mark(key)

    def forget(self) -> None:
        """Forgets all of them, because nobody asks for them any more."""
        self.watched = self.reported = False
        for key in list(self.workers):
            self.take(key)
        self.ended.clear()
