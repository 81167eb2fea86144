"""Polling of a healthy or failing dashboard, fast enough for tests."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from raydap.cluster import ray_cluster
from raydap.cluster.dashboard.dashboard_address import DEFAULT_URL, DashboardLocation
from raydap.cluster.ray_cluster import RayCluster, Timing
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.core.events import (
    AgentsExpected,
    DiscoveryFailed,
    DiscoveryReady,
    FactsListed,
    JobsListed,
    NodesAlive,
    WorkersAlive,
    WorkersPaused,
)
from raydap.core.process_info import RayFacts
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.errors import Code, Problem, ProblemError
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing, text
from unit.cluster.polling import FAST, PAUSED, Polling, run


def test_it_reports_the_cluster_then_its_workers_and_when_none_is_left() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            seen = await polling.next(DiscoveryReady)
            await fake.asked(3)
            assert polling.events == [DiscoveryReady(fake.url)], "empty snapshots are left out"
            fake.answers["/api/v0/workers"] = listing([WORKER])
            seen = await polling.next(WorkersPaused, seen)
            seen = await polling.next(WorkersPaused, seen)
            fake.answers["/api/v0/workers"] = listing([])
            await fake.asked(3)
            snapshots = polling.of(WorkersPaused)
            assert snapshots[0] == snapshots[1] == WorkersPaused((PAUSED,))
            assert snapshots[-1] == WorkersPaused(())
            assert snapshots.count(WorkersPaused(())) == 1

    run(script)


def test_an_outage_and_its_end_are_reported_once() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            seen = await polling.next(DiscoveryReady)
            fake.answers["/api/v0/workers"] = text(200, "<html>")
            seen = await polling.next(DiscoveryFailed, seen)
            await fake.asked(3)
            fake.answers["/api/v0/workers"] = listing([])
            seen = await polling.next(DiscoveryReady, seen)
            fake.answers["/api/v0/workers"] = {"result": False, "msg": "x"}
            await polling.next(DiscoveryFailed, seen)
            kinds = [type(event) for event in polling.events]
            assert kinds == [DiscoveryReady, DiscoveryFailed, DiscoveryReady, DiscoveryFailed]
            codes = [event.problem.code for event in polling.events if isinstance(event, DiscoveryFailed)]
            assert codes == [Code.DASHBOARD_GARBAGE, Code.DASHBOARD_UNREACHABLE]

    run(script)


def test_a_short_outage_is_no_news() -> None:
    async def script(fake: FakeDashboard) -> None:
        quiet = replace(FAST, outage_grace_s=60.0)
        async with Polling(AttachSettings(dashboard=fake.url), timing=quiet) as polling:
            seen = await polling.next(DiscoveryReady)
            fake.answers["/api/v0/workers"] = text(200, "<html>")
            await fake.asked(5)
            fake.answers["/api/v0/workers"] = listing([])
            await polling.next(DiscoveryReady, seen)
            assert polling.of(DiscoveryFailed) == []

    run(script)


def test_a_patient_source_is_silent_until_its_time_of_grace_ends() -> None:
    async def script(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/workers"] = text(200, "<html>")
        async with Polling(AttachSettings(dashboard=fake.url), patient=True) as polling:
            await fake.asked(5)
            assert polling.events == []
            fake.answers["/api/v0/workers"] = listing([])
            await polling.next(DiscoveryReady)
        hasty = replace(FAST, startup_grace_s=0.0)
        fake.answers["/api/v0/workers"] = text(200, "<html>")
        async with Polling(AttachSettings(dashboard=fake.url), timing=hasty, patient=True) as polling:
            await polling.next(DiscoveryFailed)

    run(script)


def test_a_malformed_address_is_reported_at_once_even_when_patient() -> None:
    async def main() -> None:
        async with Polling(AttachSettings(dashboard="nonsense"), patient=True) as polling:
            await polling.next(DiscoveryFailed)
            (event,) = polling.events
            assert isinstance(event, DiscoveryFailed)
            assert event.problem.code is Code.BAD_ARGUMENT

    asyncio.run(main())


def test_ray_s_default_without_a_listener_means_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            pass

        async def guess(*_: object) -> DashboardLocation:
            return DashboardLocation(fake.url, guessed=True)

        monkeypatch.setattr(ray_cluster, "resolve", guess)
        async with Polling(AttachSettings()) as polling:
            await polling.next(DiscoveryFailed)
            (event,) = polling.events
            assert isinstance(event, DiscoveryFailed)
            assert event.problem.code is Code.NO_CLUSTER
            assert "ray start --head" in event.problem.text

    asyncio.run(main())
    assert DEFAULT_URL.startswith("http://127.0.0.1:")


def test_a_second_cluster_that_comes_up_does_not_hide_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(fake: FakeDashboard) -> None:
        problem = Problem(Code.CLUSTER_NOT_NAMED, "There are two now.")
        answers: Iterator[DashboardLocation | Problem] = iter([problem, DashboardLocation(fake.url)])

        async def resolve(*_: object) -> DashboardLocation:
            answer = next(answers, problem)
            if isinstance(answer, Problem):
                raise ProblemError(answer)
            return answer

        monkeypatch.setattr(ray_cluster, "resolve", resolve)
        async with Polling(AttachSettings()) as polling:
            seen = await polling.next(DiscoveryReady)
            fake.answers["/api/v0/workers"] = text(500, "boom")
            seen = await polling.next(DiscoveryFailed, seen)
            fake.answers["/api/v0/workers"] = listing([])
            await polling.next(DiscoveryReady, seen)
            codes = [event.problem.code for event in polling.events if isinstance(event, DiscoveryFailed)]
            assert codes == [Code.CLUSTER_NOT_NAMED, Code.DASHBOARD_GARBAGE]

    run(script)


def test_labels_are_reported_when_they_come_and_when_they_change() -> None:
    """Ray's task list lags: it may not have the task yet, or still name the task before."""

    async def script(fake: FakeDashboard) -> None:
        names = iter(["", "before", "now"])

        def rows() -> list[dict[str, Any]]:
            name = next(names)
            return [{"worker_id": PAUSED.key, "func_or_class_name": name, "job_id": "01"}] if name else []

        async def tasks(_: web.Request) -> web.StreamResponse:
            return web.json_response(listing(rows()))

        fake.answers["/api/v0/tasks"] = tasks
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            await polling.source.look_up_facts((PAUSED,))
            assert polling.of(FactsListed) == [
                FactsListed({PAUSED.key: RayFacts("before", job="01")}),
                FactsListed({PAUSED.key: RayFacts("now", job="01")}),
            ]

    run(script)


