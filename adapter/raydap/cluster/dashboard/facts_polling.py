"""Looks up what paused workers run, several times after each stop: Ray's list of tasks lags about one second."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.core.events import FactsListed
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.protocol.types import WorkerKey

Ask = Callable[[tuple[ProcessInfo, ...]], Awaitable[dict[WorkerKey, RayFacts]]]

GATHER_S = 0.05
"""Seconds for which workers are collected before the first lookup, because many workers stop at the same time."""

PAUSES_S = (0.4, 1.1, 2.0)
"""The seconds after each lookup of a worker. A worker that stops again begins with the first pause."""

MANY_WORKERS, MANY_WORKERS_DELAY_S = 4, 0.4
"""For more than MANY_WORKERS, the first lookup comes MANY_WORKERS_DELAY_S later, because reading Ray's list of tasks
would slow down their attach."""

MAX_FACTS = 500
"""The maximum number of workers in one event. An event with that many takes a few milliseconds."""


@dataclass(slots=True)
class _Wanted:
    """A worker whose facts are polled."""

    row: ProcessInfo
    """The worker, with the debug port at which it waits."""
    lookups: int = 0
    """The number of lookups since the worker's last stop."""
    known: RayFacts = field(default_factory=RayFacts)
    """The facts that these lookups have found."""


class FactsPolling:
    """Emits FactsListed as soon as facts are known, and again when they change a moment later.

    `ask` is Dashboard.ray_facts. With `at_once`, filters need the facts, so the lookup for many workers is not delayed.

    One lookup serves all workers, and two lookups are never closer than the first pause. So the dashboard gets
    questions at a steady rate, however many workers stop and however fast the user steps.
    """

    def __init__(self, polls: Polls, ask: Ask, emit: Callable[[FactsListed], None], at_once: bool) -> None:
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
            facts = await self._ask(tuple(each.row for each in wanted))
            await self._take(wanted, facts)
        # Wait until the worker that stopped last is due again, or another worker stops.
        return PAUSES_S[min(each.lookups for each in self._wanted.values()) - 1] if self._wanted else None

    async def _take(self, wanted: tuple[_Wanted, ...], facts: dict[WorkerKey, RayFacts]) -> None:
        changed: dict[WorkerKey, RayFacts] = {}
        for each in wanted:
            new = facts.get(each.row.key, each.known)
            if new != each.known:
                each.known = changed[each.row.key] = new
        keys = list(changed)
        for start in range(0, len(keys), MAX_FACTS):
            self._emit(FactsListed({key: changed[key] for key in keys[start : start + MAX_FACTS]}))
            await asyncio.sleep(0)
