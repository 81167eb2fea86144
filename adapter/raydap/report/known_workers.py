"""The workers of the watched program, including ended ones: their names, and their stops."""

from collections.abc import Iterable

import msgspec

from raydap import steady_time
from raydap.analysis.sets import folding
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.report.records import TimelineSpan, WorkerRecord
from raydap.terminal.live_session import ENDED

MAX_SPANS = 20_000
"""The number of stops that are kept one by one. Later stops only add to the totals of their workers."""


class KnownWorkers:
    """All workers that raydap has listed in this run, by their keys."""

    def __init__(self) -> None:
        self.entries: dict[str, WorkerEntry] = {}
        """The last entry of each worker that names its task or actor; without one, its first entry."""
        self.pauses: list[TimelineSpan] = []
        """The stops that are over."""
        self.more = 0
        """The number of stops that are over and were not kept."""
        self.used: set[str] = set()
        """The workers that have stopped, reached a watched line, or run a task."""
        self.threads: dict[int, str] = {}
        """The worker of each thread that has stopped, by the thread's id."""
        self.tasks: dict[str, str] = {}
        """The last task of each worker in Ray's list of tasks. raydap does not see short tasks while they run."""
        self._seen: dict[str, float] = {}
        """When the state began in which each worker was first listed."""
        self._ended: dict[str, float] = {}
        """When each ended worker was first listed as gone or detached."""
        self._problems: dict[str, str] = {}
        """The last problem of each worker that had one."""
        self._paused: dict[int, tuple[float, str]] = {}
        """The beginning and the reason of each stop that is not over, by the thread's id."""
        self._totals: dict[str, tuple[int, float]] = {}
        """The number of stops of each worker, and their duration in seconds."""

    def take(self, entries: Iterable[WorkerEntry]) -> None:
        """Take the new state of workers, as the session reports it."""
        now = steady_time.now()
        for entry in entries:
            before = self.entries.get(entry.key)
            self._seen.setdefault(entry.key, now - entry.age)
            if before is None or entry.task or entry.actor:
                self.entries[entry.key] = entry
            if entry.state in ENDED:
                self._ended.setdefault(entry.key, now)
            else:
                self._ended.pop(entry.key, None)
            self.threads.update((each.thread_id, entry.key) for each in entry.threads)
            if entry.problem:
                self._problems[entry.key] = entry.problem

    def take_tasks(self, spans: Iterable[TimelineSpan]) -> None:
        """Take the names of workers' tasks from Ray's list of tasks."""
        for span in spans:
            self.tasks[span.worker] = span.name
            self.used.add(span.worker)
            entry = self.entries.get(span.worker)
            if entry is not None and not (entry.task or entry.actor) and entry.type == "worker":
                named = msgspec.structs.replace(
                    entry, task=span.name, title=f"{span.name} {entry.pid}", label=span.name
                )
                self.entries[span.worker] = named

    def pause(self, thread: int, what: str) -> None:
        """Begin a stop of a thread. `what` is the reason, for the timeline."""
        self._paused[thread] = steady_time.now(), what

    def resume(self, thread: int) -> float:
        """End the stop of a thread; return how many seconds it took, 0 if the thread was not stopped."""
        start, what = self._paused.pop(thread, (0.0, ""))
        if not start:
            return 0.0
        key, end = self.threads.get(thread, ""), steady_time.now()
        self.used.add(key)
        count, seconds = self._totals.get(key, (0, 0.0))
        self._totals[key] = count + 1, seconds + end - start
        if len(self.pauses) < MAX_SPANS:
            self.pauses.append(TimelineSpan(worker=key, name=what, start=start, end=end))
        else:
            self.more += 1
        return end - start

    def open_pauses(self) -> list[TimelineSpan]:
        """Return the stops of the threads that are stopped now."""
        return [
            TimelineSpan(worker=self.threads.get(thread, ""), name=what, start=start, end=None)
            for thread, (start, what) in self._paused.items()
        ]

    def kind(self, key: str) -> str:
        """Return the class of an actor, the function of a task, or `driver`; `worker` if none of these is known."""
        entry = self.entries.get(key)
        if entry is None:
            return self.tasks.get(key, "worker")
        return entry.actor or (entry.type if entry.type != "worker" else entry.task or self.tasks.get(key, "worker"))

    def order(self, key: str) -> tuple[object, ...]:
        """Return a key that sorts workers by kind, rank and process id."""
        entry = self.entries.get(key)
        if entry is None:
            return self.kind(key), -1, 0, key
        return self.kind(key), entry.rank if isinstance(entry.rank, int) else -1, entry.pid, key

    def label(self, key: str) -> str:
        """Return the name of a worker, such as `Trainer 3` or `prepare 4711`."""
        entry = self.entries.get(key)
        return "worker" if entry is None else entry.title

    def labels(self, keys: Iterable[str]) -> str:
        """Return a short name for many workers, such as `Trainer{0-5,7}`."""
        return folding.group_name(self.entries[key] for key in keys if key in self.entries)

    def jobs_of(self, job: str | None, pid: int | None) -> set[str]:
        """Return the ids of the watched jobs.

        `job` is the id or submission id of a running job. Without it, `pid` is the process id of the launched driver.
        """
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
        """Return the workers of these jobs and all in `used`, sorted by kind, rank and process id.

        Idle workers, which Ray keeps for later tasks, are left out unless they are in `used`.
        """
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
