"""Reports a cluster's jobs: which jobs run at the first contact, and which have ended since."""

import asyncio
from collections.abc import Awaitable, Callable

from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.cluster.dashboard.ray_facts import Row, is_own_job, milliseconds, program
from raydap.core.events import JobsEnded, JobsListed
from raydap.core.process_info import EndedJob

ENDED = {"SUCCEEDED": "has succeeded", "FAILED": "has failed", "STOPPED": "was stopped"}
"""The states that a job never leaves (ray/dashboard/modules/job/common.py, JobStatus), with their texts for users."""

PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""The seconds before each lookup after a worker is gone: Ray notices a moment later that its job has ended, too."""


class Jobs:
    """Emits JobsListed once, and JobsEnded when jobs end later.

    `ask` is Dashboard.jobs. `listed` is set when JobsListed has been emitted.
    """

    def __init__(
        self, polls: Polls, ask: Callable[[], Awaitable[list[Row]]], emit: Callable[[JobsListed | JobsEnded], None]
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._poll = Poll(polls, self._look, "ended jobs")
        self.listed = asyncio.Event()
        self._ended: set[str] = set()
        """The ids of the jobs whose end is known."""
        self._lookups = 0

    async def list(self) -> None:
        """Emit JobsListed at the first call. Later calls do nothing."""
        if not self.listed.is_set():
            rows = await self._ask()
            self._ended = {_id(row) for row in rows if has_ended(row)}
            self._emit(JobsListed(tuple(_name(row) for row in rows if not has_ended(row) and not is_own_job(row))))
            self.listed.set()

    async def look_for_ends(self) -> None:
        """Look for ended jobs, and return when one has ended or all lookups are done.

        Return at once if lookups run already.
        """
        if self.listed.is_set() and not self._poll.is_running:
            self._lookups = 0
            await self._poll.run(PAUSES_S[0])

    async def _look(self) -> float | None:
        if self._lookups == len(PAUSES_S):
            return None
        # A failed lookup counts, too.
        self._lookups += 1
        if await self.look():
            return None
        return PAUSES_S[self._lookups] if self._lookups < len(PAUSES_S) else None

    async def look(self) -> bool:
        """Emit JobsEnded for jobs that have ended since the last look, or since JobsListed.

        Return whether there was such a job.
        """
        if not self.listed.is_set():
            return False
        ended = [row for row in await self._ask() if has_ended(row) and _id(row) not in self._ended]
        if ended:
            self._ended.update(map(_id, ended))
            self._emit(JobsEnded(tuple(map(_end, ended))))
        return bool(ended)


def _id(row: Row) -> str:
    return str(row.get("submission_id") or row.get("job_id") or "")


def has_ended(row: Row) -> bool:
    """Return whether a row of the Jobs API is that of a job that has ended."""
    return str(row.get("status")) in ENDED  # A row can contain anything, even values without a hash.


def _name(row: Row) -> str:
    name = program(str(row.get("entrypoint") or ""))
    return f"{name} ({_id(row)})" if name else _id(row)


def how_ended(row: Row) -> str:
    """Return how a job that has ended did so, as a part of a sentence."""
    # For a driver that was not submitted, Ray reports "succeeded" however it ended: job_manager.py has no exit code of
    # it.
    return ENDED[str(row["status"])] if row.get("submission_id") else "has ended"


def _end(row: Row) -> EndedJob:
    how = how_ended(row)
    # The lines after the first are the end of the job's log.
    message = str(row.get("message") or "").partition("\n")[0].strip(" ,") if how == "has failed" else ""
    text = f"Job {_name(row)} {how}" + (f": {message}" if message else ".")
    return EndedJob(str(row.get("job_id") or ""), text, milliseconds(row.get("end_time")))
