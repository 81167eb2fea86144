"""A source that polls a fake dashboard, fast enough for tests, and the events that it emits."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from raydap.cluster.ray_cluster import RayCluster, Timing
from raydap.core.events import Event, JobsListed, NodesAlive
from raydap.core.process_info import ProcessInfo
from raydap.core.settings import AttachSettings
from raydap.protocol.types import WorkerKey
from unit.cluster.fake_dashboard import FakeDashboard

WAIT = 20.0
FAST = Timing(search_s=0.0, outage_grace_s=0.0, scale=0.001)
PAUSED = ProcessInfo(WorkerKey("ab" * 28), "10.0.0.7", 40001, 4321, "10.0.0.7", "cd" * 28, "WORKER")
LeftOut = tuple[type[Event], ...]


class Polling:
    """A running source, and the events that it emits except those of `left_out`."""

    def __init__(
        self,
        settings: AttachSettings,
        timing: Timing = FAST,
        left_out: LeftOut = (JobsListed, NodesAlive),
        **options: Any,
    ) -> None:
        self.events: list[Event] = []
        self._left_out = left_out
        self._news = asyncio.Event()
        self.source = RayCluster(settings, self._emit, environ={"HOME": "/nonexistent"}, timing=timing, **options)
        self._task: asyncio.Task[None] | None = None

    def _emit(self, event: Event) -> None:
        if not isinstance(event, self._left_out):
            self.events.append(event)
            self._news.set()

    async def __aenter__(self) -> "Polling":
        self._task = asyncio.create_task(self.source.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def next(self, kind: type[Event], after: int = 0) -> int:
        """Wait for the first event of this kind from index `after` on; return the index behind it."""

        async def look() -> int:
            while True:
                for index, event in enumerate(self.events[after:], after):
                    if isinstance(event, kind):
                        return index + 1
                self._news.clear()
                await self._news.wait()

        return await asyncio.wait_for(look(), WAIT)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def run(script: Callable[[FakeDashboard], Awaitable[None]]) -> None:
    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            await script(fake)

    asyncio.run(main())
