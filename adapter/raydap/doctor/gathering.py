"""Gathers the facts that the checks read.

Each part has a deadline. A part that fails is missing, with the reason.
"""

import asyncio
import hashlib
import importlib.metadata
import logging
import os
import platform
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.cluster.dashboard import dashboard_address, ray_token
from raydap.cluster.dashboard.dashboard_client import Dashboard, is_own
from raydap.cluster.dashboard.ray_facts import Row
from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.cluster.survey import node_reports
from raydap.doctor import session_breakpoints
from raydap.doctor.facts import Facts, ListedWorker, SourceBreakpoint, Versions
from raydap.errors import Code, Problem, ProblemError
from raydap.hub import machine_status
from raydap.inworker.raylets import raylets
from raydap.presentation.numbers import counted
from raydap.tcp_sockets import is_local_address

log = logging.getLogger("raydap")

_CONNECT_TIMEOUT_S = 3.0

_RAYS_ACTORS = ("JobSupervisor", "ServeController", "ProxyActor")
"""Classes of Ray's own actors."""

_NO_CLUSTER = Problem(
    Code.NO_CLUSTER, "raydap found no Ray cluster on this machine; start one, or name a dashboard with --dashboard."
)

Progress = Callable[[str], None]
"""A function that shows the user, in a few words, what is being done."""


async def gather(
    dashboard: str | None,
    breakpoints: Iterable[SourceBreakpoint],
    environ: Mapping[str, str],
    ask_nodes: bool = True,
    progress: Progress = lambda _: None,
) -> Facts:
    """Return the facts about the cluster that the user means. Raises only OSError, if a process cannot be started here.

    `dashboard` is the user's argument. Without `ask_nodes` nothing is started on nodes.
    """
    facts = Facts(here=_versions(), breakpoints=tuple(breakpoints))
    progress("looking for the cluster")
    try:
        location = await dashboard_address.resolve(dashboard, environ, argument="--dashboard {}")
    except ProblemError as error:
        return _unknown(facts, error, dashboard_address.chosen(dashboard, environ)[1] or "")
    rest = location.client(environ)
    try:
        progress(f"querying the dashboard at {rest.where}")
        facts = await _ask_dashboard(replace(facts, dashboard=rest.where), Dashboard(rest))
    except ProblemError as error:
        is_absent = location.guessed and error.problem.code is Code.DASHBOARD_UNREACHABLE
        return _unknown(facts, ProblemError(_NO_CLUSTER) if is_absent else error, rest.where)
    finally:
        await rest.close()
    of_sessions = await session_breakpoints.find(facts.dashboard)
    places = {(one.path, one.line) for one in facts.breakpoints}
    others = tuple(one for one in of_sessions if (one.path, one.line) not in places)
    facts = replace(facts, breakpoints=facts.breakpoints + others)
    environ = ray_token.with_token_mode(environ) if facts.sends_token else environ
    facts = await _ask_nodes(facts, environ, ask_nodes, progress)
    progress("looking for breakpoints of Ray's old debugger, and for other debug sessions")
    facts, status = await asyncio.gather(_ask_legacy(facts, environ), machine_status.look(rest.url, environ))
    sessions = tuple(one for one in status.sessions if rest.where in one.debugs)
    return replace(facts, sessions=sessions)


def _unknown(facts: Facts, error: ProblemError, where: str) -> Facts:
    reason = "the cluster does not answer"
    missing = {"cluster": reason, "nodes": reason, "legacy": reason}
    return replace(facts, dashboard=where, problem=error.problem, missing=missing)


async def _ask_dashboard(facts: Facts, dashboard: Dashboard) -> Facts:
    """Return the facts with the answers of the dashboard. Raises ProblemError."""
    listed = await dashboard.listed()
    by_worker = await dashboard.ray_facts(listed)
    version = await dashboard.version()
    actors, jobs, nodes = await dashboard.actors(), await dashboard.jobs(), await dashboard.nodes()
    session = str(version.get("session_name") or "")
    has_serve = any(str(actor.get("class_name")).startswith("ServeReplica") for actor in actors)
    workers = [ListedWorker(one, paused, by_worker[one.key]) for one, paused in listed.items() if one.key in by_worker]
    known_jobs = {str(job.get("job_id")) for job in jobs}
    return replace(
        facts,
        sends_token=dashboard.rest.sends_token,
        ray_version=str(version.get("ray_version") or ""),
        session=session,
        gcs=await asyncio.to_thread(_gcs, session),
        nodes=nodes,
        ports=await _ray_ports(dashboard),
        local_nodes=frozenset(node_id for node_id, host in nodes.items() if is_local_address(host)),
        workers=tuple(one for one in workers if not is_own(one.facts) and not _is_rays(one, known_jobs)),
        actors=tuple(actor for actor in actors if actor.get("class_name") not in _RAYS_ACTORS),
        jobs=tuple(jobs),
        deployments=await _deployments(dashboard) if has_serve else {},
    )


def _is_rays(one: ListedWorker, jobs: Collection[str]) -> bool:
    """Return whether the worker executes no code of users.

    That is true of the actor that starts a submitted job, the actors of Ray Serve itself, and the dashboard, which is a
    driver of jobs that it does not list.
    """
    if one.worker.worker_type == "DRIVER":
        return bool(jobs) and one.facts.job not in jobs
    return one.facts.actor in _RAYS_ACTORS


