"""Where paused workers come from: the interface of all sources, and the source for given addresses."""

import asyncio
from collections.abc import Callable, Iterable

from raydap.analysis.ray_state import RayState
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
from raydap.protocol.types import WorkerKey


class Source:
    """One source of workers. The engine runs it and cannot tell which one it has.

    `run` may raise anything: the engine reports it as DiscoveryFailed. The other methods answer what they can; here
    nothing is known.
    """

    async def run(self) -> None:
        """Emits DiscoveryReady, WorkersPaused and DiscoveryFailed. Returns when nothing can change any more."""

    async def look_up_labels(self, workers: tuple[PausedWorker, ...]) -> None:
        """Emits WorkersLabelled as soon as labels are known, and again when they change."""

    async def list_actors(self) -> None:
        """Emits ActorsListed once."""

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        """Emits RayStateListed with this number once, after so many seconds, whatever happens."""

    async def watch_alive(self) -> None:
        """Emits WorkersAlive again and again, until it is cancelled."""

    async def look_up_exit_reason(self, worker: PausedWorker) -> None:
        """Emits WorkersEnded when Ray knows why this worker is gone, and JobsEnded if its job has ended."""

    async def cluster_access(self) -> ClusterAccess | None:
        """What the relay needs to join the cluster; None without a cluster, and while it does not answer."""
        return None

    def note_user_activity(self) -> None:
        """The user did something, so news should come quickly for a while."""

    def note_cluster(self, address: str) -> None:
        """The launched program's driver has joined this cluster: its dashboard's URL, or its GCS as `host:port`."""

    def note_nodes_reached(self) -> None:
        """Agents are looked for on all nodes, so AgentsExpected would be no news."""


class FixedAddresses(Source):
    """The source for the argument `workers`: plain debugpy processes at given addresses, with or without Ray.

    Reports each distinct `host:port` once, as a worker that waits. Never dials to look: debugpy accepts one client and
    cannot be attached to after a connection that was dropped. Nothing else is known of these workers.
    """

    def __init__(self, addresses: Iterable[str], emit: Callable[[Event], None]) -> None:
        self._workers = tuple(_worker(address) for address in dict.fromkeys(addresses))
        self._emit = emit

    async def run(self) -> None:
        self._emit(DiscoveryReady("the given workers"))
        self._emit(WorkersPaused(self._workers))

    async def list_actors(self) -> None:
        self._emit(ActorsListed(()))

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        self._emit(RayStateListed(number, RayState(problem="the workers were named by their addresses.")))

    async def watch_alive(self) -> None:
        self._emit(WorkersAlive({}))


def _worker(address: str) -> PausedWorker:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return PausedWorker(WorkerKey(address), host, int(port), node=host, worker_type="TARGET")
