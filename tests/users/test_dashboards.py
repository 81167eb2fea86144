"""Another program listens where raydap looks for Ray's dashboard. Any user of the machine can start one."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from raydap import tcp_sockets
from raydap.cluster.dashboard import dashboard_address, local_clusters
from raydap.cluster.dashboard.dashboard_address import DEFAULT_URL, DashboardLocation
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.jobs.prepared_search import PreparedSearch
from raydap.doctor import gathering
from raydap.errors import Code, ProblemError
from raydap.tcp_sockets import TcpSocket
from support.other_users import ATTACKER
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing, text

WITH_TOKEN = {"RAY_AUTH_TOKEN": "a-secret-of-the-victim", "RAY_AUTH_MODE": "token", "HOME": "/nonexistent"}

ROWS: dict[str, dict[str, Any]] = {
    "workers": {**WORKER, "exit_type": "SYSTEM_ERROR", "exit_detail": "x"},
    "nodes": {"node_id": WORKER["node_id"], "node_ip": WORKER["ip"], "resources_total": {"CPU": 1}},
    "tasks": {
        "task_id": "t",
        "worker_id": WORKER["worker_id"],
        "actor_id": "a",
        "job_id": "01000000",
        "name": "n",
        "state": "RUNNING",
        "func_or_class_name": "f.g",
        "start_time_ms": 1,
        "node_id": WORKER["node_id"],
    },
    "actors": {
        "actor_id": "a",
        "node_id": WORKER["node_id"],
        "pid": 4321,
        "job_id": "01000000",
        "class_name": "C",
        "name": "n",
        "repr_name": "r",
        "state": "ALIVE",
        "serialized_runtime_env": "{}",
    },
    "placement_groups": {"placement_group_id": "p", "bundles": []},
}

JOB = {
    "job_id": "01000000",
    "submission_id": "s",
    "status": "RUNNING",
    "entrypoint": "python a.py",
    "start_time": 1,
    "driver_info": {"pid": "1", "node_ip_address": "10.0.0.1"},
    "runtime_env": {},
}

BAD: tuple[Any, ...] = (None, True, -1, 10**30, float("inf"), "x", "\x1b[2J\ud800", [], [1], {}, {"a": 1}, [[]])

Ask = Callable[[Dashboard], Awaitable[object]]


async def look_for_prepared(dashboard: Dashboard) -> None:
    search = PreparedSearch(dashboard.jobs, dashboard.actors, lambda event: None)
    search.look_at_jobs(await dashboard.jobs())
    await search.poll()


QUESTIONS: tuple[Ask, ...] = (
    *(Dashboard.paused, Dashboard.alive, Dashboard.listed, Dashboard.nodes, Dashboard.exit_reasons, Dashboard.actors),
    *(Dashboard.unfinished_tasks, Dashboard.placement_groups, Dashboard.node_resources, Dashboard.used_resources),
    *(Dashboard.jobs, Dashboard.session_name, gathering._ray_ports, gathering._deployments, look_for_prepared),
    lambda dashboard: local_clusters.running_jobs(dashboard.rest),
)


def answers() -> dict[str, Any]:
    """Return good answers to all questions."""
    return {**{f"/api/v0/{name}": listing([row]) for name, row in ROWS.items()}, "/api/jobs/": [JOB]}


def odd_answers() -> Iterator[tuple[str, Any]]:
    """Yield the path and the answer of each mistake that a dashboard can make."""
    for bad in BAD:
        for name, row in ROWS.items():
            path = f"/api/v0/{name}"
            yield from ((path, listing([{**row, field: bad}])) for field in row)
            yield from ((path, each) for each in (bad, {"result": True, "data": bad}, listing([bad])))
        yield from (("/api/jobs/", [{**JOB, field: bad}]) for field in JOB)
        raylet = {"nodeId": "a", "nodeManagerPort": bad}
        yield from (("/nodes", each) for each in (bad, {"data": bad}, {"data": {"summary": [{"raylet": raylet}]}}))
        yield from (("/api/cluster_status", each) for each in (bad, {"data": {"clusterStatus": bad}}))
        yield from (("/api/serve/applications/", each) for each in (bad, {"applications": {"a": bad}}))
        yield "/api/version", {"session_name": bad}


def ask(fake: FakeDashboard, *questions: Ask, environ: dict[str, str] | None = None) -> list[Code]:
    """Return the problems that raydap reports. Any other exception fails the test."""

    async def main() -> None:
        async with fake.running():
            rest = Rest(fake.url, environ or {"HOME": "/nonexistent"})
            for question in questions:
                try:
                    await question(Dashboard(rest))
                except ProblemError as error:
                    problems.append(error.problem.code)
            await rest.close()

    problems: list[Code] = []
    asyncio.run(main())
    return problems


@pytest.mark.slow
def test_what_a_dashboard_answers_ends_no_search() -> None:
    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            rest = Rest(fake.url, {"HOME": "/nonexistent"})
            for path, answer in odd_answers():
                fake.answers.update(answers())
                fake.answers[path] = text(200, json.dumps(answer))
                for question in QUESTIONS:
                    try:
                        await question(Dashboard(rest))
                    except ProblemError:
                        pass
                    except Exception as error:
                        raise AssertionError(f"{path} answers {answer!r}") from error
            await rest.close()

    asyncio.run(main())


@pytest.mark.parametrize("body", ["[" * 100_000, '{"a":' * 100_000, "1" * 10_000, "\xff", "NaN"])
def test_json_that_cannot_be_read_is_a_problem(body: str) -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = text(200, body)
    assert ask(fake, Dashboard.paused) == [Code.DASHBOARD_GARBAGE]


async def follow_log(dashboard: Dashboard) -> None:
    async with aclosing(dashboard.rest.texts("/log")) as texts:
        async for _ in texts:
            pass


async def ask_version(dashboard: Dashboard) -> None:
    await dashboard.version()


@pytest.mark.parametrize("question", [follow_log, ask_version])
def test_a_redirect_leads_nowhere(question: Ask) -> None:
    """It would send raydap, with Ray's token, to any server that the user can reach."""
    elsewhere = FakeDashboard()

    async def main() -> list[Code]:
        fake = FakeDashboard()
        async with elsewhere.running(), fake.running():
            for path in ("/log", "/api/version"):
                fake.answers[path] = text(302, "", DashboardLocation=f"{elsewhere.url}/api/version")
            rest = Rest(fake.url, WITH_TOKEN)
            with pytest.raises(ProblemError) as caught:
                await question(Dashboard(rest))
            await rest.close()
            return [caught.value.problem.code]

    assert asyncio.run(main()) == [Code.DASHBOARD_GARBAGE]
    assert elsewhere.requests == []


