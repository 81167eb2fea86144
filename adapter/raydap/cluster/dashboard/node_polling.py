"""Reports which nodes of a cluster are alive, whenever that changes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from raydap.core.events import NodesAlive

PERIOD_S = 1.0


class NodePolling:
    """Emits NodesAlive. `ask` is Dashboard.nodes. `several` is set while there is more than one node."""

    def __init__(self, ask: Callable[[], Awaitable[Mapping[str, str]]], emit: Callable[[NodesAlive], None]) -> None:
        self._ask = ask
        self._emit = emit
        self._last: Mapping[str, str] = {}
        self.several = asyncio.Event()

    async def poll(self) -> float:
        """Ask once. A cluster that does not answer keeps the nodes that it had."""
        nodes = await self._ask()
        if nodes != self._last:
            self._last = nodes
            self._emit(NodesAlive(nodes))
        if len(nodes) > 1:
            self.several.set()
        else:
            self.several.clear()
        return PERIOD_S
