"""A job that runs: whether there is one, and how it ends."""

import os
import time
from dataclasses import dataclass

from raydap.client.dap_connection import SessionError
from raydap.cluster.dashboard.dashboard_address import resolve
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.labels import Row
from raydap.cluster.dashboard.polls import PROCESS_POLLS, Poll
from raydap.cluster.jobs.job_list import has_ended
from raydap.errors import ProblemError

PAUSE_S = 2.0
"""Seconds between two questions whether it has ended."""

GONE_S = 60.0
"""A cluster that does not answer for so many seconds is taken for gone, and the job with it."""

ARGUMENT = "--dashboard {}"
"""How users name the cluster in a command."""


class NoSuchJob(SessionError):
    """It does not run."""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """`failed` is only known of submitted jobs: Ray says of any other that it has succeeded."""

    failed: bool
    text: str


class JobWatch:
    """Must be closed. `url` is the dashboard."""

    def __init__(self, job: str, dashboard: Dashboard, row: Row) -> None:
        self.url = dashboard.rest.where
        self._job = job
        self._dashboard = dashboard
        self._submission = str(row.get("submission_id") or "")

    @classmethod
    async def of(cls, job: str, dashboard: str | None) -> "JobWatch":
        """Raises ProblemError, OSError, and NoSuchJob if it does not run."""
        location = await resolve(dashboard, os.environ, argument=ARGUMENT)
        asked = Dashboard(location.client(os.environ))
        try:
            # An outage would look like a cluster without jobs.
            await asked.session_name()
            rows = await asked.jobs()
            row = _find(rows, job)
            if row is None or has_ended(row):
                raise NoSuchJob(_no_such_job(job, rows, row is not None))
        except BaseException:
            await asked.rest.close()
            raise
        return cls(job, asked, row)

    async def end(self) -> JobEnd:
        """Return when it has ended. A short outage of the dashboard is no end."""
        missing_since: float | None = None  # When the first of the answers without the job came.
        ends: list[JobEnd] = []

        async def ask() -> float | None:
            nonlocal missing_since
            row = await self._dashboard.job(self._job)
            if row is not None:
                missing_since = None
                if not has_ended(row):
                    return PAUSE_S
                status = str(row["status"])
                known = {"FAILED": "has failed", "STOPPED": "was stopped", "SUCCEEDED": "has succeeded"}
                how = known[status] if self._submission else "has ended"
                ends.append(JobEnd(self._submission != "" and status == "FAILED", f"Job {self._job} {how}."))
                return None
            if missing_since is None:
                missing_since = time.monotonic()
            if time.monotonic() - missing_since < GONE_S:
                return PAUSE_S
            ends.append(JobEnd(True, f"The cluster has not said for {GONE_S:g} s what became of the job {self._job}."))
            return None

        await Poll(PROCESS_POLLS, ask).run(PAUSE_S)
        return ends[0]

    async def log(self) -> str:
        """What it has printed, "" if Ray does not keep that."""
        try:
            return await self._dashboard.job_log(self._submission) if self._submission else ""
        except ProblemError:
            return ""

    async def close(self) -> None:
        await self._dashboard.rest.close()


def _find(rows: list[Row], job: str) -> Row | None:
    return next((row for row in rows if job in (row.get("job_id"), row.get("submission_id"))), None)


def _no_such_job(job: str, rows: list[Row], ended: bool) -> str:
    running = [str(row.get("submission_id") or row.get("job_id")) for row in rows if not has_ended(row)]
    others = f"those that run: {', '.join(running)}" if running else "no job runs"
    return (
        f"The job {job} has ended already ({others})." if ended else f'There is no file and no job "{job}" ({others}).'
    )
