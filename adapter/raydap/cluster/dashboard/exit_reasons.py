"""Looks up how workers ended. Ray learns of the end of a worker later than its debugger does."""

from collections.abc import Awaitable, Callable

from raydap.cluster.dashboard.dashboard_client import ExitReason
from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.core.events import WorkersEnded
from raydap.core.process_info import EndedWorker, ProcessInfo
from raydap.protocol.types import WorkerKey

Ask = Callable[[], Awaitable[dict[WorkerKey, ExitReason]]]

PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""The seconds before each lookup of a worker."""


class ExitReasons:
    """Emits WorkersEnded, once for all workers that one lookup finds.

    `ask` is Dashboard.exit_reasons. One lookup serves all workers, because the end of a job ends many of them.
    `look_for_ended_jobs` is called before a crash is emitted, because a crash after the end of the job is no loss.
    """

    def __init__(
        self,
        polls: Polls,
        ask: Ask,
        look_for_ended_jobs: Callable[[], Awaitable[object]],
        emit: Callable[[WorkersEnded], None],
    ) -> None:
        self._ask = ask
        self._look_for_ended_jobs = look_for_ended_jobs
        self._emit = emit
        self._poll = Poll(polls, self._look, "exit reasons")
        self._gone: dict[WorkerKey, tuple[ProcessInfo, int]] = {}
        """The workers without an exit reason, with the number of lookups that did not find one."""

    async def look_up(self, worker: ProcessInfo) -> None:
        """Look up a worker, and return when its exit reason is known or all lookups are done.

        If lookups already run, they include the worker from now on, and this returns at once.
        """
        self._gone[worker.key] = worker, 0
        if not self._poll.is_running:
            await self._poll.run(PAUSES_S[0])

    async def _look(self) -> float | None:
        reasons: dict[WorkerKey, ExitReason] = {}
        try:
            if self._gone:
                reasons = await self._ask()
            if any(key in reasons and reasons[key].is_crash for key in self._gone):
                await self._look_for_ended_jobs()
        finally:
            # A failed lookup counts, too.
            self._take(reasons)
        return PAUSES_S[min(lookups for _, lookups in self._gone.values())] if self._gone else None

    def _take(self, reasons: dict[WorkerKey, ExitReason]) -> None:
        ended = {key: row for key, (row, _) in self._gone.items() if key in reasons}
        unknown = {key: (row, lookups + 1) for key, (row, lookups) in self._gone.items() if key not in reasons}
        self._gone = {key: gone for key, gone in unknown.items() if gone[1] < len(PAUSES_S)}
        if ended:
            self._emit(WorkersEnded(tuple(_ended(row, reasons[key]) for key, row in ended.items())))


def _ended(row: ProcessInfo, reason: ExitReason) -> EndedWorker:
    return EndedWorker(row, reason.detail or reason.kind, reason.is_crash, reason.ended_ms)
