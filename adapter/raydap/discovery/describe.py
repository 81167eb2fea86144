"""Looks up what paused workers run: Ray's task list lags about a second, so more than once after each stop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from raydap.core.errors import ProblemError
from raydap.core.events import PausedWorker, WorkerLabel, WorkersDescribed
from raydap.protocol.types import WorkerKey

Ask = Callable[[tuple[PausedWorker, ...]], Awaitable[dict[WorkerKey, WorkerLabel]]]

GATHER = 0.05
"""Seconds in which workers are gathered for the first look: stops come in swarms."""


@dataclass(slots=True)
class _Wanted:
    """`looks` were made since its last stop, which found it to be `known` as that."""

    row: PausedWorker
    looks: int = 0
    known: WorkerLabel = field(default_factory=WorkerLabel)


class Descriptions:
    """Emits WorkersDescribed as soon as labels are known, and again when they change a moment later.

    `delay` says how many seconds the first look at so many workers is put off, `pauses` are those after each look; a
    worker that stops again begins with the first. One look serves all workers, and nothing shortens a pause below the
    first: however many stop and however fast somebody steps, the dashboard is asked at a steady rate.
    """

    def __init__(
        self,
        ask: Ask,
        emit: Callable[[WorkersDescribed], None],
        delay: Callable[[int], float],
        pauses: tuple[float, ...],
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._delay = delay
        self._pauses = pauses
        self._wanted: dict[WorkerKey, _Wanted] = {}
        self._more = asyncio.Event()
        self._looking = False

    async def describe(self, workers: tuple[PausedWorker, ...]) -> None:
        """Returns when the last look is done, or at once if looks go on already. Never raises."""
        self._wanted.update((row.key, _Wanted(row)) for row in workers)
        self._more.set()
        if self._looking:
            return
        self._looking = True
        try:
            await asyncio.sleep(GATHER)
            await asyncio.sleep(self._delay(len(self._wanted)))
            while self._wanted:
                self._more.clear()
                await self._look()
                await self._rest()
        finally:
            self._looking = False

    async def _look(self) -> None:
        wanted = tuple(self._wanted.values())
        for each in wanted:
            each.looks += 1
            if each.looks > len(self._pauses):
                del self._wanted[each.row.key]
        try:
            labels = await self._ask(tuple(each.row for each in wanted))
        except (ProblemError, RuntimeError):
            # A dashboard that is down, or left for another one meanwhile: the watch itself reports that.
            return
        news: dict[WorkerKey, WorkerLabel] = {}
        for each in wanted:
            label = labels.get(each.row.key, each.known)
            if label != each.known:
                each.known = news[each.row.key] = label
        if news:
            self._emit(WorkersDescribed(news))

    async def _rest(self) -> None:
        """Until the worker that stopped last is due again, or another one stops."""
        if self._wanted:
            pause = self._pauses[min(each.looks for each in self._wanted.values()) - 1]
            await asyncio.sleep(self._pauses[0])
            try:
                await asyncio.wait_for(self._more.wait(), pause - self._pauses[0])
            except asyncio.TimeoutError:
                return
