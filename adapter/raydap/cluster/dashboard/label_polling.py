"""Looks up what paused workers run, more than once after each stop: Ray's task list lags about a second."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.core.events import PausedWorker, WorkerLabel, WorkersLabelled
from raydap.protocol.types import WorkerKey

Ask = Callable[[tuple[PausedWorker, ...]], Awaitable[dict[WorkerKey, WorkerLabel]]]

GATHER_S = 0.05
"""Seconds in which workers are gathered for the first lookup: many workers stop at once."""

PAUSES_S = (0.4, 1.1, 2.0)
"""The seconds after each lookup of a worker. A worker that stops again begins with the first pause."""

MANY_WORKERS, MANY_WORKERS_DELAY_S = 4, 0.4
"""More workers than that get their labels later, because Ray's task list would slow down their attach."""

MAX_LABELS = 500
"""The number of labels in an event, which takes a few milliseconds."""


@dataclass(slots=True)
class _Wanted:
    """A worker whose label is polled. `lookups` were made since its last stop; `known` is what they found."""

    row: PausedWorker
    lookups: int = 0
    known: WorkerLabel = field(default_factory=WorkerLabel)


class LabelPolling:
    """Emits WorkersLabelled as soon as labels are known, and again when they change a moment later.

    `ask` is Dashboard.labels. `at_once`: filters need the labels, so the lookup for many workers does not wait.

    The dashboard is asked at a steady rate, however many workers stop and however fast the user steps: one lookup
    serves all workers, and two lookups are never closer than the first pause.
    """

    def __init__(self, polls: Polls, ask: Ask, emit: Callable[[WorkersLabelled], None], at_once: bool) -> None:
        self._ask = ask
        self._emit = emit
        self._at_once = at_once
        self._wanted: dict[WorkerKey, _Wanted] = {}
        self._more = asyncio.Event()
        self._is_first = True
        self._poll = Poll(polls, self._look, "labels", wake=self._more, shortest_s=PAUSES_S[0])

    async def look_up(self, workers: tuple[PausedWorker, ...]) -> None:
        """Return when the last lookup is done, or at once if lookups run already."""
        self._wanted.update((row.key, _Wanted(row)) for row in workers)
        self._more.set()
        if not self._poll.is_running:
            self._is_first = True
            await self._poll.run(GATHER_S)

    async def _look(self) -> float | None:
        is_first, self._is_first = self._is_first, False
        if is_first and len(self._wanted) > MANY_WORKERS and not self._at_once:
            return MANY_WORKERS_DELAY_S
        wanted = tuple(self._wanted.values())
        for each in wanted:
            each.lookups += 1
            if each.lookups > len(PAUSES_S):
                del self._wanted[each.row.key]
        if wanted:
            labels = await self._ask(tuple(each.row for each in wanted))
            await self._take(wanted, labels)
        # Wait until the worker that stopped last is due again, or another one stops.
        return PAUSES_S[min(each.lookups for each in self._wanted.values()) - 1] if self._wanted else None

    async def _take(self, wanted: tuple[_Wanted, ...], labels: dict[WorkerKey, WorkerLabel]) -> None:
        changed: dict[WorkerKey, WorkerLabel] = {}
        for each in wanted:
            label = labels.get(each.row.key, each.known)
            if label != each.known:
                each.known = changed[each.row.key] = label
        keys = list(changed)
        for start in range(0, len(keys), MAX_LABELS):
            self._emit(WorkersLabelled({key: changed[key] for key in keys[start : start + MAX_LABELS]}))
            await asyncio.sleep(0)
