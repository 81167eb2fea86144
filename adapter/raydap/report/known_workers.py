"""The workers of the watched program, those that have ended, too: their names, and how long they were paused."""

from collections.abc import Iterable

import msgspec

from raydap import steady_time
from raydap.analysis.sets import folding
from raydap.analysis.sets.folding import Member
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import WorkerPlace
from raydap.report.records import Span, WorkerRecord
from raydap.terminal.live_session import ENDED

MAX_SPANS = 20_000
"""Pauses that are kept one by one; of later ones only the number and the time."""


class KnownWorkers:
    """`entries` has the last one of each worker in which it was said what it runs, and `ranks` are those that raydap
    has told. `pauses` are over."""

    def __init__(self) -> None:
        self.entries: dict[str, WorkerEntry] = {}
        self.ranks: dict[str, int] = {}
        self.pauses: list[Span] = []
        self.more = 0
        self.used: set[str] = set()
        """Those of which something was seen."""
        self.threads: dict[int, str] = {}
        """The workers of threads that have stopped."""
        self.tasks: dict[str, str] = {}
        """The last task of each worker that ran one, as Ray says later: a short one is over before raydap sees it."""
        self._classes: dict[tuple[str, str], set[str]] = {}
        """The actors of each class of a job."""
        self._seen: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        self._paused: dict[int, tuple[float, str]] = {}
        self._totals: dict[str, tuple[int, float]] = {}

    def take(self, entries: Iterable[WorkerEntry]) -> None:
        """Takes what raydap tells of workers."""
        now = steady_time.now()
        for entry in entries:
            before = self.entries.get(entry.key)
            self._seen.setdefault(entry.key, now - entry.age)
            if before is None or entry.task or entry.actor:
                self.entries[entry.key] = entry
            if entry.actor:
                self._classes.setdefault((entry.job, entry.actor), set()).add(entry.key)
            if entry.state in ENDED:
                self._ended.setdefault(entry.key, now)
            else:
                self._ended.pop(entry.key, None)
            self.threads.update((each.thread_id, entry.key) for each in entry.threads)
            if entry.problem:
                self._problems[entry.key] = entry.problem

    def take_places(self, places: Iterable[WorkerPlace]) -> None:
        """Takes the ranks of workers, which only these answers have."""
        for place in places:
            if isinstance(place.rank, int):
                self.ranks[place.worker] = place.rank

    def take_tasks(self, spans: Iterable[Span]) -> None:
        """Takes what Ray tells of tasks."""
        for span in spans:
            self.tasks[span.worker] = span.name
            self.used.add(span.worker)
            entry = self.entries.get(span.worker)
            if entry is not None and not (entry.task or entry.actor) and entry.type == "worker":
                named = msgspec.structs.replace(entry, task=span.name, label=span.name)
                self.entries[span.worker] = named

    def pause(self, thread: int, what: str) -> None:
        self._paused[thread] = steady_time.now(), what

    def resume(self, thread: int) -> float:
        """Returns for how many seconds the thread was stopped; 0 if it was not."""
        start, what = self._paused.pop(thread, (0.0, ""))
        if not start:
            return 0.0
        key, end = self.threads.get(thread, ""), steady_time.now()
        self.used.add(key)
        count, seconds = self._totals.get(key, (0, 0.0))
        self._totals[key] = count + 1, seconds + end - start
        if len(self.pauses) < MAX_SPANS:
            self.pauses.append(Span(worker=key, name=what, start=start, end=end))
        else:
            self.more += 1
        return end - start

    def open_pauses(self) -> list[Span]:
        """Of threads that are stopped now."""
        return [
            Span(worker=self.threads.get(thread, ""), name=what, start=start, end=None)
            for thread, (start, what) in self._paused.items()
        ]

    def kind(self, key: str) -> str:
        """The class of an actor, the function of a task, `driver`."""
        entry = self.entries.get(key)
        if entry is None:
            return self.tasks.get(key, "worker")
        return entry.actor or (entry.type if entry.type != "worker" else entry.task or self.tasks.get(key, "worker"))

    def order(self, key: str) -> tuple[object, ...]:
        """By kind, rank and process."""
        entry = self.entries.get(key)
        return self.kind(key), self.ranks.get(key, -1), 0 if entry is None else entry.pid, key

    def members(self) -> dict[str, Member]:
        """All as members of groups, by their keys."""
        return {key: self._member(entry) for key, entry in self.entries.items()}

    def _member(self, entry: WorkerEntry) -> Member:
        return Member(entry, self.ranks.get(entry.key), len(self._classes.get((entry.job, entry.actor), ())) == 1)

    def label(self, key: str) -> str:
        """One worker among those of its class: `Trainer{3}`, or with its pid while its rank is not known."""
        return label_of(self._member(self.entries[key]) if key in self.entries else None)

    def labels(self, keys: Iterable[str]) -> str:
        """Many in few words: `Trainer{0-5,7}`."""
        return folding.label(self._member(self.entries[key]) for key in keys if key in self.entries)

    def jobs_of(self, job: str | None, pid: int | None) -> set[str]:
        """The ids of the jobs that are watched: `job` is an id or a submission id, `pid` that of a launched driver."""
        return {
            entry.job
            for entry in self.entries.values()
            if entry.job
            and (
                job in (entry.job, entry.submission)
                if job is not None
                else entry.key in self.used or (entry.type == "driver" and entry.pid == pid)
            )
        }

    def records(self, jobs: set[str]) -> list[WorkerRecord]:
        """Those of these jobs, and those of which something was seen; without idle ones, which Ray keeps for later."""
        return [
            self._record(entry)
            for key, entry in sorted(self.entries.items(), key=lambda each: self.order(each[0]))
            if key in self.used or (entry.job in jobs and (entry.task or entry.actor or entry.type != "worker"))
        ]

    def _record(self, entry: WorkerEntry) -> WorkerRecord:
        count, seconds = self._totals.get(entry.key, (0, 0.0))
        return WorkerRecord(
            key=entry.key,
            label=self.label(entry.key),
            kind=self.kind(entry.key),
            pid=entry.pid,
            node=entry.node,
            job=entry.job,
            seen=self._seen[entry.key],
            ended=self._ended.get(entry.key),
            problem=self._problems.get(entry.key, ""),
            pauses=count,
            paused=seconds,
        )


def label_of(member: Member | None) -> str:
    if member is None:
        return "worker"
    entry = member.entry
    if entry.actor and not member.is_alone and member.rank is None:
        return f"{entry.actor} {entry.pid}"
    name = folding.label([member])
    return name if entry.actor or entry.type != "worker" else f"{name} {entry.pid}"
