"""The facts about a cluster whose dashboard answers, and the missing facts about other clusters."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.dashboard import dashboard_address
from raydap.cluster.dashboard.dashboard_address import DashboardLocation
from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.cluster.survey import node_reports
from raydap.doctor import gathering, session_breakpoints
from raydap.doctor.facts import Facts, SourceBreakpoint
from raydap.errors import Code
from raydap.hub import machine_status
from raydap.hub.machine_status import MachineStatus, SessionStatus
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing, text
from unit.doctor.made_up import NODE

LOCAL = {**WORKER, "ip": "127.0.0.1"}

OWN = [
    {**LOCAL, "worker_id": "own", "debugger_port": None, "num_paused_threads": None},
    {**LOCAL, "worker_id": "03000000ffff", "worker_type": "DRIVER", "debugger_port": None},
]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what nodes answer, which a test may change. The questions to them are added to it."""
    known: dict[str, Any] = {"reports": {WORKER["node_id"]: NODE}, "sessions": []}

    async def ask_nodes(session: str, questions: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
        known.update(session=session, questions=questions, environ=environ)
        if "failure" in known:
            raise QueryFailed(known["failure"])
        return known["reports"], {}

    async def ask_here(session: str, questions: Mapping[str, Any]) -> Any:
        known.update(here=questions)
        return dict.fromkeys(questions, NODE), {}

    async def find(*_: object) -> Any:
        return []

    async def look(*_: object) -> MachineStatus:
        return MachineStatus([], known["sessions"], [])

    async def breakpoints(_: str) -> Any:
        return known.get("breakpoints", ())

    monkeypatch.setattr(session_breakpoints, "find", breakpoints)
    monkeypatch.setattr(node_reports, "ask_nodes", ask_nodes)
    monkeypatch.setattr(node_reports, "ask_here", ask_here)
    monkeypatch.setattr(legacy_breakpoints, "find", find)
    monkeypatch.setattr(machine_status, "look", look)
    return known


def gather(part: Callable[[FakeDashboard], Awaitable[None] | None] = lambda _: None, **options: Any) -> Facts:
    async def script() -> Facts:
        fake = FakeDashboard()
        fake.answers["/api/v0/nodes"] = listing([{"node_id": WORKER["node_id"], "node_ip": "127.0.0.1"}])
        fake.answers["/api/v0/workers"] = listing([LOCAL, *OWN])
        own = {"worker_id": "own", "actor_id": "a1", "func_or_class_name": "RaydapSurvey.report"}
        fake.answers["/api/v0/tasks"] = listing([own])
        fake.answers["/api/v0/actors"] = listing([{"actor_id": "a1", "class_name": "RaydapSurvey"}])
        fake.answers["/api/jobs/"] = [
            {
                "job_id": "03000000",
                "entrypoint": "python /opt/raydap/cluster/ray_process/raydap_process.py survey",
                "status": "RUNNING",
            }
        ]
        fake.answers["/api/version"] = {"ray_version": "2.60.0", "session_name": "session_1"}
        part(fake)
        async with fake.running():
            breakpoints = options.pop("breakpoints", ())
            return await gathering.gather(fake.url, breakpoints, {"HOME": "/nowhere"}, **options)

    return asyncio.run(script())


def test_workers_are_asked_about_on_their_nodes_without_raydaps_own(asked: dict[str, Any]) -> None:
    facts = gather()
    assert [(one.worker.key, one.worker.port, one.paused) for one in facts.workers] == [(WORKER["worker_id"], 40001, 1)]
    assert asked["session"] == "session_1"
    (question,) = asked["questions"].values()
    assert question["host"] == "127.0.0.1"
    assert question["processes"] == [{"key": WORKER["worker_id"], "pid": 4321, "port": 40001}]
    assert facts.routes == {WORKER["node_id"]: ""}
    assert facts.ray_version == "2.60.0"
    assert facts.missing.keys() == {"legacy"}


def test_rays_own_processes_are_left_out() -> None:
    def with_rays_own(fake: FakeDashboard) -> None:
        supervisor = {**LOCAL, "worker_id": "supervisor", "debugger_port": None}
        fake.answers["/api/v0/workers"] = listing([LOCAL, supervisor, OWN[1]])
        fake.answers["/api/v0/tasks"] = listing(
            [{"worker_id": "supervisor", "actor_id": "a1", "func_or_class_name": "JobSupervisor.run"}]
        )
        fake.answers["/api/jobs/"] = [{"job_id": "01000000", "entrypoint": "python train.py", "status": "RUNNING"}]

    assert [one.worker.key for one in gather(with_rays_own).workers] == [WORKER["worker_id"]]


def test_without_nodes_only_this_machine_is_looked_at(asked: dict[str, Any]) -> None:
    facts = gather(ask_nodes=False)
    assert "questions" not in asked
    assert asked["here"].keys() == {WORKER["node_id"]}
    assert facts.reports


def test_a_cluster_that_cannot_be_joined_leaves_this_machine(asked: dict[str, Any]) -> None:
    asked["failure"] = "Version mismatch"

    def two_nodes(fake: FakeDashboard) -> None:
        far = {"node_id": "ef" * 28, "node_ip": "192.0.2.1"}
        fake.answers["/api/v0/nodes"] = listing([{"node_id": WORKER["node_id"], "node_ip": "127.0.0.1"}, far])

    facts = gather(two_nodes)
    assert facts.reports.keys() == {WORKER["node_id"]}
    assert facts.unreported == {"ef" * 28: "raydap cannot join the cluster (Version mismatch)"}


def test_without_a_node_here_a_node_is_tried_at_rays_own_port(asked: dict[str, Any]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))

        def far(fake: FakeDashboard) -> None:
            fake.answers["/api/v0/nodes"] = listing([{"node_id": WORKER["node_id"], "node_ip": "localhost"}])
            raylet = {"nodeId": WORKER["node_id"], "nodeManagerPort": closed.getsockname()[1]}
            fake.answers["/nodes"] = {"data": {"summary": [{"raylet": raylet}]}}

        facts = gather(far)
    assert facts.routes == {WORKER["node_id"]: "Connection refused"}
    assert "none of them runs on this machine" in facts.missing["nodes"]
    assert "questions" not in asked


