"""The source for the argument `workers`: plain debugpy processes at given addresses, with or without Ray."""

import asyncio
from collections.abc import Callable, Iterable

from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.core.events import (
    ActorsListed,
    DiscoveryReady,
    Event,
    PausedWorker,
    RayStateListed,
    WorkersAlive,
    WorkersPaused,
)
from raydap.core.ray_state import RayState
from raydap.protocol.types import WorkerKey


class FixedAddresses:
    """Reports each distinct `host:port` once, as a worker that waits. Implements `Source`.

    Never dials to look: debugpy accepts one client and cannot be attached to after a connection that was dropped.
    """

    def __init__(self, addresses: Iterable[str], emit: Callable[[Event], None]) -> None:
        self._workers = tuple(_worker(address) for address in dict.fromkeys(addresses))
        self._emit = emit

    async def run(self) -> None:
        self._emit(DiscoveryReady("the given workers"))
        self._emit(WorkersPaused(self._workers))

    async def look_up_labels(self, workers: tuple[PausedWorker, ...]) -> None:
        """Nothing is known of them."""

    async def list_actors(self) -> None:
        self._emit(ActorsListed(()))

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        self._emit(RayStateListed(number, RayState(problem="the workers were named by their addresses.")))

    async def watch_alive(self) -> None:
        """There are no others."""
        self._emit(WorkersAlive({}))

    async def look_up_exit_reason(self, worker: PausedWorker) -> None:
        """Nothing is known of it."""

    async def cluster_access(self) -> ClusterAccess | None:
        return None

    def note_user_activity(self) -> None:
        """Nothing is polled here."""

    def note_cluster(self, address: str) -> None:
        """The addresses are those of the user, whatever the program joins."""

    def note_nodes_reached(self) -> None:
        """They have no nodes."""


def _worker(address: str) -> PausedWorker:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return PausedWorker(WorkerKey(address), host, int(port), node=host, worker_type="TARGET")
