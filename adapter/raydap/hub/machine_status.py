"""The status of this machine for this user: hubs, sessions, clusters, and paused workers."""

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
from raydap.core.model.ranks import Ranks
from raydap.core.process_info import ProcessInfo
from raydap.core.translate import names
from raydap.errors import ProblemError
from raydap.hub import connection_file
from raydap.hub.connection_file import ConnectionInfo
from raydap.tcp_sockets import TcpSocket

MACHINE_TIMEOUT_S = 10.0
"""Seconds to list the raydaps and clusters of this machine."""

CLUSTER_TIMEOUT_S = 3.0
"""Seconds for each request to a dashboard."""

NAMED_TIMEOUT_S = 5.0
"""Seconds to find the dashboard of the cluster that the user names."""


class PausedStatus(msgspec.Struct, frozen=True):
    """A worker that waits for a debugger."""

    worker: str
    """The worker's key: its hex id in Ray."""
    name: str
    """The function or method that the worker runs, "" if Ray does not report it."""
    pid: int
    """The worker's process id on its node; 0 if Ray does not report it."""
    node: str
    """The address of its node."""
    port: int
    """Its debug port."""
    stuck: bool | None
    """Whether nothing listens at the debug port, so that the worker waits forever. None if that cannot be seen here, as
    for workers of other machines."""


class ClusterStatus(msgspec.Struct, frozen=True):
    """A cluster. raydap sends requests only to clusters of this user."""

    dashboard: str
    """The dashboard's URL, or else the address of the GCS or what the user wrote."""
    owner: str | None
    """The name of the user who started it, None for a cluster of another machine."""
    ours: bool
    """Whether it counts as a cluster of this user. A cluster that the user names does."""
    started: float | None
    """Seconds since 1970, None for a cluster of another machine."""
    jobs: list[str] | None = None
    """The program or submission id of each running job, None if the dashboard did not report them."""
    paused: list[PausedStatus] | None = None
    """The paused workers, None if the dashboard did not report them."""
    problem: str | None = None
    """Why the dashboard gave no answer."""


class HubStatus(msgspec.Struct, frozen=True):
    """A hub of this user."""

    url: str
    """The argument for `raydap connect`."""
    pid: int | None
    """None for a hub on another machine."""
    started: float | None
    """Seconds since 1970, None if that is not known."""
    clients: int | None
    """The number of connections to the hub, None if that is not known."""
    debugs: list[str]
    """The dashboards of the clusters that it debugs."""
    forwarded: bool | None = None
    """For a hub on another machine: whether its port is forwarded, None if that is not known."""


class SessionStatus(msgspec.Struct, frozen=True):
    """A process that speaks DAP for one editor."""

    pid: int
    """The process id on this machine."""
    command: str
    """The command of raydap that it executes, such as `adapter` or `connect`."""
    parent: str
    """The program that started it."""
    started: float
    """Seconds since 1970."""
    debugs: list[str]
    """The dashboards and hubs that it is connected to."""


class MachineStatus(msgspec.Struct, frozen=True):
    """What `raydap status` shows."""

    hubs: list[HubStatus]
    """The hubs that run here or have a connection file."""
    sessions: list[SessionStatus]
    """The processes of this machine that speak DAP for an editor."""
    clusters: list[ClusterStatus]
    """The clusters with a node on this machine, and the cluster that the user has named."""
    problem: str | None = None
    """Why the processes of this machine cannot be listed. Sessions, local clusters, and hubs without a connection file
    are missing then."""


async def look(dashboard: str | None, environ: Mapping[str, str]) -> MachineStatus:
    """Return the hubs, sessions and clusters of this machine.

    `dashboard` names one more cluster; without it, Ray's environment variables can. A cluster that does not answer is
    listed with its problem. This never connects to a debug port or a hub.
    """
    problem = None
    found: dict[str, Any] = {"clusters": [], "processes": []}
    try:
        found = await ray_query.query("clusters", {}, environ, MACHINE_TIMEOUT_S)
    except (ray_query.QueryFailed, OSError) as error:
        problem = f"The processes of this machine cannot be listed: {error}."
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
    """Return the cluster whose dashboard is at Ray's default address, [] if none answers there.

    The port of a cluster elsewhere may be forwarded to that address.
    """
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
        return msgspec.structs.replace(status, problem="It has no dashboard, or the dashboard does not answer.")
    return await _asked(status, environ)


async def _named(dashboard: str | None, environ: Mapping[str, str], known: list[str]) -> list[ClusterStatus]:
    """Return the cluster that the argument or the variables name, [] if its dashboard is in `known`."""
    try:
        url = (await wait_for(dashboard_address.resolve(dashboard, environ), NAMED_TIMEOUT_S)).url
    except (ProblemError, OSError, asyncio.TimeoutError) as error:
        name = dashboard_address.chosen(dashboard, environ)[1] or ""
        problem = str(error) or f"Ray did not answer at this address within {NAMED_TIMEOUT_S:g} s."
        return [ClusterStatus(name, None, True, None, problem=problem)]
    return [] if url in known else [await _asked(ClusterStatus(url, None, True, None), environ)]


async def _asked(status: ClusterStatus, environ: Mapping[str, str]) -> ClusterStatus:
    """Return the status with the answers of the dashboard."""
    rest = Rest(status.dashboard, environ, CLUSTER_TIMEOUT_S)
    try:
        dashboard = Dashboard(rest)
        paused = await dashboard.paused()
        stuck = await _stuck(dashboard, paused)
        labels: dict[Any, str] = {}
        jobs = None
        with suppress(ProblemError):
            jobs = await local_clusters.running_jobs(rest)
            facts = await dashboard.ray_facts(paused) if paused else {}
            labels = {
                each.key: names.task(each, facts[each.key], Ranks()).label
                for each in paused
                if each.key in facts and facts[each.key].task
            }
        rows = [
            PausedStatus(one.key, labels.get(one.key, ""), one.pid, one.node, one.port, stuck[one.key])
            for one in paused
        ]
        return msgspec.structs.replace(status, jobs=jobs, paused=rows)
    except ProblemError as error:
        return msgspec.structs.replace(status, problem=str(error.problem))
    finally:
        await rest.close()


async def _stuck(dashboard: Dashboard, paused: Iterable[ProcessInfo]) -> dict[Any, bool | None]:
    """Return whether each worker is stuck, according to the list of sockets.

    Never connect to check: debugpy accepts one client, and dies when that client disconnects.
    """
    stuck = _silent(paused)
    if any(stuck.values()):
        # A worker that has resumed in between is not stuck.
        still = {worker.key for worker in await dashboard.paused()}
        stuck = {key: value and key in still for key, value in stuck.items()}
    return stuck


def _silent(paused: Iterable[ProcessInfo]) -> dict[Any, bool | None]:
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
    """Return the hubs with a connection file, then the others that run here, such as jobs of `raydap up`."""
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
    """Return the names of the places that the process is connected to."""
    peers = {(host, port) for host, port in process["peers"]}
    return sorted({name for place, name in places.items() if place in peers})


def _place(url: str) -> tuple[str, int]:
    """Return host and port of a URL; if the URL is malformed or lacks them, an address that no socket has."""
    with suppress(ValueError):
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or 0
    return "", 0