def test_sessions_of_other_clusters_are_left_out(asked: dict[str, Any]) -> None:
    asked["sessions"] = [SessionStatus(1, "adapter", "", 0.0, ["http://other:8265"])]
    assert gather().sessions == ()


def test_breakpoints_of_sessions_are_asked_about_too(asked: dict[str, Any]) -> None:
    path = Path("/p.py")
    asked["breakpoints"] = (
        SourceBreakpoint(path, 1, b"x", False, "Not set."),
        SourceBreakpoint(path, 2, b"x", True),
        SourceBreakpoint(path, 3, None),
    )
    mine = SourceBreakpoint(path, 1, b"x")
    facts = gather(breakpoints=[mine])
    assert [one.line for one in facts.breakpoints] == [1, 2, 3]
    assert facts.breakpoints[0] == mine
    (question,) = asked["questions"].values()
    assert [one["path"] for one in question["files"]] == ["/p.py"]


def test_serve_says_the_limits_of_its_deployments() -> None:
    def with_serve(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/actors"] = listing([{"class_name": "ServeReplica:app:Model", "actor_id": "a"}])
        config = {"deployment_config": {"health_check_timeout_s": 20.0}}
        fake.answers["/api/serve/applications/"] = {"applications": {"app": {"deployments": {"Model": config}}}}

    assert gather(with_serve).deployments == {"app:Model": {"health_check_timeout_s": 20.0}}

    def sick(fake: FakeDashboard) -> None:
        with_serve(fake)
        fake.answers["/api/serve/applications/"] = [1]

    assert gather(sick).deployments == {}


def test_a_dashboard_that_is_none_leaves_everything_missing() -> None:
    def garbage(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/workers"] = text(200, "<html>")

    facts = gather(garbage)
    assert facts.problem is not None
    assert facts.problem.code is Code.DASHBOARD_GARBAGE
    assert facts.missing.keys() == {"cluster", "nodes", "legacy"}
    facts = asyncio.run(gathering.gather("nonsense", (), {}))
    assert facts.problem is not None
    assert (facts.problem.code, facts.dashboard) == (Code.BAD_ARGUMENT, "nonsense")


def test_a_guessed_dashboard_that_is_not_there_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: object, **__: object) -> DashboardLocation:
        return DashboardLocation("http://127.0.0.1:1", guessed=True)

    monkeypatch.setattr(dashboard_address, "resolve", resolve)
    facts = asyncio.run(gathering.gather(None, (), {}))
    assert facts.problem is not None
    assert facts.problem.code is Code.NO_CLUSTER
