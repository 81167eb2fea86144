"""Tells of a cluster's jobs: which run at the first contact, and which have ended since."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from raydap.cluster.labels import Row, program
from raydap.core.events import EndedJob, JobsEnded, JobsListed

_ENDED = {"SUCCEEDED": "has succeeded", "FAILED": "has failed", "STOPPED": "was stopped"}
"""The last states of a submitted job (ray/dashboard/modules/job/common.py, JobStatus), as users read them."""


class Jobs:
    """Emits JobsListed once, and JobsEnded for each job that ends later. `listed` is set at the first of these.

    `ask` is Dashboard.jobs. `pauses_s` are the seconds before each lookup after a worker is gone: Ray knows a moment
    later that its job has ended, too.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[list[Row]]],
        emit: Callable[[JobsListed | JobsEnded], None],
        pauses_s: Iterable[float],
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._pauses_s = tuple(pauses_s)
        self.listed = asyncio.Event()
        self._ended: set[str] | None = None
        """The ids of the jobs whose end is known; None before the first contact."""
        self._looking = False

    async def list(self) -> None:
        """Emits JobsListed at the first call. Later calls find a cluster that was there before."""
        if self._ended is None:
            rows = await self._ask()
            self._ended = {_id(row) for row in rows if has_ended(row)}
            self._emit(JobsListed(tuple(_name(row) for row in rows if not has_ended(row))))
            self.listed.set()

    async def look_for_ends(self) -> None:
        """Returns when a job has ended, or all lookups are done; at once if lookups go on already."""
        if self._ended is None or self._looking:
            return
        self._looking = True
        try:
            for pause_s in self._pauses_s:
                await asyncio.sleep(pause_s)
                ended = [row for row in await self._ask() if has_ended(row) and _id(row) not in self._ended]
                if ended:
                    self._ended.update(map(_id, ended))
                    self._emit(JobsEnded(tuple(map(_end, ended))))
                    return
        finally:
            self._looking = False


def _id(row: Row) -> str:
    return str(row.get("submission_id") or row.get("job_id") or "")


def has_ended(row: Row) -> bool:
    return str(row.get("status")) in _ENDED  # A row can hold anything, also what has no hash.


def _name(row: Row) -> str:
    name = program(str(row.get("entrypoint") or ""))
    return f"{name} ({_id(row)})" if name else _id(row)


def _end(row: Row) -> EndedJob:
    # Ray calls a driver that was not submitted "succeeded" however it ended (job_manager.py has no exit code of it).
    how = _ENDED[str(row["status"])] if row.get("submission_id") else "has ended"
    # The lines after the first are the end of the job's log.
    message = str(row.get("message") or "").partition("\n")[0].strip(" ,") if how == "has failed" else ""
    return EndedJob(str(row.get("job_id") or ""), f"Job {_name(row)} {how}" + (f": {message}" if message else "."))