async def _ask_nodes(facts: Facts, environ: Mapping[str, str], through_ray: bool, progress: Progress) -> Facts:
    """Return the facts with reports of all nodes, requested through Ray, or else of the nodes on this machine."""
    questions = {node_id: _question(facts, node_id) for node_id in facts.nodes}
    reason = "the nodes were not queried (--no-nodes)"
    if through_ray and facts.local_nodes:
        progress(f"querying {counted(len(questions), 'node')} through Ray")
        try:
            reports, unreported = await node_reports.ask_nodes(facts.session, questions, environ)
            routes = {node_id: one.route for node_id, one in reports.items() if one.route is not None}
            return _reported(replace(facts, reports=reports, unreported=unreported, routes=routes))
        except QueryFailed as failure:
            log.warning("the nodes cannot be queried: %s\n%s", failure, failure.detail)
            reason = f"raydap cannot join the cluster ({failure})"
    elif through_ray:
        reason = "the nodes cannot be queried, because none of them runs on this machine"
    here = {node_id: question for node_id, question in questions.items() if node_id in facts.local_nodes}
    reports, unreported = await node_reports.ask_here(facts.session, here)
    unreported.update({node_id: reason for node_id in facts.nodes.keys() - here.keys()})
    return _reported(replace(facts, reports=reports, unreported=unreported, routes=await _routes(facts)))


def _reported(facts: Facts) -> Facts:
    if facts.reports:
        return facts
    reason = next(iter(facts.unreported.values()), "the cluster has no nodes")
    return replace(facts, missing={**facts.missing, "nodes": reason})


def _question(facts: Facts, node_id: str) -> dict[str, Any]:
    """Return the question for a node, as node_survey.report takes it."""
    return {
        "host": facts.nodes[node_id],
        "processes": [
            {"key": one.worker.key, "pid": one.worker.pid, "port": one.worker.port}
            for one in facts.workers
            if one.worker.node_id == node_id
        ],
        "files": [
            {"path": str(one.path), "digest": hashlib.sha256(one.source).hexdigest()}
            for one in facts.breakpoints
            if one.source is not None and not one.verified
        ],
    }


async def _routes(facts: Facts) -> dict[str, str]:
    """Return why this machine does not reach each node with a paused worker, "" if it does.

    The connections go to the ports of the raylets.
    """
    wanted = {one.worker.node_id for one in facts.paused()} & facts.ports.keys()
    tried = await asyncio.gather(*(_try_to_connect(facts.nodes[one], facts.ports[one]) for one in wanted))
    return dict(zip(wanted, tried, strict=True))


async def _try_to_connect(host: str, port: int) -> str:
    try:
        _, writer = await wait_for(asyncio.open_connection(host, port), _CONNECT_TIMEOUT_S)
    except asyncio.TimeoutError:
        return f"no answer within {_CONNECT_TIMEOUT_S:g} s"
    except OSError as error:
        # The text of asyncio contains Python objects.
        return os.strerror(error.errno) if error.errno else str(error)
    writer.close()
    return ""


async def _ask_legacy(facts: Facts, environ: Mapping[str, str]) -> Facts:
    if not facts.gcs:
        reason = "no node of the cluster runs on this machine"
        return replace(facts, missing={**facts.missing, "legacy": reason})
    try:
        found = await legacy_breakpoints.find(facts.gcs, environ, facts.by_key())
    except (QueryFailed, OSError) as error:
        return replace(facts, missing={**facts.missing, "legacy": str(error)})
    return replace(facts, legacy=tuple(found))


async def _ray_ports(dashboard: Dashboard) -> dict[str, int]:
    """Return the ports of the raylets, by Ray's ids of their nodes (ray/dashboard/modules/node/node_head.py)."""
    try:
        answer = await dashboard.rest.get("/nodes", [("view", "summary")])
        raylets = [node["raylet"] for node in answer["data"]["summary"]]
        return {str(one["nodeId"]): int(one["nodeManagerPort"]) for one in raylets}
    except (ProblemError, KeyError, TypeError, ValueError, OverflowError) as error:
        log.info("the dashboard does not report the ports of nodes: %r", error)
        return {}


async def _deployments(dashboard: Dashboard) -> dict[str, Row]:
    """Return the configurations of Ray Serve's deployments (ray/serve/schema.py, ServeInstanceDetails).

    The keys are `app:deployment`, as in the class names of replicas.
    """
    try:
        answer = await dashboard.rest.get("/api/serve/applications/")
        return {
            f"{application}:{name}": dict(details["deployment_config"])
            for application, one in answer["applications"].items()
            for name, details in one["deployments"].items()
        }
    except (ProblemError, KeyError, TypeError, AttributeError, ValueError) as error:
        log.info("Ray Serve does not list its deployments: %r", error)
        return {}


def _gcs(session: str) -> str:
    """Return the address of the GCS, from the options of a raylet on this machine; "" if there is none."""
    for _, options in raylets():
        if options.get("--session-name") == session:
            return options.get("--gcs-address", "")
    return ""


def _versions() -> Versions:
    return Versions(platform.python_version(), _version("ray"), _version("debugpy"))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
