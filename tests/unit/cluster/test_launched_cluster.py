"""The cluster that the source of a launched program uses."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from raydap.cluster import ray_cluster
from raydap.cluster.dashboard import dashboard_address
from raydap.cluster.dashboard.dashboard_address import DashboardLocation
from raydap.core.events import DiscoveryFailed, DiscoveryReady, WorkersPaused
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.errors import Code, Problem, ProblemError
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing
from unit.cluster.polling import FAST, PAUSED, Polling, run


def test_a_patient_source_moves_to_the_cluster_that_the_program_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(old: FakeDashboard) -> None:
        new = FakeDashboard()
        async with new.running():
            places: Iterator[str | None] = iter([old.url, None, new.url])
            last = new.url

            async def resolve(*_: object) -> DashboardLocation:
                place = next(places, last)
                if place is None:
                    raise ProblemError(Problem(Code.NO_CLUSTER, "It is just starting."))
                return DashboardLocation(place)

            monkeypatch.setattr(ray_cluster, "resolve", resolve)
            new.answers["/api/v0/workers"] = listing([WORKER])
            async with Polling(LaunchSettings(program="x", reach="paused"), patient=True) as polling:
                await polling.next(WorkersPaused)
                assert polling.events[:3] == [
                    DiscoveryReady(old.url),
                    DiscoveryReady(new.url),
                    WorkersPaused((PAUSED,)),
                ]

    run(script)


def test_only_a_program_that_runs_here_may_start_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(fake: FakeDashboard) -> None:
        given: list[object] = []

        async def resolve(dashboard: object, environ: object, launched: object) -> DashboardLocation:
            given.append(launched)
            return DashboardLocation(fake.url)

        monkeypatch.setattr(ray_cluster, "resolve", resolve)
        for settings, patient in (
            (AttachSettings(), False),
            (LaunchSettings(program="x", submit=True), True),
            (LaunchSettings(program="x", reach="paused"), True),
            (LaunchSettings(program="x"), True),
            (LaunchSettings(program="x", env={"RAY_ADDRESS": "10.0.0.1:6379"}), True),
        ):
            async with Polling(settings, patient=patient) as polling:
                await polling.next(DiscoveryReady)
        assert [launched for launched in given if launched] == ["silent", "reports"]
        assert len(given) == 5

    run(script)


def test_a_launched_program_reports_the_cluster_that_it_has_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then no cluster is searched for, so that the source cannot find another program's cluster."""

    async def script(fake: FakeDashboard) -> None:
        monkeypatch.setattr(ray_cluster, "resolve", never)
        timing = replace(FAST, search_s=60.0, scale=1000.0)
        async with Polling(LaunchSettings(program="x"), timing=timing, patient=True) as polling:
            await asyncio.sleep(0)
            monkeypatch.setattr(ray_cluster, "resolve", dashboard_address.resolve)
            polling.source.note_cluster(fake.url)
            await polling.next(DiscoveryReady)
            assert polling.events == [DiscoveryReady(fake.url)]

    async def never(*_: object) -> DashboardLocation:
        raise AssertionError("nothing is to be searched for")

    run(script)


def test_a_launched_program_may_join_one_cluster_after_another() -> None:
    async def script(first: FakeDashboard) -> None:
        second = FakeDashboard()
        slow = replace(FAST, scale=1000.0)
        async with second.running(), Polling(LaunchSettings(program="x"), timing=slow, patient=True) as polling:
            polling.source.note_cluster(first.url)
            seen = await polling.next(DiscoveryReady)
            polling.source.note_cluster(second.url)
            await polling.next(DiscoveryReady, seen)
            assert polling.of(DiscoveryReady) == [DiscoveryReady(first.url), DiscoveryReady(second.url)]

    run(script)


def test_a_driver_that_reports_nonsense_does_not_end_the_search() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Polling(LaunchSettings(program="x"), patient=True) as polling:
            polling.source.note_cluster("http://[nonsense")
            seen = await polling.next(DiscoveryFailed)
            polling.source.note_cluster(fake.url)
            await polling.next(DiscoveryReady, seen)

    run(script)


def test_the_users_argument_comes_before_the_cluster_that_the_driver_reports() -> None:
    """With a forwarded port, the dashboard's address for the user differs from the driver's."""

    async def script(fake: FakeDashboard) -> None:
        async with Polling(LaunchSettings(program="x", dashboard=fake.url), patient=True) as polling:
            polling.source.note_cluster("http://127.0.0.1:1")
            await polling.next(DiscoveryReady)
            await fake.asked(3)
            assert polling.of(DiscoveryReady) == [DiscoveryReady(fake.url)]

    run(script)
