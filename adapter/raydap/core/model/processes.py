"""The processes of the cluster that a run has seen: one record per process, and indexes by kind.

The design is in docs/design/state.md.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from raydap.core.model.attaching import AttachQueue
from raydap.core.model.roster import Roster
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.protocol.types import WorkerKey

DELAYS_S = (5.0, 60.0)
"""Seconds until raydap tries again to attach: the first delay, and the longest. Each is twice the one before."""

NO_FACTS = RayFacts()


@dataclass(frozen=True, slots=True)
class Retry:
    """When raydap tries again to attach to a process."""

    at: float
    """The time of the attempt, in seconds by the clock of Tick."""
    delay: float
    """Seconds between the last attempt and this one."""


def after(failed: Retry | None, now: float) -> Retry:
    """Return the next attempt after an attempt that has failed now.

    `failed` is the attempt that has failed; None if it was the first.
    """
    delay = DELAYS_S[0] if failed is None else min(failed.delay * 2, DELAYS_S[1])
    return Retry(now + delay, delay)


@dataclass(slots=True)
class Injection:
    """An agent that raydap starts in a process, or could not start."""

    until: float
    """The deadline for the call of the agent, or the time of the next attempt."""
    delay: float
    """Seconds between the last two attempts."""
    under_way: bool
    """Whether the agent is being started now."""
    failure: str = ""
    """The reason of the first failure, until it is reported to the user."""
    listings: int = 0
    """The number of lists of running workers that have contained the process since that failure."""


@dataclass(slots=True)
class Loss:
    """The end of a worker, not reported yet."""

    key: WorkerKey
    """The key of the worker that has ended."""
    label: str
    """The worker's label, as it was before the end; "" if Ray had reported no facts."""
    job: str
    """Ray's hex id of the worker's job; "" if Ray had not reported it."""
    problem: str
    """A sentence for the user, without Ray's reason for the end."""
    stopped: bool
    """Whether the worker was stopped. A running worker is reported only if it crashed: Ray ends idle workers."""
    until: float
    """The time at which the loss is reported without Ray's reason."""
    if_ended: str = ""
    """The sentence to use if Ray confirms that the process has ended; "" if raydap is certain already."""


@dataclass(slots=True, eq=False)
class Process:
    """One process, attached or not. Change a record only in `Processes.changing`."""

    key: WorkerKey
    """The key of the process, by which `Processes` finds the record."""
    candidate: ProcessInfo | None = None
    """The debug port at which it waits, until raydap attaches."""
    failure: ProcessInfo | None = None
    """The debug port at which it still waits after a failed attach."""
    agent: ProcessInfo | None = None
    """The socket of its agent, through which raydap can attach at any time. An attached process keeps this row."""
    alive: ProcessInfo | None = None
    """The row in Ray's list of running workers; None while the process is attached or paused."""
    facts: RayFacts | None = None
    """The newest facts from Ray for a paused, prepared or attached process.

    Without facts from Ray it is None, and the filters wait.
    """
    known: RayFacts = NO_FACTS
    """The facts in Ray's list of running workers. A candidate keeps the part that a pause does not change."""
    ask_at: float = 0.0
    """The time at which to ask Ray again for the facts about a candidate, if a filter needs it."""
    problem: str = ""
    """Why the last attach failed, for users; "" if none failed."""
    retry: Retry | None = None
    """The next attempt to attach, after a failure."""
    choice: bool | None = None
    """Whether the user wants the process to be attached; None if the filters decide."""
    is_to_pause: bool = False
    """Whether to pause the process right after its attach."""
    injection: Injection | None = None
    """An agent that raydap starts in the process, or could not start; None if it has not tried."""
    loss: Loss | None = None
    """The end of the process or of its connection, not reported yet."""
    origin: WorkerKey | None = None
    """The Ray worker or driver that started an attached child."""
    children: dict[WorkerKey, None] = field(default_factory=dict)
    """The attached children of a Ray worker or driver."""

    @property
    def paused(self) -> ProcessInfo | None:
        """The debug port of a process that waits for a debugger and is not attached."""
        return self.candidate or self.failure

    @property
    def row(self) -> ProcessInfo | None:
        """The best way to reach the process."""
        return self.agent or self.paused or self.alive

    @property
    def shown_facts(self) -> RayFacts:
        """The facts to show for a process that is not attached."""
        if self.alive is not None:
            return self.known
        return self.known if self.facts is None and self.candidate is not None else self.facts or NO_FACTS

    @property
    def is_known(self) -> bool:
        """Whether the record contains anything."""
        return (
            self.row is not None
            or self.facts is not None
            or self.choice is not None
            or self.is_to_pause
            or self.is_timed
            or self.problem != ""
            or self.origin is not None
            or bool(self.children)
        )

    @property
    def is_timed(self) -> bool:
        """Whether the record has a deadline."""
        return self.retry is not None or self.injection is not None or self.loss is not None

    def forget_failure(self) -> None:
        """Clear the results of earlier attempts to attach."""
        self.failure = self.retry = None
        self.problem = ""


