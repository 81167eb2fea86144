"""Asks again and again who runs and what they run, while a client watches all workers."""

from collections.abc import Awaitable, Callable, Mapping

from raydap.cluster.dashboard.polls import Poll, Polls
from raydap.core.events import PausedWorker, WorkerLabel, WorkersAlive

Ask = Callable[[], Awaitable[Mapping[PausedWorker, WorkerLabel]]]

PERIOD_S = 2.0


class AlivePolling:
    """Emits WorkersAlive after each answer of `ask`, which is Dashboard.alive."""

    def __init__(self, polls: Polls, ask: Ask, emit: Callable[[WorkersAlive], None]) -> None:
        self._polls = polls
        self._ask = ask
        self._emit = emit

    async def run(self) -> None:
        """Poll until it is cancelled."""
        # A new poll each time: the run before may have been cancelled without having ended yet.
        await Poll(self._polls, self._poll, "all workers").run()

    async def _poll(self) -> float:
        self._emit(WorkersAlive(await self._ask()))
        return PERIOD_S
