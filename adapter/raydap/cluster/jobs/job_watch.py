"""Waits for the end of a running job."""

import os
import time
from dataclasses import dataclass

from raydap.cluster.dashboard.dashboard_address import resolve
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.polls import PROCESS_POLLS, Poll
from raydap.cluster.dashboard.ray_facts import Row
from raydap.cluster.jobs.job_list import has_ended, how_ended
from raydap.errors import Code, Problem, ProblemError

PAUSE_S = 2.0
"""Seconds between two requests for the state of the job."""

GONE_S = 60.0
"""If the dashboard has not returned the job for this number of seconds, the job counts as failed."""

ARGUMENT = "--dashboard {}"
"""The option that names a cluster, for messages to the user."""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended."""

    failed: bool
    """Whether the job failed or its cluster disappeared. Ray reports failures of submitted jobs only."""
    text: str
    """A sentence for the user."""


class JobWatch:
    """One running job. Must be closed."""

    def __init__(self, job: str, dashboard: Dashboard, row: Row) -> None:
        self.url = dashboard.rest.where
        """The URL of the dashboard."""
        self._job = job
        self._dashboard = dashboard
        self._submission = str(row.get("submission_id") or "")

    @classmethod
    async def of(cls, job: str, dashboard: str | None) -> "JobWatch":
        """Find a job by its id or submission id, and return a watch for it.

        `dashboard` is the cluster that the user names, or None. Raises OSError, and ProblemError also if
        no such job is running.
        """
        location = await resolve(dashboard, os.environ, argument=ARGUMENT)
        asked = Dashboard(location.client(os.environ))
        try:
            # This request raises during an outage. `jobs` returns an empty list then.
            await asked.session_name()
            rows = await asked.jobs()
            row = _find(rows, job)
            if row is None or has_ended(row):
                raise ProblemError(Problem(Code.BAD_ARGUMENT, _no_such_job(job, rows, row is not None)))
        except BaseException:
            await asked.rest.close()
            raise
        return cls(job, asked, row)

    async def end(self) -> JobEnd:
        """Wait for the end of the job. An outage of the dashboard shorter than GONE_S does not count as the end."""
        missing_since: float | None = None  # The time of the first of consecutive answers without the job.
        ends: list[JobEnd] = []

        async def ask() -> float | None:
            nonlocal missing_since
            row = await self._dashboard.job(self._job)
            if row is not None:
                missing_since = None
                if not has_ended(row):
                    return PAUSE_S
                how = how_ended(row)
                ends.append(JobEnd(how == "has failed", f"Job {self._job} {how}."))
                return None
            if missing_since is None:
                missing_since = time.monotonic()
            if time.monotonic() - missing_since < GONE_S:
                return PAUSE_S
            ends.append(JobEnd(True, f"The cluster has not returned job {self._job} for {GONE_S:g} s."))
            return None

        await Poll(PROCESS_POLLS, ask).run(PAUSE_S)
        return ends[0]

    async def log(self) -> str:
        """Return the output of the job; "" if Ray does not have it, as for a job that was not submitted."""
        try:
            return await self._dashboard.job_log(self._submission) if self._submission else ""
        except ProblemError:
            return ""

    async def close(self) -> None:
        """Close the connection to the dashboard."""
        await self._dashboard.rest.close()


def _find(rows: list[Row], job: str) -> Row | None:
    return next((row for row in rows if job in (row.get("job_id"), row.get("submission_id"))), None)


def _no_such_job(job: str, rows: list[Row], ended: bool) -> str:
    running = [str(row.get("submission_id") or row.get("job_id")) for row in rows if not has_ended(row)]
    others = f"running jobs: {', '.join(running)}" if running else "no jobs are running"
    return f"Job {job} has already ended ({others})." if ended else f'There is no file and no job "{job}" ({others}).'