@pytest.mark.parametrize("question", [follow_log, ask_version])
def test_a_dashboard_that_no_user_named_is_sent_nothing_if_another_user_starts_it(
    question: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts after raydap has found nothing at Ray's default address."""
    fake = FakeDashboard()
    monkeypatch.setattr(tcp_sockets, "read", list)
    location = dashboard_address.default()
    assert location == DashboardLocation(DEFAULT_URL, guessed=True)
    monkeypatch.setattr(tcp_sockets, "read", lambda: [TcpSocket("127.0.0.1", 8265, True, ATTACKER)])

    async def main() -> None:
        async with fake.running():
            rest = location.client(WITH_TOKEN)
            rest.url = fake.url
            with pytest.raises(ProblemError, match="belongs to"):
                await question(Dashboard(rest))
            await rest.close()

    asyncio.run(main())
    assert fake.requests == []


def test_a_dashboard_of_this_user_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDashboard()
    monkeypatch.setattr(tcp_sockets, "read", lambda: [TcpSocket("127.0.0.1", 8265, True, os.getuid())])

    async def main() -> None:
        async with fake.running():
            rest = dashboard_address.default().client({"HOME": "/nonexistent"})
            rest.url = fake.url
            await Dashboard(rest).version()
            await rest.close()

    asyncio.run(main())
    assert [request.path for request in fake.requests] == ["/api/version"]
