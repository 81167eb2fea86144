"""What raydap knows of this machine and user: hubs, sessions, clusters, and the workers that are paused there."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from raydap import tcp_sockets
from raydap.bounded_wait import wait_for
from raydap.cluster.dashboard import dashboard_address, local_clusters
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.local_clusters import LocalCluster
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.ray_process import ray_query
from raydap.core.events import PausedWorker
from raydap.errors import ProblemError
from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo
from raydap.tcp_sockets import TcpSocket

MACHINE_TIMEOUT_S = 10.0
CLUSTER_TIMEOUT_S = 3.0
NAMED_TIMEOUT_S = 5.0
"""Seconds for a look at the machine's processes, for each question to a dashboard, and to find the dashboard of the
cluster that is named."""


class PausedStatus(msgspec.Struct, frozen=True):
    """A worker that waits for a debugger. `name` is what it runs, "" if Ray does not say. `stuck`: nothing listens at
    its debug port, so it waits for ever; None for workers of other machines."""

    worker: str
    name: str
    pid: int
    node: str
    port: int
    stuck: bool | None


class ClusterStatus(msgspec.Struct, frozen=True):
    """A cluster. Only those of this user are asked what they run: `jobs` and `paused` are None for all others, and
    where `problem` says why there is no answer. `owner` and `started` are None for a cluster of another machine."""

    dashboard: str
    owner: str | None
    ours: bool
    started: float | None
    jobs: list[str] | None = None
    paused: list[PausedStatus] | None = None
    problem: str | None = None


class HubStatus(msgspec.Struct, frozen=True):
    """A hub. `url` is for `raydap connect`. `pid` is None for one of another machine; `forwarded` says then whether its
    port is, None if that is not known. `clients` counts connections. `debugs` are dashboards."""

    url: str
    pid: int | None
    started: float | None
    clients: int | None
    debugs: list[str]
    forwarded: bool | None = None


class SessionStatus(msgspec.Struct, frozen=True):
    """A process that speaks DAP for one editor. `parent` is the program that started it; `debugs` are the dashboards or
    hubs that it is connected to."""

    pid: int
    command: str
    parent: str
    started: float
    debugs: list[str]


class MachineStatus(msgspec.Struct, frozen=True):
    """`problem`: why hubs without a file, sessions and clusters are not known."""

    hubs: list[HubStatus]
    sessions: list[SessionStatus]
    clusters: list[ClusterStatus]
    problem: str | None = None


async def look(dashboard: str | None, environ: Mapping[str, str]) -> MachineStatus:
    """Looks at everything at once. `dashboard` names one more cluster, else the variables of Ray can.

    A cluster that does not answer is one with a problem. Never connects to a debug port, nor to a hub.
    """
    problem = None
    found: dict[str, Any] = {"clusters": [], "processes": []}
    try:
        found = await ray_query.query("clusters", {}, environ, MACHINE_TIMEOUT_S)
    except (ray_query.QueryFailed, OSError) as error:
        problem = f"The processes of this machine are not known: {error}."
    local = await asyncio.gather(
        *(dashboard_address.with_url(cluster, environ) for cluster in local_clusters.read(found["clusters"]))
    )
    clusters = list(await asyncio.gather(*(_local(cluster, environ) for cluster in local)))
    if dashboard_address.chosen(dashboard, environ)[1] not in (None, "auto"):
        clusters += await _named(dashboard, environ, [cluster.dashboard for cluster in clusters])
    sockets = tcp_sockets.read()
    hubs = connection_file.all_hubs(environ)
    places = {_place(cluster.dashboard): cluster.dashboard for cluster in clusters}
    return MachineStatus(
        hubs=_hubs(hubs, found["processes"], sockets, places),
        sessions=_sessions(found["processes"], {**{(hub.host, hub.port): hub.url for hub in hubs}, **places}),
        clusters=clusters,
        problem=problem,
    )


async def look_at_default(environ: Mapping[str, str]) -> list[ClusterStatus]:
    """The cluster whose dashboard is at Ray's default address, such as a forwarded port; none if it does not answer."""
    try:
        url = dashboard_address.default().url
    except ProblemError:
        return []
    status = await _asked(ClusterStatus(url, None, True, None), environ)
    return [status] if status.problem is None else []


async def _local(cluster: LocalCluster, environ: Mapping[str, str]) -> ClusterStatus:
    status = ClusterStatus(cluster.name, cluster.owner, cluster.ours, cluster.started)
    if not cluster.ours:
        return status
    if cluster.url is None:
        return msgspec.structs.replace(status, problem="It runs no dashboard, or does not answer.")
    return await _asked(status, environ)


