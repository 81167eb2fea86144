"""Made-up facts about a healthy cluster of one node, and functions that change them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

import msgspec

from raydap.cluster.survey.node_reports import DebugPortPeer, EnvironmentReport, NodeReport, PortReport, ProcessReport
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.doctor.facts import Facts, ListedWorker, Versions
from raydap.doctor.finding import Finding
from raydap.protocol.types import WorkerKey

PYTHON = "/opt/python"

NODE = NodeReport(
    user="me",
    machine="x86_64",
    gdb="13.1",
    has_amx=False,
    may_trace=False,
    ptrace_scope="0",
    gdb_obstacle="",
    python=PYTHON,
    external_debugger=False,
    variables={},
    environments={PYTHON: EnvironmentReport("3.12.1", "2.60.0", "1.8.22")},
    processes={},
    route="",
)

HEALTHY = Facts(
    dashboard="http://head:8265",
    ray_version="2.60.0",
    session="session_1",
    gcs="10.0.0.1:6379",
    here=Versions("3.12.1", "2.60.0", "1.8.22"),
    nodes={"n1": "10.0.0.1"},
    local_nodes=frozenset({"n1"}),
    reports={"n1": NODE},
    routes={"n1": ""},
)

Member = tuple[ListedWorker, ProcessReport]


def member(
    key: str,
    port: int = 0,
    paused: int = 0,
    node_id: str = "n1",
    worker_type: Literal["WORKER", "DRIVER"] = "WORKER",
    label: RayFacts | None = None,
    peers: tuple[DebugPortPeer, ...] = (),
    listens: bool = True,
    **report: Any,
) -> Member:
    """Return a worker and its node's report about it. The pid of `w7` is 7. `peers` are connected to its debug port."""
    pid = int(key[1:])
    host = f"10.0.0.{node_id[1:]}"
    worker = ProcessInfo(WorkerKey(key), host, port, pid, host, node_id, worker_type)
    label = label or RayFacts(task=key, job="01")
    known = {"visible": True, "python": PYTHON, "port": PortReport(listens, peers) if port else None, **report}
    return ListedWorker(worker, paused, label), ProcessReport(**known)


def with_members(*members: Member, facts: Facts = HEALTHY, **changes: Any) -> Facts:
    """Return the facts with these workers on their nodes. `changes` are other fields."""
    reports = dict(facts.reports)
    for one, process in members:
        node = reports.get(one.worker.node_id, NODE)
        processes = {**node.processes, one.worker.key: process}
        reports[one.worker.node_id] = msgspec.structs.replace(node, processes=processes)
    return replace(facts, workers=tuple(one for one, _ in members), reports=reports, **changes)


def with_node(facts: Facts = HEALTHY, node_id: str = "n1", **changes: Any) -> Facts:
    """Return the facts with a changed report of this node."""
    report = msgspec.structs.replace(facts.reports.get(node_id, NODE), **changes)
    nodes = {**facts.nodes, node_id: f"10.0.0.{node_id[1:]}"}
    return replace(facts, nodes=nodes, reports={**facts.reports, node_id: report})


def faults(check: Callable[[Facts], Iterable[Finding]], facts: Facts) -> list[Finding]:
    """Return the findings of a check except those that are in order."""
    return [finding for finding in check(facts) if finding.severity != "ok"]
