"""Looks up what paused workers run, more than once after each stop: Ray's task list lags about a second."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from raydap.bounded_wait import wait_for
from raydap.core.errors import ProblemError
from raydap.core.events import PausedWorker, WorkerLabel, WorkersLabelled
from raydap.protocol.types import WorkerKey

log = logging.getLogger("raydap")

Ask = Callable[[tuple[PausedWorker, ...]], Awaitable[dict[WorkerKey, WorkerLabel]]]

GATHER_S = 0.05
"""Seconds in which workers are gathered for the first lookup: many workers stop at once."""


@dataclass(slots=True)
class _Wanted:
    """A worker whose label is polled. `lookups` were made since its last stop; `known` is what they found."""

    row: PausedWorker
    lookups: int = 0
    known: WorkerLabel = field(default_factory=WorkerLabel)


class LabelPolling:
    """Emits WorkersLabelled as soon as labels are known, and again when they change a moment later.

    `ask` is Dashboard.labels. `first_delay_s` gives the seconds before the first lookup for so many workers.
    `pauses_s` are the seconds after each lookup; a worker that stops again begins with the first pause.

    The dashboard is asked at a steady rate, however many workers stop and however fast the user steps: one lookup
    serves all workers, and two lookups are never closer than the first pause.
    """

    def __init__(
        self,
        ask: Ask,
        emit: Callable[[WorkersLabelled], None],
        first_delay_s: Callable[[int], float],
        pauses_s: tuple[float, ...],
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._first_delay_s = first_delay_s
        self._pauses_s = pauses_s
        self._wanted: dict[WorkerKey, _Wanted] = {}
        self._more = asyncio.Event()
        self._polling = False

    async def look_up(self, workers: tuple[PausedWorker, ...]) -> None:
        """Returns when the last lookup is done, or at once if polling goes on already."""
        self._wanted.update((row.key, _Wanted(row)) for row in workers)
        self._more.set()
        if self._polling:
            return
        self._polling = True
        try:
            await asyncio.sleep(GATHER_S)
            await asyncio.sleep(self._first_delay_s(len(self._wanted)))
            while self._wanted:
                self._more.clear()
                await self._look_up()
                await self._pause()
        finally:
            self._polling = False

    async def _look_up(self) -> None:
        wanted = tuple(self._wanted.values())
        for each in wanted:
            each.lookups += 1
            if each.lookups > len(self._pauses_s):
                del self._wanted[each.row.key]
        try:
            labels = await self._ask(tuple(each.row for each in wanted))
        except ProblemError:
            # The source itself reports a dashboard that is down.
            return
        except Exception:
            log.exception("asking for labels failed")
            return
        changed: dict[WorkerKey, WorkerLabel] = {}
        for each in wanted:
            label = labels.get(each.row.key, each.known)
            if label != each.known:
                each.known = changed[each.row.key] = label
        if changed:
            self._emit(WorkersLabelled(changed))

    async def _pause(self) -> None:
        """Waits until the worker that stopped last is due again, or another one stops."""
        if self._wanted:
            pause_s = self._pauses_s[min(each.lookups for each in self._wanted.values()) - 1]
            await asyncio.sleep(self._pauses_s[0])
            try:
                await wait_for(self._more.wait(), pause_s - self._pauses_s[0])
            except asyncio.TimeoutError:
                return