def test_labels_of_a_sick_dashboard_are_no_error() -> None:
    async def script(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/tasks"] = text(500, "boom")
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            await polling.source.look_up_facts((PAUSED,))
            assert polling.of(FactsListed) == []

    run(script)


def test_it_polls_slowly_without_activity_and_quickly_after_some() -> None:
    source = RayCluster(AttachSettings(), print, environ={}, timing=Timing(idle_after_s=0.0))
    assert source._next_poll_s() == Timing().idle_poll_s
    source = RayCluster(AttachSettings(), print, environ={}, timing=Timing(idle_after_s=1e9))
    source.note_user_activity()
    assert source._next_poll_s() == Timing().poll_s <= 0.2


def test_a_launched_program_s_environment_counts() -> None:
    settings = LaunchSettings(program="x", env={"RAY_ADDRESS": "http://head:1", "GONE": None})
    source = RayCluster(settings, print, environ={"GONE": "x", "KEPT": "y"})
    assert source._environ == {"RAY_ADDRESS": "http://head:1", "KEPT": "y"}


def test_what_it_takes_to_join_the_cluster() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            assert await polling.source.cluster_access() is None, "not found yet"
            await polling.next(DiscoveryReady)
            assert await polling.source.cluster_access() is None, "its dashboard does not say"
            fake.answers["/api/version"] = {"session_name": "session_1"}
            assert await polling.source.cluster_access() == ClusterAccess("session_1", {"HOME": "/nonexistent"})
            fake.answers["/api/version"] = text(500, "sick")
            assert await polling.source.cluster_access() is None

    run(script)


def test_a_cluster_that_wants_a_token_is_joined_with_it() -> None:
    async def guarded(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != "Bearer s3cret":
            return web.Response(status=401)
        return web.json_response({"session_name": "session_1"} if "version" in request.path else listing([]))

    async def script(fake: FakeDashboard) -> None:
        fake.answers |= {"/api/v0/workers": guarded, "/api/version": guarded}
        environ = {"RAY_AUTH_TOKEN": "s3cret"}
        source = RayCluster(AttachSettings(dashboard=fake.url), print, environ=environ, timing=FAST)
        task = asyncio.create_task(source.run())
        await fake.asked(3)
        assert await source.cluster_access() == ClusterAccess("session_1", {**environ, "RAY_AUTH_MODE": "token"})
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run(script)


def test_prepared_programs_are_looked_for_while_there_are_other_nodes_and_none_is_known() -> None:
    async def script(fake: FakeDashboard) -> None:
        def asked() -> int:
            return sum(request.path == "/api/v0/actors" for request in fake.requests)

        one = {"node_id": "n1", "node_ip": "10.0.0.1"}
        fake.answers["/api/v0/nodes"] = listing([one])
        async with Polling(AttachSettings(dashboard=fake.url), left_out=(JobsListed,)) as polling:
            await polling.next(NodesAlive)
            await fake.asked(5)
            assert asked() == 0, "there is one node"
            fake.answers["/api/v0/nodes"] = listing([one, {"node_id": "n2", "node_ip": "10.0.0.2"}])
            seen = await polling.next(NodesAlive, await polling.next(NodesAlive))
            await fake.asked(10)
            assert asked() == 1
            assert polling.of(AgentsExpected) == []
            hook = {"worker_process_setup_hook": "raydap_agent"}
            fake.answers["/api/jobs/"] = [{"job_id": "01", "status": "RUNNING", "runtime_env": hook}]
            await polling.next(AgentsExpected, seen)

    run(script)


@pytest.mark.parametrize("reach", ["prepared", "paused"])
def test_nothing_is_searched_for_unless_it_is_wanted(reach: Any) -> None:
    """Only paused workers are requested, though the engine has reported that the nodes are reached."""

    async def script(fake: FakeDashboard) -> None:
        nodes = [{"node_id": f"n{number}", "node_ip": f"10.0.0.{number}"} for number in range(2)]
        fake.answers["/api/v0/nodes"] = listing(nodes)
        async with Polling(AttachSettings(dashboard=fake.url, reach=reach)) as polling:
            polling.source.note_nodes_reached()
            await polling.next(DiscoveryReady)
            await fake.asked(10)
            assert sum("actors" in request.path for request in fake.requests) == 0
            assert sum("jobs" in request.path for request in fake.requests) == 1

    run(script)


def test_all_workers_are_requested_only_while_a_client_watches() -> None:
    async def script(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/workers"] = listing([{**WORKER, "num_paused_threads": 0, "debugger_port": 0}])
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            await fake.asked(5)
            assert polling.of(WorkersAlive) == []
            watch = asyncio.create_task(polling.source.watch_alive())
            seen = await polling.next(WorkersAlive)
            await polling.next(WorkersAlive, seen)
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
            assert polling.of(WorkersAlive)[0] == WorkersAlive({replace(PAUSED, port=0): RayFacts()})

    run(script)