_UNKNOWN = Process(WorkerKey(""))


class Processes:
    """All records. A change of a record updates the indexes and marks the process in the roster."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._all: dict[WorkerKey, Process] = {}
        self.paused: dict[WorkerKey, Process] = {}
        """Processes that wait for a debugger and are not attached."""
        self.prepared: dict[WorkerKey, Process] = {}
        """Processes with an agent."""
        self.alive: dict[WorkerKey, Process] = {}
        """Processes in Ray's list of running workers that are neither attached nor paused."""
        self.timed: dict[WorkerKey, Process] = {}
        """Processes with a deadline: of a retry, an injection or a loss."""
        self.queue = AttachQueue()
        self.paused_at = float("-inf")
        """The time of the request for the last list of paused workers."""
        self.is_watched = False
        """Whether raydap requests lists of running workers from Ray. If not, `alive` is empty."""
        self.is_listed = False
        """Whether the first list of running workers has arrived."""
        self._ended: set[WorkerKey] = set()
        """Processes that have ended since the last list; the next list may still contain them."""

    def __getitem__(self, key: WorkerKey) -> Process:
        """Return the record for reading; an empty record for an unknown process."""
        return self._all.get(key, _UNKNOWN)

    def __iter__(self) -> Iterator[Process]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    @contextmanager
    def changing(self, key: WorkerKey) -> Iterator[Process]:
        """Yield the record to be changed. Afterwards an empty record is dropped."""
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

    # Paused processes.

    def add_candidate(self, row: ProcessInfo, ask_at: float, known: RayFacts | None = None) -> None:
        """Make a process that waits for a debugger a candidate. `known` is its facts from before the pause."""
        with self.changing(row.key) as process:
            if process.failure is None:
                # The worker may run another task than at its last pause.
                process.facts = None
            process.candidate, process.ask_at, process.known = row, ask_at, known or NO_FACTS
        self.queue.to_examine[row.key] = None

    def take_candidate(self, key: WorkerKey) -> None:
        """Remove a candidate that is being attached."""
        self.queue.to_examine.pop(key, None)
        with self.changing(key) as process:
            process.candidate, process.known = None, NO_FACTS

    def keep_paused(self, listed: Collection[WorkerKey], attached: Collection[WorkerKey]) -> None:
        """Forget paused processes that are not listed any more. Attached processes keep their facts."""
        for key in [key for key in self.paused if key not in listed]:
            with self.changing(key) as process:
                if process.failure is not None:
                    process.forget_failure()
                process.candidate = None
                if key not in attached:
                    process.facts = None

    def set_facts(self, key: WorkerKey, facts: RayFacts) -> None:
        """Set the newest facts from Ray, and queue a candidate for a new decision."""
        with self.changing(key) as process:
            process.facts = facts
        self.examine(key)

    def candidates(self) -> list[Process]:
        """Return the paused processes to which raydap has not tried to attach, or tries again."""
        return [process for process in self.paused.values() if process.candidate is not None]

    def examine(self, key: WorkerKey) -> None:
        """Queue a candidate for a new decision."""
        if self[key].candidate is not None:
            self.queue.to_examine[key] = None

    def examine_all(self) -> None:
        """Queue all candidates for a new decision."""
        self.queue.to_examine.update(dict.fromkeys(process.key for process in self.candidates()))

    def examine_first(self, keys: Collection[WorkerKey]) -> None:
        """Queue candidates that the user has chosen before all others, because maxWorkers may stop the others."""
        chosen = {key: None for key in keys if self[key].candidate is not None}
        self.queue.to_examine = chosen | self.queue.to_examine

    def set_retry(self, key: WorkerKey, retry: Retry | None) -> None:
        """Set the time of the next attempt to attach; None for no attempt."""
        with self.changing(key) as process:
            process.retry = retry

    def choose(self, keys: Iterable[WorkerKey], choice: bool | None) -> None:
        """Set the user's choice for processes."""
        for key in keys:
            with self.changing(key) as process:
                process.choice = choice

    # Running processes.

    def list_alive(self, rows: Mapping[WorkerKey, tuple[ProcessInfo, RayFacts]]) -> None:
        """Replace the list of running processes. A process that is missing has ended.

        `rows` contains no attached and no paused process.
        """
        for process in [each for key, each in self.alive.items() if key not in rows]:
            with self.changing(process.key):
                process.alive, process.problem, process.injection = None, "", None
                process.choice, process.is_to_pause = None, False
            self._roster.end(process.key, "")
        for key, (row, facts) in rows.items():
            if (self[key].alive, self[key].known) != (row, facts):
                with self.changing(key) as process:
                    process.alive, process.known = row, facts
        self._ended.clear()

    def take_alive(self, key: WorkerKey) -> RayFacts:
        """Remove a process that is now paused or attached. Return its facts in the list."""
        if self[key].alive is None:
            self._roster.mark(key)
            return NO_FACTS
        with self.changing(key) as process:
            facts, process.alive, process.known = process.known, None, NO_FACTS
        return facts

    def note_end(self, key: WorkerKey) -> None:
        """Note that a process has ended. The next list may be older than its end."""
        if self.is_watched:
            self._ended.add(key)

    def has_ended(self, keys: Collection[WorkerKey]) -> bool:
        """Return whether a process with one of these keys has ended since the last list."""
        return not self._ended.isdisjoint(keys)

    def forget_alive(self) -> None:
        """Forget all running processes, because nothing needs their list any more."""
        self.is_watched = self.is_listed = False
        for key in list(self.alive):
            self.take_alive(key)
        self._ended.clear()

    # Attached processes.

    def note_child(self, origin: WorkerKey, child: WorkerKey) -> None:
        """Link a child that is being attached to the Ray worker or driver that started it."""
        with self.changing(origin) as process:
            process.children[child] = None
        with self.changing(child) as process:
            process.origin = origin

    def detached(self, key: WorkerKey) -> None:
        """Clear what a record contains only during an attach. A process that is paused again keeps its facts."""
        with self.changing(key) as process:
            origin, process.origin, process.is_to_pause = process.origin, None, False
            if process.candidate is None:
                process.facts = None
        if origin is not None:
            with self.changing(origin) as process:
                process.children.pop(key, None)

    def lose_agent(self, key: WorkerKey) -> None:
        """Note that a process with an agent has ended.

        The user's choice about a child is dropped: the child's key is its pid, which another process can get.
        """
        with self.changing(key) as process:
            row, process.agent, process.retry, process.problem = process.agent, None, None, ""
            if row is not None and row.worker_type == "CHILD":
                process.choice = None
