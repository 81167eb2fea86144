"""Where paused workers come from: the interface of all sources, and the choice of one."""

from collections.abc import Callable
from typing import Protocol

from raydap.cluster.fixed_addresses import FixedAddresses
from raydap.cluster.ray_cluster import RayCluster
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.core.events import Event, PausedWorker
from raydap.core.settings import AttachSettings


class Source(Protocol):
    """One source of workers. The engine runs it and cannot tell which one it has.

    `run` may raise anything: the engine reports it as DiscoveryFailed. The other methods answer what they can.
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

    def note_user_activity(self) -> None:
        """The user did something, so news should come quickly for a while."""

    def note_cluster(self, address: str) -> None:
        """The launched program's driver has joined this cluster: its dashboard's URL, or its GCS as `host:port`."""

    def note_nodes_reached(self) -> None:
        """Agents are looked for on all nodes, so AgentsExpected would be no news."""


def choose(settings: AttachSettings, emit: Callable[[Event], None], patient: bool) -> Source:
    """The source that the settings name. `patient` as in StartDiscovery."""
    if settings.workers is not None:
        return FixedAddresses(settings.workers, emit)
    return RayCluster(settings, emit, patient)
