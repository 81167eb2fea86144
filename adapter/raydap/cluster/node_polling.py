"""Tells which nodes of a cluster are alive, whenever that changes."""

import time
from collections.abc import Awaitable, Callable, Mapping

from raydap.core.errors import ProblemError
from raydap.core.events import NodesAlive


class NodePolling:
    """Emits NodesAlive. `ask` is Dashboard.nodes; it is asked every `pause_s` seconds."""

    def __init__(
        self, ask: Callable[[], Awaitable[Mapping[str, str]]], emit: Callable[[NodesAlive], None], pause_s: float
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._pause_s = pause_s
        self._asked_at = float("-inf")
        self._last: Mapping[str, str] = {}

    @property
    def count(self) -> int:
        return len(self._last)

    async def poll(self) -> None:
        """Asks if the pause is over. A cluster that does not answer keeps the nodes that it had."""
        if time.monotonic() - self._asked_at < self._pause_s:
            return
        self._asked_at = time.monotonic()
        try:
            nodes = await self._ask()
        except ProblemError:
            return
        if nodes != self._last:
            self._last = nodes
            self._emit(NodesAlive(nodes))
