"""The processes of the cluster that a run has seen: one record for each, and the indexes that find those of a kind."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.model.attaching import AttachQueue
from raydap.core.model.roster import Roster
from raydap.protocol.types import WorkerKey

DELAYS_S = (5.0, 60.0)
"""Seconds until raydap tries again to attach: the first delay, and the longest. Each is twice the one before."""


@dataclass(frozen=True, slots=True)
class Retry:
    """When raydap tries again to attach to a process."""

    at: float
    delay: float
    """Seconds between the last trial and this one."""


def after(failed: Retry | None, now: float) -> Retry:
    """Return the next trial after one that has failed now; `failed` is None for the first."""
    delay = DELAYS_S[0] if failed is None else min(failed.delay * 2, DELAYS_S[1])
    return Retry(now + delay, delay)


@dataclass(slots=True)
class Injection:
    """An agent that raydap starts in a process, or could not start."""

    until: float
    """When the agent has to have called, or when raydap tries again."""
    delay: float
    """Seconds between the last two trials."""
    under_way: bool
    failure: str = ""
    """The reason of the first failure, for users, until it is reported."""
    listings: int = 0
    """How many lists of running workers have named the process since that failure."""


@dataclass(slots=True)
class Loss:
    """A worker that has ended, and is not reported yet."""

    key: WorkerKey
    label: str
    job: str
    problem: str
    """A sentence, which waits for Ray's reason."""
    stopped: bool
    """Whether it was stopped. One that ran is reported only if it crashed: most end because they are not needed."""
    until: float
    """When it is reported without Ray's reason."""
    if_ended: str = ""
    """The sentence if Ray reports that the worker has ended, where that is not certain."""


@dataclass(slots=True, eq=False)
class Process:
    """What is known of one process, attached or not. Change it only in `Processes.changing`."""

    key: WorkerKey
    candidate: PausedWorker | None = None
    """Where it waits for a debugger, until raydap attaches to it."""
    failure: PausedWorker | None = None
    """Where it waits for a debugger although raydap has tried to attach to it."""
    agent: PausedWorker | None = None
    """Where its agent listens: it can be attached at any time, and may be."""
    alive: PausedWorker | None = None
    """Its row in Ray's list of those that run; None while it is attached or paused."""
    label: WorkerLabel | None = None
    """What Ray has said last of a paused, prepared or attached one; None before. Filters wait for that."""
    known: WorkerLabel = field(default_factory=WorkerLabel)
    """What Ray's list of those that run says of it; while it is a candidate, what is still true of that."""
    ask_at: float = 0.0
    """When to ask Ray again for the label of a candidate, if a filter needs it."""
    problem: str = ""
    """Why it could not be attached, though raydap or a client wanted that."""
    retry: Retry | None = None
    choice: bool | None = None
    """Whether the user wants it attached; None: the filters decide."""
    is_to_pause: bool = False
    """Whether it is to pause as soon as it is attached."""
    injection: Injection | None = None
    loss: Loss | None = None
    origin: WorkerKey | None = None
    """The Ray worker or driver that a child comes from, while the child is attached."""
    children: dict[WorkerKey, None] = field(default_factory=dict)
    """Its children that are attached."""

    @property
    def paused(self) -> PausedWorker | None:
        """Where it waits for a debugger, if it is not attached."""
        return self.candidate or self.failure

    @property
    def row(self) -> PausedWorker | None:
        """How it can be reached, the best way first."""
        return self.agent or self.paused or self.alive

    @property
    def shown_label(self) -> WorkerLabel:
        """What is known of one that is not attached."""
        if self.alive is not None:
            return self.known
        return self.known if self.label is None and self.candidate is not None else self.label or WorkerLabel()

    @property
    def is_known(self) -> bool:
        """Whether anything is worth being kept."""
        return (
            self.row is not None
            or self.label is not None
            or self.choice is not None
            or self.is_to_pause
            or self.is_timed
            or self.problem != ""
            or self.origin is not None
            or bool(self.children)
        )

    @property
    def is_timed(self) -> bool:
        """Whether something is due at a time."""
        return self.retry is not None or self.injection is not None or self.loss is not None

    def forget_trials(self) -> None:
        """Nothing of earlier trials to attach counts any more."""
        self.failure = self.retry = None
        self.problem = ""


_NOBODY = Process(WorkerKey(""))


