"""Asks again and again who runs and what they run, while somebody watches all workers."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from raydap.core.errors import ProblemError
from raydap.core.events import PausedWorker, WorkerLabel, WorkersAlive

log = logging.getLogger("raydap")

Ask = Callable[[], Awaitable[Mapping[PausedWorker, WorkerLabel] | None]]

PAUSE_FACTOR = 10
"""The pause is at least so many times as long as the answer took, because a dashboard that is busy with us serves
nobody else: Ray's lists of a thousand workers, tasks and actors take it a while."""


class AlivePolling:
    """Emits WorkersAlive after each answer of `ask`, which is Dashboard.alive, or None without a dashboard. `pause_s`
    are the seconds between an answer and the next question."""

    def __init__(self, ask: Ask, emit: Callable[[WorkersAlive], None], pause_s: float) -> None:
        self._ask = ask
        self._emit = emit
        self._pause_s = pause_s

    async def run(self) -> None:
        """Polls until it is cancelled."""
        took = 0.0
        while True:
            begun = time.monotonic()
            await self._poll()
            # A single slow answer counts for nothing: the dashboard may have loaded what it needs for the first one.
            before, took = took, time.monotonic() - begun
            await asyncio.sleep(max(self._pause_s, PAUSE_FACTOR * min(before, took)))

    async def _poll(self) -> None:
        try:
            workers = await self._ask()
        except ProblemError:
            # The source itself reports a dashboard that is down.
            return
        except Exception:
            log.exception("asking for all workers failed")
            return
        if workers is not None:
            self._emit(WorkersAlive(workers))
