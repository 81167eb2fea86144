"""Looks up how workers ended: Ray learns of a death later than their debugger."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from raydap.cluster.dashboard import is_crash
from raydap.core.errors import ProblemError
from raydap.core.events import EndedWorker, PausedWorker, WorkersEnded
from raydap.protocol.types import WorkerKey

log = logging.getLogger("raydap")

Ask = Callable[[], Awaitable[dict[WorkerKey, tuple[str, str]]]]


class ExitReasons:
    """Emits WorkersEnded, once for all that one lookup finds.

    `ask` is Dashboard.exit_reasons. `pauses_s` are the seconds before each lookup of a worker. One lookup serves all:
    a job that ends takes many workers with it.
    """

    def __init__(self, ask: Ask, emit: Callable[[WorkersEnded], None], pauses_s: tuple[float, ...]) -> None:
        self._ask = ask
        self._emit = emit
        self._pauses_s = pauses_s
        self._gone: dict[WorkerKey, tuple[PausedWorker, int]] = {}
        """The workers without an exit reason, and how many lookups did not find it."""
        self._polling = False

    async def look_up(self, worker: PausedWorker) -> None:
        """Returns when the exit reason is known, or all lookups are done; at once if polling goes on already."""
        self._gone[worker.key] = worker, 0
        if self._polling:
            return
        self._polling = True
        try:
            while self._gone:
                await asyncio.sleep(self._pauses_s[min(lookups for _, lookups in self._gone.values())])
                self._take(await self._answer())
        finally:
            self._polling = False

    async def _answer(self) -> dict[WorkerKey, tuple[str, str]]:
        """What Ray says; nothing if asking failed, so that the next lookup tries again."""
        try:
            return await self._ask()
        except ProblemError:
            # The source itself reports a dashboard that is down.
            pass
        except Exception:
            log.exception("asking for exit reasons failed")
        return {}

    def _take(self, reasons: dict[WorkerKey, tuple[str, str]]) -> None:
        ended = {key: row for key, (row, _) in self._gone.items() if key in reasons}
        unknown = {key: (row, lookups + 1) for key, (row, lookups) in self._gone.items() if key not in reasons}
        self._gone = {key: gone for key, gone in unknown.items() if gone[1] < len(self._pauses_s)}
        if ended:
            self._emit(WorkersEnded(tuple(_ended(row, reasons[key]) for key, row in ended.items())))


def _ended(row: PausedWorker, reason: tuple[str, str]) -> EndedWorker:
    return EndedWorker(row, reason[1] or reason[0], is_crash(reason))