async def _named(dashboard: str | None, environ: Mapping[str, str], known: list[str]) -> list[ClusterStatus]:
    """The cluster of the argument or the variables, unless it is known already."""
    try:
        url = (await wait_for(dashboard_address.resolve(dashboard, environ), NAMED_TIMEOUT_S)).url
    except (ProblemError, OSError, asyncio.TimeoutError) as error:
        name = dashboard_address.chosen(dashboard, environ)[1] or ""
        problem = str(error) or f"Ray has not answered there within {NAMED_TIMEOUT_S:g} s."
        return [ClusterStatus(name, None, True, None, problem=problem)]
    return [] if url in known else [await _asked(ClusterStatus(url, None, True, None), environ)]


async def _asked(status: ClusterStatus, environ: Mapping[str, str]) -> ClusterStatus:
    """The status with what the dashboard answers."""
    rest = Rest(status.dashboard, environ, CLUSTER_TIMEOUT_S)
    try:
        dashboard = Dashboard(rest)
        paused = await dashboard.paused()
        stuck = await _stuck(dashboard, paused)
        names: dict[Any, str] = {}
        jobs = None
        with suppress(ProblemError):
            jobs = await local_clusters.running_jobs(rest)
            names = {key: label.task for key, label in (await dashboard.labels(paused)).items()} if paused else {}
        rows = [
            PausedStatus(one.key, names.get(one.key, ""), one.pid, one.node, one.port, stuck[one.key]) for one in paused
        ]
        return msgspec.structs.replace(status, jobs=jobs, paused=rows)
    except ProblemError as error:
        return msgspec.structs.replace(status, problem=str(error.problem))
    finally:
        await rest.close()


async def _stuck(dashboard: Dashboard, paused: Iterable[PausedWorker]) -> dict[Any, bool | None]:
    """Whether each worker is stuck. A connection would tell, too, but debugpy takes one only, and dies of it."""
    stuck = _silent(paused)
    if any(stuck.values()):
        # A worker that has gone on in between does not wait any more.
        still = {worker.key for worker in await dashboard.paused()}
        stuck = {key: value and key in still for key, value in stuck.items()}
    return stuck


def _silent(paused: Iterable[PausedWorker]) -> dict[Any, bool | None]:
    sockets = tcp_sockets.read()
    return {
        worker.key: None
        if sockets is None or not tcp_sockets.is_local_address(worker.host)
        else tcp_sockets.listening(sockets, worker.host, worker.port) is None
        for worker in paused
    }


def _hubs(
    known: Iterable[ConnectionInfo],
    processes: Iterable[Mapping[str, Any]],
    sockets: Iterable[TcpSocket] | None,
    places: Mapping[tuple[str, int], str],
) -> list[HubStatus]:
    """Those with a connection file, then the others that run here, such as jobs of `raydap up`."""
    serving = {process["pid"]: process for process in processes if process["command"] == "serve"}
    hubs = []
    for hub in known:
        process = serving.pop(hub.pid, None)
        named = [hub.dashboard] if hub.dashboard is not None else []
        if hub.pid > 0:
            debugs = named if process is None else _debugs(process, places) or named
            started = None if process is None else process["started"]
            hubs.append(HubStatus(hub.url, hub.pid, started, _clients(sockets, hub.port), debugs))
        else:
            forwarded = None
            if sockets is not None and tcp_sockets.is_local_address(hub.host):
                forwarded = tcp_sockets.listening(sockets, hub.host, hub.port) is not None
            hubs.append(HubStatus(hub.url, None, None, None, named, forwarded))
    for process in serving.values():
        for host, port in process["listens"][:1]:
            url = ConnectionInfo(connection_file.reachable(host), port, False, None, 0).url
            debugs = _debugs(process, places)
            hubs.append(HubStatus(url, process["pid"], process["started"], _clients(sockets, port), debugs))
    return hubs


def _clients(sockets: Iterable[TcpSocket] | None, port: int) -> int | None:
    return None if sockets is None else sum(one.port == port and not one.listens for one in sockets)


def _sessions(processes: Iterable[Mapping[str, Any]], places: Mapping[tuple[str, int], str]) -> list[SessionStatus]:
    return [
        SessionStatus(one["pid"], one["command"], one["parent"], one["started"], _debugs(one, places))
        for one in processes
        if one["command"] != "serve"
    ]


def _debugs(process: Mapping[str, Any], places: Mapping[tuple[str, int], str]) -> list[str]:
    """The places that the process is connected to."""
    peers = {(host, port) for host, port in process["peers"]}
    return sorted({name for place, name in places.items() if place in peers})


def _place(url: str) -> tuple[str, int]:
    """The address of a dashboard; one that no socket has for what is no URL with a port."""
    with suppress(ValueError):
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or 0
    return "", 0
