"""Looks up how workers ended that were gone while they ran: Ray learns of a death later than their debugger."""

import asyncio
from collections.abc import Awaitable, Callable

from raydap.core.errors import ProblemError
from raydap.core.events import PausedWorker, WorkersCrashed
from raydap.discovery.dashboard import is_crash
from raydap.protocol.types import WorkerKey

Ask = Callable[[], Awaitable[dict[WorkerKey, tuple[str, str]]]]


class Fates:
    """Emits WorkersCrashed for those that Ray says have crashed, once for all that a look finds.

    `pauses` are the seconds before each look; a job that ends takes many workers with it, and one look serves all.
    """

    def __init__(self, ask: Ask, emit: Callable[[WorkersCrashed], None], pauses: tuple[float, ...]) -> None:
        self._ask = ask
        self._emit = emit
        self._pauses = pauses
        self._gone: dict[WorkerKey, tuple[PausedWorker, int]] = {}

    async def learn(self, worker: PausedWorker) -> None:
        """Returns when it is known, or cannot be; at once if looks go on already. Never raises."""
        looking = bool(self._gone)
        self._gone[worker.key] = worker, 0
        while self._gone and not looking:
            await asyncio.sleep(self._pauses[min(looks for _, looks in self._gone.values())])
            try:
                ends = await self._ask()
            except (ProblemError, RuntimeError):
                # A dashboard that is down, or left for another one meanwhile: the watch itself reports that.
                ends = {}
            self._take(ends)

    def _take(self, ends: dict[WorkerKey, tuple[str, str]]) -> None:
        crashed = {key: row for key, (row, _) in self._gone.items() if key in ends and is_crash(ends[key])}
        waiting = {key: (row, looks + 1) for key, (row, looks) in self._gone.items() if key not in ends}
        self._gone = {key: gone for key, gone in waiting.items() if gone[1] < len(self._pauses)}
        if crashed:
            reasons = tuple(ends[key][1] or ends[key][0] for key in crashed)
            self._emit(WorkersCrashed(tuple(crashed.values()), reasons))
