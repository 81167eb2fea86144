"""The status of a machine, composed of the reports of its parts."""

import asyncio
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.dashboard import dashboard_address
from raydap.cluster.ray_process import ray_query
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.errors import Code, Problem, ProblemError
from raydap.hub import connection_file, machine_status
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, SessionStatus
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the answer of clusters_here.all_here about this machine, for the test to fill in."""
    found: dict[str, Any] = {"clusters": [], "processes": []}

    async def query(question: Mapping[str, Any], *_: object) -> Any:
        if "failure" in found:
            raise QueryFailed(found["failure"])
        return found

    monkeypatch.setattr(ray_query, "query", query)
    return found


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}


def cluster(url: str, ours: bool = True) -> dict[str, Any]:
    return {"address": "10.0.0.7:6379", "url": url, "owner": "me" if ours else "alice", "ours": ours, "started": 1.0}


def process(command: str, pid: int = 7, listens: Any = (), peers: Any = ()) -> dict[str, Any]:
    return {"pid": pid, "command": command, "parent": "sh", "started": 2.0, "listens": listens, "peers": peers}


def look(environ: dict[str, str], dashboard: str | None = None) -> MachineStatus:
    return asyncio.run(machine_status.look(dashboard, environ))


def test_a_worker_of_this_machine_whose_debug_port_is_closed_is_stuck(
    machine: dict[str, Any], environ: dict[str, str]
) -> None:
    async def script() -> list[Any]:
        fake = FakeDashboard()
        async with fake.running():
            with socket.create_server(("127.0.0.1", 0)) as alive, socket.socket() as dead:
                dead.bind(("127.0.0.1", 0))
                rows = [
                    {**WORKER, "worker_id": name, "ip": host, "debugger_port": port}
                    for name, host, port in (
                        ("alive", *alive.getsockname()),
                        ("dead", *dead.getsockname()),
                        ("far", "192.0.2.1", 1),
                    )
                ]
                fake.answers["/api/v0/workers"] = listing(rows)
                fake.answers["/api/v0/tasks"] = listing([{"worker_id": "dead", "func_or_class_name": "collect"}])
                machine["clusters"] = [cluster(fake.url)]
                (status,) = (await machine_status.look(None, environ)).clusters
                # raydap has not connected to it.
                alive.setblocking(False)
                with pytest.raises(BlockingIOError):
                    alive.accept()
        return [(worker.worker, worker.name, worker.stuck) for worker in status.paused or ()]

    known = Path("/proc/net/tcp").exists()
    assert asyncio.run(script()) == [
        ("alive", "", False if known else None),
        ("dead", "collect", True if known else None),
        ("far", "", None),
    ]


def test_a_dashboard_that_does_not_answer_is_a_line(
    machine: dict[str, Any], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same is true of a dashboard that accepts connections and never answers."""
    monkeypatch.setattr(machine_status, "CLUSTER_TIMEOUT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        for one in (silent, closed):
            machine["clusters"].append(cluster(f"http://127.0.0.1:{one.getsockname()[1]}"))
        clusters = look(environ).clusters
    assert [status.paused for status in clusters] == [None, None]
    first, second = (str(status.problem) for status in clusters)
    assert "did not answer within 0.1 s" in first
    assert "cannot be reached (Connection refused)" in second


def test_clusters_of_others_are_listed_and_not_asked(machine: dict[str, Any], environ: dict[str, str]) -> None:
    async def script() -> tuple[list[ClusterStatus], int]:
        fake = FakeDashboard()
        async with fake.running():
            machine["clusters"] = [{**cluster(fake.url, ours=False)}]
            return (await machine_status.look(None, environ)).clusters, len(fake.requests)

    (status,), requests = asyncio.run(script())
    assert (status.owner, status.ours, status.paused, status.problem) == ("alice", False, None, None)
    assert requests == 0


def test_a_cluster_elsewhere_is_shown_if_it_is_named(machine: dict[str, Any], environ: dict[str, str]) -> None:
    async def script() -> None:
        fake = FakeDashboard()
        async with fake.running():
            for dashboard, variables in ((fake.url, {}), (None, {"RAY_ADDRESS": fake.url})):
                status = await machine_status.look(dashboard, {**environ, **variables})
                assert status.clusters == [ClusterStatus(fake.url, None, True, None, [], [])]
            machine["clusters"] = [cluster(fake.url)]
            status = await machine_status.look(fake.url, environ)
            assert [one.owner for one in status.clusters] == ["me"], "it is known already"

    asyncio.run(script())
    machine["clusters"] = []
    (status,) = look(environ, "nonsense").clusters
    assert status.dashboard == "nonsense"
    assert "[raydap 1004]" in str(status.problem)


def test_hubs_are_known_by_their_files_and_their_processes(machine: dict[str, Any], environ: dict[str, str]) -> None:
    url = "http://127.0.0.1:8265"
    machine["clusters"] = [cluster(url, ours=False)]
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        port = listener.getsockname()[1]
        for info in (
            ConnectionInfo("127.0.0.1", port, True, "t", os.getpid()),
            ConnectionInfo("192.0.2.1", 4711, False, "t", 0, url),
        ):
            connection_file.write(info, environ=environ)
        machine["processes"] = [
            process("serve", os.getpid(), [["127.0.0.1", port]], [["127.0.0.1", 8265]]),
            process("serve", 8, [["0.0.0.0", 4712]]),
            process("connect", 9, peers=[["127.0.0.1", port]]),
            process("adapter", 10, peers=[["127.0.0.1", 8265], ["10.0.0.7", 40001]]),
        ]
        found = look(environ)
    known = Path("/proc/net/tcp").exists()
    assert sorted(found.hubs, key=lambda hub: hub.url) == [
        HubStatus("ws://127.0.0.1:4712/dap", 8, 2.0, 0 if known else None, []),
        HubStatus("ws://192.0.2.1:4711/dap", None, None, None, [url]),
        HubStatus(f"wss://127.0.0.1:{port}/dap", os.getpid(), 2.0, 1 if known else None, [url]),
    ]
    assert found.sessions == [
        SessionStatus(9, "connect", "sh", 2.0, [f"wss://127.0.0.1:{port}/dap"]),
        SessionStatus(10, "adapter", "sh", 2.0, [url]),
    ]


def test_failures_are_reported_beside_the_known_facts(machine: dict[str, Any], environ: dict[str, str]) -> None:
    connection_file.write(ConnectionInfo("192.0.2.1", 4711, False, "t", 0), environ=environ)
    machine["failure"] = "no answer within 10 s"
    found = look(environ)
    assert found.problem == "The processes of this machine cannot be listed: no answer within 10 s."
    assert [hub.url for hub in found.hubs] == ["ws://192.0.2.1:4711/dap"]


def test_a_dashboard_at_rays_default_address_is_shown_if_it_answers(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script() -> tuple[str, list[ClusterStatus], list[ClusterStatus]]:
        fake = FakeDashboard()
        async with fake.running():
            location = dashboard_address.DashboardLocation(fake.url, guessed=True)
            monkeypatch.setattr(dashboard_address, "default", lambda: location)
            found = await machine_status.look_at_default(environ)
        return fake.url, found, await machine_status.look_at_default(environ)

    url, found, gone = asyncio.run(script())
    assert [(cluster.dashboard, cluster.problem) for cluster in found] == [(url, None)]
    assert gone == []

    def refuse() -> dashboard_address.DashboardLocation:
        raise ProblemError(Problem(Code.CLUSTER_NOT_NAMED, "What listens there belongs to alice."))

    monkeypatch.setattr(dashboard_address, "default", refuse)
    assert asyncio.run(machine_status.look_at_default(environ)) == []


def test_a_named_cluster_that_does_not_answer_is_not_waited_for(
    machine: dict[str, Any], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(dashboard_address, "resolve", hang)
    monkeypatch.setattr(machine_status, "NAMED_TIMEOUT_S", 0.01)
    (found,) = look(environ, "10.0.0.9:6379").clusters
    assert (found.dashboard, found.problem) == ("10.0.0.9:6379", "Ray did not answer at this address within 0.01 s.")
