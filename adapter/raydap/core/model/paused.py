"""Paused workers that are not attached: candidates, those whose attach has failed, and the labels of both."""

from collections.abc import Collection
from dataclasses import dataclass

from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.model.attaching import AttachQueue
from raydap.core.model.retry import Retry
from raydap.core.model.roster import Roster
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paused worker that waits for room under maxWorkers, or for the labels that the filters need.

    `ask_at`: when to ask Ray for those labels again, if they are needed and still unknown. `known`: its actor, as Ray
    has said before the pause. It gives the worker its name until Ray says what runs there now. Filters wait for that.
    """

    row: PausedWorker
    ask_at: float
    known: WorkerLabel


@dataclass(frozen=True, slots=True)
class Failure:
    """A paused worker that could not be attached, and why; when raydap tries again."""

    row: PausedWorker
    problem: str
    retry: Retry


class PausedWorkers:
    """`queue` are the candidates that have to be examined, or wait: the work after every event must not walk over all
    candidates. `labels` are kept only while a worker is listed or attached: its successor under the same key may run
    something else."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self.candidates: dict[WorkerKey, Candidate] = {}
        self.failures: dict[WorkerKey, Failure] = {}
        self.labels: dict[WorkerKey, WorkerLabel] = {}
        self.queue = AttachQueue()
        self.asked_at = float("-inf")
        """When Ray was asked for the last snapshot, by the clock of the core."""

    def add(self, candidate: Candidate) -> None:
        key = candidate.row.key
        if key not in self.failures:
            # The label of an earlier pause may be wrong: the worker may run something else now.
            self.labels.pop(key, None)
        self.candidates[key] = candidate
        self.queue.to_examine[key] = None
        self._roster.mark(key)

    def take(self, key: WorkerKey) -> Candidate:
        """Removes a candidate that is about to be attached."""
        self.queue.to_examine.pop(key, None)
        self._roster.mark(key)
        return self.candidates.pop(key)

    def try_again(self, failure: Failure, ask_at: float) -> None:
        """Make a worker that could not be attached a candidate again."""
        if failure.row.key not in self.candidates:
            self.add(Candidate(failure.row, ask_at, WorkerLabel()))

    def examine(self, key: WorkerKey) -> None:
        """Examine a worker again, if it is a candidate, after a change that concerns it."""
        if key in self.candidates:
            self.queue.to_examine[key] = None

    def add_failure(self, failure: Failure) -> None:
        self.failures[failure.row.key] = failure
        self._roster.mark(failure.row.key)

    def has(self, key: WorkerKey) -> bool:
        return key in self.candidates or key in self.failures

    def row(self, key: WorkerKey) -> PausedWorker | None:
        waiting = self.candidates.get(key) or self.failures.get(key)
        return None if waiting is None else waiting.row

    def drop_failure(self, key: WorkerKey) -> None:
        if self.failures.pop(key, None) is not None:
            self._roster.mark(key)

    def keep_only(self, listed: Collection[WorkerKey], attached: Collection[WorkerKey]) -> None:
        """Forgets all workers that are not listed any more. The labels of attached workers stay."""
        for listing in (self.failures, self.candidates):
            for key in [key for key in listing if key not in listed]:
                del listing[key]
                self._roster.mark(key)
                if key not in attached:
                    self.labels.pop(key, None)

    def label(self, key: WorkerKey) -> WorkerLabel:
        """What Ray has said of a worker, else what is known of it from before its pause."""
        candidate = self.candidates.get(key)
        return self.labels.get(key, WorkerLabel() if candidate is None else candidate.known)

    def forget_label(self, key: WorkerKey) -> None:
        """Forgets the label of a worker that is no longer attached, unless it is paused again already."""
        if key not in self.candidates:
            self.labels.pop(key, None)

    def set_label(self, key: WorkerKey, label: WorkerLabel) -> None:
        if self.labels.get(key) != label:
            self._roster.mark(key)
        self.labels[key] = label
        if key in self.candidates:
            self.queue.to_examine[key] = None

    def examine_all(self) -> None:
        """Examines all candidates again, after a change that may concern any of them."""
        self.queue.to_examine.update(dict.fromkeys(self.candidates))

    def examine_first(self, keys: Collection[WorkerKey]) -> None:
        """Examines these candidates first: the user has chosen them, and the others may have to wait for room."""
        self.queue.to_examine = {key: None for key in keys if key in self.candidates} | self.queue.to_examine