class Processes:
    """The records. Each change of one renews the indexes and marks the process for those who watch."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._all: dict[WorkerKey, Process] = {}
        self.paused: dict[WorkerKey, Process] = {}
        """Those that wait for a debugger, and are not attached."""
        self.prepared: dict[WorkerKey, Process] = {}
        """Those with an agent."""
        self.alive: dict[WorkerKey, Process] = {}
        """Those that Ray lists as running, and that are neither attached nor paused."""
        self.timed: dict[WorkerKey, Process] = {}
        """Those for which something is due: a retry, the call of an agent, or the report of a loss."""
        self.queue = AttachQueue()
        self.paused_at = float("-inf")
        """When Ray was asked for its last list of paused workers."""
        self.is_watched = False
        """Whether Ray's list of those that run is asked for. `alive` is empty without that."""
        self.is_listed = False
        """Whether that list has come."""
        self._ended: set[WorkerKey] = set()
        """Those that have ended since that list, and may still be in the next one."""

    def __getitem__(self, key: WorkerKey) -> Process:
        """Return the record, for reading; an empty one for a process that is not known."""
        return self._all.get(key, _NOBODY)

    def __iter__(self) -> Iterator[Process]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    @contextmanager
    def changing(self, key: WorkerKey) -> Iterator[Process]:
        """Give out the record for a change. One about which nothing is known any more is dropped afterwards."""
        process = self._all.get(key) or Process(key)
        self._all[key] = process
        yield process
        self._roster.mark(key)
        for index, is_in in (
            (self.paused, process.paused is not None),
            (self.prepared, process.agent is not None),
            (self.alive, process.alive is not None),
            (self.timed, process.is_timed),
            (self._all, process.is_known),
        ):
            if is_in:
                index[key] = process
            else:
                index.pop(key, None)

    # Paused ones.

    def wait(self, row: PausedWorker, ask_at: float, known: WorkerLabel | None = None) -> None:
        """Make a process that waits for a debugger a candidate. `known`: what is known of it from before its pause."""
        with self.changing(row.key) as process:
            if process.failure is None:
                # The label of an earlier pause may be wrong: the worker may run something else now.
                process.label = None
            process.candidate, process.ask_at, process.known = row, ask_at, known or WorkerLabel()
        self.queue.to_examine[row.key] = None

    def take(self, key: WorkerKey) -> None:
        """Note that a candidate is being attached."""
        self.queue.to_examine.pop(key, None)
        with self.changing(key) as process:
            process.candidate, process.known = None, WorkerLabel()

    def keep_paused(self, listed: Collection[WorkerKey], attached: Collection[WorkerKey]) -> None:
        """Forget that those wait which are not listed any more. The labels of attached ones stay."""
        for key in [key for key in self.paused if key not in listed]:
            with self.changing(key) as process:
                if process.failure is not None:
                    process.forget_trials()
                process.candidate = None
                if key not in attached:
                    process.label = None

    def set_label(self, key: WorkerKey, label: WorkerLabel) -> None:
        with self.changing(key) as process:
            process.label = label
        self.examine(key)

    def candidates(self) -> list[Process]:
        """Return the paused ones that raydap may attach to now."""
        return [process for process in self.paused.values() if process.candidate is not None]

    def examine(self, key: WorkerKey) -> None:
        """Examine a candidate again, after a change that concerns it."""
        if self[key].candidate is not None:
            self.queue.to_examine[key] = None

    def examine_all(self) -> None:
        """Examine all candidates again, after a change that may concern any of them."""
        self.queue.to_examine.update(dict.fromkeys(process.key for process in self.candidates()))

    def examine_first(self, keys: Collection[WorkerKey]) -> None:
        """Examine these candidates first: the user has chosen them, and the others may have to wait for room."""
        chosen = {key: None for key in keys if self[key].candidate is not None}
        self.queue.to_examine = chosen | self.queue.to_examine

    def set_retry(self, key: WorkerKey, retry: Retry | None) -> None:
        with self.changing(key) as process:
            process.retry = retry

    def choose(self, keys: Iterable[WorkerKey], choice: bool | None) -> None:
        """Note what the user has chosen."""
        for key in keys:
            with self.changing(key) as process:
                process.choice = choice

    # Those that run.

    def list_alive(self, rows: Mapping[WorkerKey, tuple[PausedWorker, WorkerLabel]]) -> None:
        """Take Ray's list of those that run, without the attached and the paused ones. Others have ended."""
        for process in [each for key, each in self.alive.items() if key not in rows]:
            with self.changing(process.key):
                process.alive, process.problem, process.injection = None, "", None
            self._roster.end(process.key, "")
        for key, (row, label) in rows.items():
            if (self[key].alive, self[key].known) != (row, label):
                with self.changing(key) as process:
                    process.alive, process.known = row, label
        self._ended.clear()

    def take_alive(self, key: WorkerKey) -> WorkerLabel:
        """Note that a process is paused or attached from now on. Return what the list has said of it."""
        if self[key].alive is None:
            self._roster.mark(key)
            return WorkerLabel()
        with self.changing(key) as process:
            label, process.alive, process.known = process.known, None, WorkerLabel()
        return label

    def note_end(self, key: WorkerKey) -> None:
        """Note the end of a process, as far as its connection tells; the next list may be older than that."""
        if self.is_watched:
            self._ended.add(key)

    def has_ended(self, keys: Collection[WorkerKey]) -> bool:
        """Whether the process known by one of these keys has ended since the last list."""
        return not self._ended.isdisjoint(keys)

    def forget_alive(self) -> None:
        """Forget those that run, because nobody asks for them any more."""
        self.is_watched = self.is_listed = False
        for key in list(self.alive):
            self.take_alive(key)
        self._ended.clear()

    # Attached ones.

    def note_child(self, origin: WorkerKey, child: WorkerKey) -> None:
        """Note that the child of a Ray worker or driver is being attached."""
        with self.changing(origin) as process:
            process.children[child] = None
        with self.changing(child) as process:
            process.origin = origin

    def detached(self, key: WorkerKey) -> None:
        """Forget what counts only while a process is attached, unless it is paused again already."""
        with self.changing(key) as process:
            origin, process.origin, process.is_to_pause = process.origin, None, False
            if process.candidate is None:
                process.label = None
        if origin is not None:
            with self.changing(origin) as process:
                process.children.pop(key, None)

    def lose_agent(self, key: WorkerKey) -> None:
        """Note that an agent has ended, and its process with it. A child has the number of its process as key, which
        another process may get."""
        with self.changing(key) as process:
            row, process.agent, process.retry, process.problem = process.agent, None, None, ""
            if row is not None and row.worker_type == "CHILD":
                process.choice = None
