"""The workers of the watched program, including ended ones: their names, and their stops."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

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
        self._records: dict[str, WorkerRecord] = {}
        """The times, problems and stops of the workers. `records` updates the other fields."""
        self._open: dict[int, TimelineSpan] = {}
        """The stops that are not over, by the thread's id. The worker of a new thread may be found only later."""

    def take(self, entries: Iterable[WorkerEntry]) -> None:
        """Take the new state of workers, as the session reports it."""
        now = steady_time.now()
        for entry in entries:
            if entry.key not in self.entries or entry.task or entry.actor:
                self.entries[entry.key] = entry
            new = WorkerRecord(**self._identity(entry), seen=now - entry.age)
            known = self._records.get(entry.key, new)
            ended = (known.ended or now) if entry.state in ENDED else None
            self._records[entry.key] = replace(known, ended=ended, problem=entry.problem or known.problem)
            self.threads.update((each.thread_id, entry.key) for each in entry.threads)

    def take_tasks(self, spans: Iterable[TimelineSpan]) -> None:
        """Take the names of workers' tasks from Ray's list of tasks."""
        for span in spans:
            self.tasks[span.worker] = span.name
            self.used.add(span.worker)
            entry = self.entries.get(span.worker)
            if entry is not None and not (entry.task or entry.actor) and entry.type == "worker":
                title = f"{span.name} {entry.pid}"
                self.entries[span.worker] = replace(entry, task=span.name, title=title, label=span.name)

    def pause(self, thread: int, what: str) -> None:
        """Begin a stop of a thread. `what` is the reason, for the timeline."""
        self._open[thread] = TimelineSpan(worker="", name=what, start=steady_time.now(), end=None)

    def resume(self, thread: int) -> float:
        """End the stop of a thread; return how many seconds it took, 0 if the thread was not stopped."""
        if thread not in self._open:
            return 0.0
        key, end = self.threads.get(thread, ""), steady_time.now()
        span = replace(self._open.pop(thread), worker=key, end=end)
        self.used.add(key)
        if key in self._records:
            known = self._records[key]
            self._records[key] = replace(known, pauses=known.pauses + 1, paused=known.paused + end - span.start)
        if len(self.pauses) < MAX_SPANS:
            self.pauses.append(span)
        else:
            self.more += 1
        return end - span.start

    def open_pauses(self) -> list[TimelineSpan]:
        """Return the stops of the threads that are stopped now."""
        return [replace(span, worker=self.threads.get(thread, "")) for thread, span in self._open.items()]

    def kind(self, key: str) -> str:
        """Return the class of an actor, the function of a task, or `driver`; `worker` if none of these is known."""
        entry = self.entries.get(key)
        task = self.tasks.get(key, "worker")
        if entry is None:
            return task
        return entry.actor or (entry.task or task if entry.type == "worker" else entry.type)

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

        def is_watched(entry: WorkerEntry) -> bool:
            if job is not None:
                return job in (entry.job, entry.submission)
            return entry.key in self.used or (entry.type == "driver" and entry.pid == pid)

        return {entry.job for entry in self.entries.values() if entry.job and is_watched(entry)}

    def records(self, jobs: set[str]) -> list[WorkerRecord]:
        """Return the workers of these jobs and all in `used`, sorted by kind, rank and process id.

        Idle workers, which Ray keeps for later tasks, are left out unless they are in `used`.
        """

        def is_shown(entry: WorkerEntry) -> bool:
            is_busy = bool(entry.task or entry.actor or entry.type != "worker")
            return entry.key in self.used or (entry.job in jobs and is_busy)

        entries = [self.entries[key] for key in sorted(self.entries, key=self.order)]
        return [replace(self._records[each.key], **self._identity(each)) for each in entries if is_shown(each)]

    def _identity(self, entry: WorkerEntry) -> dict[str, Any]:
        """Return the fields of a `WorkerRecord` that come from the entry of the worker."""
        return {
            "key": entry.key,
            "label": self.label(entry.key),
            "kind": self.kind(entry.key),
            "pid": entry.pid,
            "node": entry.node,
            "job": entry.job,
        }
