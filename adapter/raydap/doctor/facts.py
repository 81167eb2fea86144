"""The facts about a cluster, which `gathering.py` collects and the checks read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from raydap.cluster.dashboard.ray_facts import Row
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.survey.node_reports import EnvironmentReport, NodeReport, ProcessReport
from raydap.core.model.ranks import Ranks
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.translate import names as worker_names
from raydap.errors import Problem
from raydap.hub.machine_status import SessionStatus
from raydap.protocol.types import WorkerKey

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class SourceBreakpoint:
    """A breakpoint from the command line (`--break`) or of a session."""

    path: Path
    """The absolute path of its file."""
    line: int
    """The line, counted from 1."""
    source: bytes | None
    """The content of the file, None if this machine does not have it."""
    verified: bool = False
    """Whether the session reports that it is set."""
    message: str = ""
    """The session's message about it, such as why it is not verified."""

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class ListedWorker:
    """A worker or driver that is alive, as the dashboard lists it."""

    worker: ProcessInfo
    """The process, which need not be paused."""
    paused: int = 0
    """The number of its threads that wait for a debugger."""
    facts: RayFacts = field(default_factory=RayFacts)
    """The facts that Ray reports; empty facts if the worker runs nothing."""

    def __str__(self) -> str:
        name = worker_names.task(self.worker, self.facts, Ranks()).label
        return f"{name} (pid {self.worker.pid} on {self.worker.node})"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions in raydap's own environment."""

    python: str = ""
    """The version of the Python that runs raydap."""
    ray: str = ""
    """The version of Ray; "" if it is not installed."""
    debugpy: str = ""
    """The version of debugpy; "" if it is not installed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about one cluster. Nodes are named by Ray's hex ids."""

    dashboard: str = ""
    """The dashboard's URL, or what the user wrote if no dashboard was found."""
    problem: Problem | None = None
    """Why the dashboard gave no answer."""
    sends_token: bool = False
    """Whether raydap sends the dashboard a token."""
    ray_version: str = ""
    """The cluster's version of Ray, "" if the dashboard does not report it."""
    session: str = ""
    """The name of the cluster's Ray session."""
    gcs: str = ""
    """The address of the GCS, "" if it is not known."""
    here: Versions = field(default_factory=Versions)
    """The versions in raydap's own environment, to compare with the versions on the nodes."""
    nodes: Mapping[str, str] = field(default_factory=dict)
    """The addresses of all nodes."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """The ports of the nodes' raylets."""
    local_nodes: frozenset[str] = frozenset()
    """The nodes on this machine."""
    workers: tuple[ListedWorker, ...] = ()
    """All workers and drivers but Ray's and raydap's own."""
    actors: tuple[Row, ...] = ()
    """The rows of all actors but Ray's own."""
    jobs: tuple[Row, ...] = ()
    """The rows of all jobs, also of jobs that have ended."""
    deployments: Mapping[str, Row] = field(default_factory=dict)
    """The `deployment_config` of each deployment of Ray Serve, by `app:deployment` (ray/serve/schema.py,
    DeploymentSchema)."""
    reports: Mapping[str, NodeReport] = field(default_factory=dict)
    """The reports of nodes about their processes and environments."""
    unreported: Mapping[str, str] = field(default_factory=dict)
    """The reason for each node that gave no report."""
    routes: Mapping[str, str] = field(default_factory=dict)
    """For each node that was tried: why this machine does not reach it, "" if it does."""
    legacy: tuple[LegacyBreakpoint, ...] = ()
    """The breakpoints of Ray's old debugger that wait."""
    sessions: tuple[SessionStatus, ...] = ()
    """The sessions on this machine that debug this cluster."""
    breakpoints: tuple[SourceBreakpoint, ...] = ()
    """The breakpoints to check, first those from the command line."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The reason for each unknown part: "cluster" (the dashboard's answers), "nodes" (`reports`) or "legacy"."""

    def processes(self) -> Iterator[tuple[ListedWorker, ProcessReport]]:
        """Yield the workers whose processes were inspected, with the reports on them.

        Ray's lists do not contain the job of an idle worker, so it is taken from the worker's environment.
        """
        for one in self.workers:
            report = self.process(one)
            if report is not None:
                job = one.facts.job or report.variables.get("RAY_JOB_ID", "")
                yield replace(one, facts=replace(one.facts, job=job)), report

    def process(self, one: ListedWorker) -> ProcessReport | None:
        """Return the report on a worker's process, None if the process was not inspected."""
        node = self.reports.get(one.worker.node_id)
        report = None if node is None else node.processes.get(one.worker.key)
        return report if report is not None and report.visible else None

    def environment(self, one: ListedWorker, report: ProcessReport) -> EnvironmentReport | None:
        """Return what the Python of a process reported, None if it did not answer."""
        return _answering(self.reports[one.worker.node_id].environments.get(report.python))

    def common_environments(self) -> Iterator[tuple[str, EnvironmentReport]]:
        """Yield each node's name, and what the common Python of its workers reported, if that answered."""
        for node_id, report in self.reports.items():
            found = _answering(report.environments.get(report.python))
            if found is not None:
                yield self.node(node_id), found

    def node(self, node_id: str) -> str:
        """Return the name of a node for users."""
        return self.nodes.get(node_id) or node_id[:8]

    def paused(self) -> list[ListedWorker]:
        """Return the workers that wait for a debugger."""
        return [one for one in self.workers if one.paused]

    def by_key(self) -> dict[WorkerKey, ProcessInfo]:
        """Return all workers by their keys."""
        return {one.worker.key: one.worker for one in self.workers}


def _answering(found: EnvironmentReport | None) -> EnvironmentReport | None:
    return found if found is not None and not found.problem else None


def names(things: Iterable[object]) -> str:
    """Return the first few names as text, such as `a, b and 3 more`. Equal names appear once, with their number."""
    counted = [name if times == 1 else f"{name} ({times} times)" for name, times in Counter(map(str, things)).items()]
    if len(counted) > _MOST_NAMES + 1:
        counted = [*counted[:_MOST_NAMES], f"{len(counted) - _MOST_NAMES} more"]
    return " and ".join([", ".join(counted[:-1]), counted[-1]] if len(counted) > 1 else counted)
