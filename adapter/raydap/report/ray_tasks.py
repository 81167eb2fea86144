"""The tasks that Ray lists, with their workers and times, and the events of Ray's own timeline."""

import time
from collections.abc import Callable, Collection

from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.polls import PROCESS_POLLS, Poll
from raydap.cluster.dashboard.ray_facts import Row
from raydap.errors import ProblemError
from raydap.report.records import TimelineSpan

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 10.0
"""The shortest and the longest pause between two requests. A short program ends its cluster soon, so the first pauses
are short."""

MAX_TASKS = 20_000
"""The number of tasks that are kept. One answer of Ray has at most ten thousand."""


class RayTasks:
    """The tasks of the watched jobs.

    The dashboard is polled during the run, because a cluster that the program has started ends with the program.
    """

    def __init__(self) -> None:
        self.events: list[Row] = []
        """The latest events of Ray's own timeline (ray/_private/profiling.py, chrome_tracing_dump)."""
        self.more = 0
        """The number of tasks that were not kept."""
        self.problem = ""
        """Why the last request failed, as a sentence for the user; "" if it succeeded."""
        self._rows: dict[tuple[str, str], TimelineSpan] = {}

    async def follow(self, dashboard: Dashboard, jobs: Callable[[], Collection[str]]) -> None:
        """Poll a dashboard until the task is cancelled. `jobs` returns the ids of the jobs that are watched now."""
        begun = time.monotonic()

        async def ask() -> float:
            asked = time.monotonic()
            await self.ask(dashboard, jobs())
            return min(max((asked - begun) / 20, FIRST_PAUSE_S), LAST_PAUSE_S)

        await Poll(PROCESS_POLLS, ask).run()

    async def ask(self, dashboard: Dashboard, jobs: Collection[str]) -> None:
        """Request the tasks of these jobs once.

        A failure is only kept in `problem`, because a timeline without its last tasks is still worth showing.
        """
        try:
            more = 0
            events: list[Row] = []
            for job in sorted(jobs):
                more += sum(not self._take(row) for row in await dashboard.tasks(job))
                # The events of each job number nodes and workers from 0, so those of several jobs cannot be joined.
                events = max(events, await dashboard.timeline(job), key=len)
            # Each answer contains the same tasks again, so the numbers must not be added.
            self.more = max(self.more, more)
            self.events = events or self.events
            self.problem = ""
        except ProblemError as error:
            self.problem = error.problem.text

    def spans(self) -> list[TimelineSpan]:
        """Return the tasks in the order of their starts."""
        return sorted(self._rows.values(), key=lambda span: span.start)

    def _take(self, row: Row) -> bool:
        """Keep a row of Ray's list of tasks (ray/util/state/common.py, TaskState); return whether there was room."""
        start, end, worker = row.get("start_time_ms"), row.get("end_time_ms"), row.get("worker_id")
        key = str(row.get("task_id")), str(row.get("attempt_number"))
        if not isinstance(start, (int, float)) or not isinstance(worker, str) or not start:
            return True
        if key not in self._rows and len(self._rows) >= MAX_TASKS:
            return False
        name = str(row.get("name") or row.get("func_or_class_name") or "task")
        ended = end / 1000 if isinstance(end, (int, float)) and end else None
        state = str(row.get("state") or "")
        self._rows[key] = TimelineSpan(worker=worker, name=name, start=start / 1000, end=ended, state=state)
        return True
