"""Looks up what paused workers run, several times after each stop: Ray's list of tasks lags about one second."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.core.events import ProcessInfo, WorkerLabel, WorkersLabelled
from raydap.protocol.types import WorkerKey

Ask = Callable[[tuple[ProcessInfo, ...]], Awaitable[dict[WorkerKey, WorkerLabel]]]

GATHER_S = 0.05
"""Seconds for which workers are collected before the first lookup, because many workers stop at the same time."""

PAUSES_S = (0.4, 1.1, 2.0)
"""The seconds after each lookup of a worker. A worker that stops again begins with the first pause."""

MANY_WORKERS, MANY_WORKERS_DELAY_S = 4, 0.4
"""For more than MANY_WORKERS, the first lookup comes MANY_WORKERS_DELAY_S later, because reading Ray's list of tasks
would slow down their attach."""

MAX_LABELS = 500
"""Maximum number of labels in one event. An event with that many takes a few milliseconds."""


@dataclass(slots=True)
class _Wanted:
    """A worker whose label is polled."""

    row: ProcessInfo
    lookups: int = 0
    """The number of lookups since the worker's last stop."""
    known: WorkerLabel = field(default_factory=WorkerLabel)
    """The label that these lookups have found."""


class LabelPolling:
    """Emits WorkersLabelled as soon as labels are known, and again when they change a moment later.

    `ask` is Dashboard.labels. With `at_once`, filters need the labels, so the lookup for many workers is not delayed.

    One lookup serves all workers, and two lookups are never closer than the first pause. So the dashboard gets
    questions at a steady rate, however many workers stop and however fast the user steps.
    """

    def __init__(self, polls: Polls, ask: Ask, emit: Callable[[WorkersLabelled], None], at_once: bool) -> None:
        self._ask = ask
        self._emit = emit
        self._at_once = at_once
        self._wanted: dict[WorkerKey, _Wanted] = {}
        self._more = asyncio.Event()
        self._is_first = True
        self._poll = Poll(polls, self._look, "labels", wake=self._more, shortest_s=PAUSES_S[0])

    async def look_up(self, workers: tuple[ProcessInfo, ...]) -> None:
        """Look up these workers, and return when the last lookup is done.

        If lookups already run, they include these workers from now on, and this returns at once.
        """
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
        # Wait until the worker that stopped last is due again, or another worker stops.
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
