"""Ownership of asyncio tasks, so that none is lost and every failure is logged.

relay_actor.py sends this module to nodes by value, so it imports nothing of raydap.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger("raydap")


class Tasks:
    """The running tasks of one owner. The exception of a task that fails is logged."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Return the number of tasks that have not ended."""
        return len(self._running)

    def spawn(
        self, work: Coroutine[Any, Any, None], on_failure: Callable[[Exception], None] = lambda error: None
    ) -> "asyncio.Task[None]":
        """Run `work` as a task, and call `on_failure` with the exception if it fails, not if it is cancelled."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(lambda _: self._ended(task, on_failure))
        return task

    def cancel(self) -> None:
        """Cancel all running tasks. `wait` returns when they have ended."""
        for task in self._running:
            task.cancel()

    async def wait(self) -> None:
        """Return when no task is running, including tasks that start during the wait."""
        while self._running:
            await asyncio.wait(self._running)

    def _ended(self, task: "asyncio.Task[None]", on_failure: Callable[[Exception], None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("an internal task of raydap failed", exc_info=error)
        if isinstance(error, Exception):
            on_failure(error)
