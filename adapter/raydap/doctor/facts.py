"""What is known of a cluster. `gathering.py` finds it out, and the checks read it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from raydap.cluster.dashboard.labels import Row
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.survey.node_reports import EnvironmentReport, NodeReport, ProcessReport
from raydap.core.events import PausedWorker, WorkerLabel
from raydap.errors import Problem
from raydap.hub.machine_status import SessionStatus
from raydap.protocol.types import WorkerKey

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class SourceBreakpoint:
    """A breakpoint that the user asks about, or one of a session. `path` is absolute; `source` is the text of the file,
    None if this machine has none. A session has said whether it is `verified`, and why not (`message`)."""

    path: Path
    line: int
    source: bytes | None
    verified: bool = False
    message: str = ""

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class ListedWorker:
    """A worker or driver that lives, as the dashboard lists it. `paused` counts threads that wait for a debugger."""

    worker: PausedWorker
    paused: int = 0
    label: WorkerLabel = field(default_factory=WorkerLabel)

    def __str__(self) -> str:
        name = self.label.title or self.label.task or ("driver" if self.worker.worker_type == "DRIVER" else "worker")
        return f"{name} (pid {self.worker.pid} on {self.worker.node})"


@dataclass(frozen=True, slots=True)
class Versions:
    """Of raydap's own environment; "" for a package that is not installed."""

    python: str = ""
    ray: str = ""
    debugpy: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """`missing` says why a part is not known: "cluster" (what the dashboard tells), "nodes" (`reports`), "legacy".

    `dashboard` is the URL, `problem` why it does not help. `gcs` is the address of the GCS, "" if it is not known.
    `nodes` are the addresses of all nodes, by Ray's ids, and `ports` those of their raylets; `local_nodes` are on this
    machine. `unreported` says why a node gave no report, `routes` why this machine does not reach one ("" if it does).
    `sessions` are the raydaps of this machine that debug this cluster. `deployments` are those of Ray Serve, by
    `app:deployment`: their `deployment_config` (ray/serve/schema.py, DeploymentSchema).
    """

    dashboard: str = ""
    problem: Problem | None = None
    sends_token: bool = False
    ray_version: str = ""
    session: str = ""
    gcs: str = ""
    here: Versions = field(default_factory=Versions)
    nodes: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    local_nodes: frozenset[str] = frozenset()
    workers: tuple[ListedWorker, ...] = ()
    actors: tuple[Row, ...] = ()
    jobs: tuple[Row, ...] = ()
    deployments: Mapping[str, Row] = field(default_factory=dict)
    reports: Mapping[str, NodeReport] = field(default_factory=dict)
    unreported: Mapping[str, str] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    legacy: tuple[LegacyBreakpoint, ...] = ()
    sessions: tuple[SessionStatus, ...] = ()
    breakpoints: tuple[SourceBreakpoint, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    def processes(self) -> Iterator[tuple[ListedWorker, ProcessReport]]:
        """The workers whose processes were looked at. Ray's lists do not say the job of an idle one, but its own
        environment does."""
        for one in self.workers:
            report = self.process(one)
            if report is not None:
                job = one.label.job or report.variables.get("RAY_JOB_ID", "")
                yield replace(one, label=replace(one.label, job=job)), report

    def process(self, one: ListedWorker) -> ProcessReport | None:
        node = self.reports.get(one.worker.node_id)
        report = None if node is None else node.processes.get(one.worker.key)
        return report if report is not None and report.visible else None

    def environment(self, one: ListedWorker, report: ProcessReport) -> EnvironmentReport | None:
        """The Python of a process, if that has answered."""
        return _answering(self.reports[one.worker.node_id].environments.get(report.python))

    def common_environments(self) -> Iterator[tuple[str, EnvironmentReport]]:
        """The Python of workers that have no own one, for each node where it has answered."""
        for node_id, report in self.reports.items():
            found = _answering(report.environments.get(report.python))
            if found is not None:
                yield self.node(node_id), found

    def node(self, node_id: str) -> str:
        """The name of a node for users."""
        return self.nodes.get(node_id) or node_id[:8]

    def paused(self) -> list[ListedWorker]:
        return [one for one in self.workers if one.paused]

    def by_key(self) -> dict[WorkerKey, PausedWorker]:
        return {one.worker.key: one.worker for one in self.workers}


def _answering(found: EnvironmentReport | None) -> EnvironmentReport | None:
    return found if found is not None and not found.problem else None


def names(things: Iterable[object]) -> str:
    """The first few of them: `a, b and 3 more`. Equal ones are counted."""
    counted = [name if times == 1 else f"{name} ({times} times)" for name, times in Counter(map(str, things)).items()]
    if len(counted) > _MOST_NAMES + 1:
        counted = [*counted[:_MOST_NAMES], f"{len(counted) - _MOST_NAMES} more"]
    return " and ".join([", ".join(counted[:-1]), counted[-1]] if len(counted) > 1 else counted)


def count(number: int, what: str) -> str:
    """`1 worker`, `2 workers`, `2 processes`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}{'es' if what.endswith('s') else 's'}"
