"""The reasons why workers have ended, as Ray reports them some time later."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import pytest
from aiohttp import web

from raydap.cluster.dashboard.dashboard_client import Dashboard, ExitReason
from raydap.cluster.dashboard.exit_reasons import ExitReasons
from raydap.cluster.dashboard.polls import Polls
from raydap.core.events import DiscoveryReady, Event, FactsListed, JobsEnded, JobsListed, NodesAlive, WorkersEnded
from raydap.core.process_info import EndedJob, EndedWorker, ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.protocol.types import WorkerKey
from unit.cluster.fake_dashboard import FakeDashboard, listing, text
from unit.cluster.polling import PAUSED, WAIT, Polling, run


def test_a_crash_is_reported_once_ray_lists_it_and_an_intended_end_is_not() -> None:
    """Ray learns of a death a moment later than raydap, which sees the debugger's connection end."""

    async def script(fake: FakeDashboard) -> None:
        other = replace(PAUSED, key=WorkerKey("other"))
        asked = replace(PAUSED, key=WorkerKey("asked"))
        detail = "Worker unexpectedly exits with a connection error code 2. End of file."
        dead = [
            {"worker_id": PAUSED.key, "exit_type": "SYSTEM_ERROR", "exit_detail": detail},
            {"worker_id": other.key, "exit_type": "INTENDED_USER_EXIT", "exit_detail": "done"},
            {
                "worker_id": asked.key,
                "exit_type": "SYSTEM_ERROR",
                "exit_detail": "Worker exits unexpectedly by a signal. SIGTERM",
            },
        ]
        answers = iter([[], dead[1:], dead])

        async def workers(request: web.Request) -> web.StreamResponse:
            return web.json_response(listing(next(answers) if "False" in request.query_string else []))

        fake.answers["/api/v0/workers"] = workers
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            await asyncio.gather(
                polling.source.look_up_exit_reason(PAUSED),
                polling.source.look_up_exit_reason(other),
                polling.source.look_up_exit_reason(asked),
            )
            assert polling.of(WorkersEnded) == [
                WorkersEnded(
                    (
                        EndedWorker(other, "done", crashed=False),
                        EndedWorker(asked, "Worker exits unexpectedly by a signal. SIGTERM", crashed=False),
                    )
                ),
                WorkersEnded((EndedWorker(PAUSED, detail, crashed=True),)),
            ]

    run(script)


def test_a_crash_is_reported_after_the_ends_of_jobs_that_came_before_it() -> None:
    """The bridge compares the two times."""

    async def script(fake: FakeDashboard) -> None:
        job = {"job_id": "02000000", "status": "RUNNING", "entrypoint": "python train.py"}
        fake.answers["/api/jobs/"] = [job]
        async with Polling(AttachSettings(dashboard=fake.url), left_out=(NodesAlive,)) as polling:
            await polling.next(JobsListed)
            row = {"worker_id": PAUSED.key, "exit_type": "SYSTEM_ERROR", "exit_detail": "It died.", "end_time_ms": 1008}
            fake.answers["/api/v0/workers"] = listing([row])
            fake.answers["/api/jobs/"] = [{**job, "status": "SUCCEEDED", "end_time": 1005}]
            await polling.source.look_up_exit_reason(PAUSED)
            ends = [event for event in polling.events if isinstance(event, (JobsEnded, WorkersEnded))]
            assert ends == [
                JobsEnded((EndedJob("02000000", "Job train.py (02000000) has ended.", 1005),)),
                WorkersEnded((EndedWorker(PAUSED, "It died.", crashed=True, ended_ms=1008),)),
            ]

    run(script)


def test_a_crash_is_reported_even_if_the_jobs_cannot_be_listed() -> None:
    async def main() -> None:
        emitted: list[Event] = []

        async def ask() -> dict[WorkerKey, ExitReason]:
            return {PAUSED.key: ExitReason("SYSTEM_ERROR", "It died.", 0)}

        async def look_for_ended_jobs() -> None:
            raise TypeError("odd")

        reasons = ExitReasons(Polls(0.001), ask, look_for_ended_jobs, emitted.append)
        await asyncio.wait_for(reasons.look_up(PAUSED), WAIT)
        assert emitted == [WorkersEnded((EndedWorker(PAUSED, "It died.", crashed=True),))]

    asyncio.run(main())


def test_what_ray_does_not_say_in_time_is_left_open() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            await polling.source.look_up_exit_reason(PAUSED)
            fake.answers["/api/v0/workers"] = text(500, "boom")
            await polling.source.look_up_exit_reason(PAUSED)
            assert polling.of(WorkersEnded) == []

    run(script)


def test_rows_that_are_odd_cost_one_lookup_only(caplog: pytest.LogCaptureFixture) -> None:
    """Labels and exit reasons are looked up again, even after an exception."""

    async def script(fake: FakeDashboard) -> None:
        task = {"worker_id": PAUSED.key, "func_or_class_name": "f", "job_id": "01"}
        ray_facts = Dashboard.ray_facts
        failures = [TypeError("odd")]

        async def slow_facts(dashboard: Dashboard, workers: Iterable[ProcessInfo]) -> dict[WorkerKey, RayFacts]:
            if failures:
                raise failures.pop()
            return await ray_facts(dashboard, workers)

        async def exit_reasons(_: Dashboard) -> dict[WorkerKey, ExitReason]:
            if failures:
                raise failures.pop()
            return {PAUSED.key: ExitReason("SYSTEM_ERROR", "It died.", 0)}

        fake.answers["/api/v0/tasks"] = listing([task])
        async with Polling(AttachSettings(dashboard=fake.url)) as polling:
            await polling.next(DiscoveryReady)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Dashboard, "ray_facts", slow_facts)
                await polling.source.look_up_facts((PAUSED,))
                assert polling.of(FactsListed) == [FactsListed({PAUSED.key: RayFacts("f", job="01")})]
                failures.append(TypeError("odd"))
                patch.setattr(Dashboard, "exit_reasons", exit_reasons)
                await polling.source.look_up_exit_reason(PAUSED)
            assert polling.of(WorkersEnded) == [WorkersEnded((EndedWorker(PAUSED, "It died.", crashed=True),))]

    run(script)
    assert caplog.text.count("TypeError") >= 2


def test_a_lookup_that_is_cancelled_hinders_no_later_one() -> None:
    async def main() -> None:
        told: list[Event] = []

        async def ask() -> dict[WorkerKey, ExitReason]:
            return {PAUSED.key: ExitReason("SYSTEM_ERROR", "It died.", 0)}

        async def look_for_ended_jobs() -> None: ...

        polls = Polls(1000.0)
        reasons = ExitReasons(polls, ask, look_for_ended_jobs, told.append)
        looking = asyncio.create_task(reasons.look_up(PAUSED))
        await asyncio.sleep(0)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        polls.scale = 0.001
        await asyncio.wait_for(reasons.look_up(PAUSED), WAIT)
        assert told == [WorkersEnded((EndedWorker(PAUSED, "It died.", crashed=True),))]

    asyncio.run(main())
