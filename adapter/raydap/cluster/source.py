"""The interface of all sources of workers, and the source for given addresses."""

import asyncio
from collections.abc import Callable, Iterable

from raydap.analysis.ray_state import RayState
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.core.events import ActorsListed, DiscoveryReady, Event, RayStateListed, WorkersAlive, WorkersPaused
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey


class WorkerSource:
    """A source of workers. The engine runs it, and does not depend on its kind.

    `run` may raise any exception, which the engine reports as DiscoveryFailed. The other methods report what the source
    can find out. These defaults report nothing.
    """

    async def run(self) -> None:
        """Emit DiscoveryReady, WorkersPaused and DiscoveryFailed, and return when nothing can change any more."""

    async def look_up_facts(self, workers: tuple[ProcessInfo, ...]) -> None:
        """Emit FactsListed as soon as facts are known, and again when they change."""

    async def list_actors(self) -> None:
        """Emit ActorsListed once."""

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        """Emit RayStateListed with this number once, after `delay_s`, even if Ray does not answer."""

    async def watch_alive(self) -> None:
        """Emit WorkersAlive repeatedly until cancelled."""

    async def look_up_exit_reason(self, worker: ProcessInfo) -> None:
        """Emit WorkersEnded when Ray reports why this worker has ended, and JobsEnded if its job has ended."""

    async def cluster_access(self) -> ClusterAccess | None:
        """Return what the relay needs to join the cluster; None without a cluster, or while it does not answer."""
        return None

    def note_user_activity(self) -> None:
        """Note that the user did something, so that events come quickly for a while."""

    def note_cluster(self, address: str) -> None:
        """Note which cluster the launched program's driver has joined.

        `address` is the URL of its dashboard, or its GCS as `host:port`.
        """

    def note_nodes_reached(self) -> None:
        """Note that raydap now looks for agents on all nodes, so that AgentsExpected is no longer needed."""


class FixedAddresses(WorkerSource):
    """The source for the argument `workers`: debugpy processes at given addresses, with or without Ray.

    Reports each distinct `host:port` once, as a worker that waits. Never opens a probe connection: debugpy accepts one
    client, and cannot be attached to after a dropped connection. Nothing else is known of these workers.
    """

    def __init__(self, addresses: Iterable[str], emit: Callable[[Event], None]) -> None:
        self._workers = tuple(_worker(address) for address in dict.fromkeys(addresses))
        self._emit = emit

    async def run(self) -> None:
        """Report all workers as paused, once."""
        self._emit(DiscoveryReady("the given workers"))
        self._emit(WorkersPaused(self._workers))

    async def list_actors(self) -> None:
        """Emit ActorsListed without actors."""
        self._emit(ActorsListed(()))

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        """Emit RayStateListed with the reason why there is nothing."""
        await asyncio.sleep(delay_s)
        self._emit(RayStateListed(number, RayState(problem="the workers were given by address, without a cluster.")))

    async def watch_alive(self) -> None:
        """Emit WorkersAlive once, without workers."""
        self._emit(WorkersAlive({}))


def _worker(address: str) -> ProcessInfo:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return ProcessInfo(WorkerKey(address), host, int(port), node=host, worker_type="TARGET")
