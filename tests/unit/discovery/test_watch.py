"""Watching a dashboard through good and bad times, at a pace for tests."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import (
    DiscoveryFailed,
    DiscoveryReady,
    Event,
    PausedWorker,
    WorkerLabel,
    WorkersCrashed,
    WorkersDescribed,
    WorkersPaused,
)
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.discovery import watch as watch_module
from raydap.discovery.address import DEFAULT_URL, Location
from raydap.discovery.relay import Cluster
from raydap.discovery.watch import Pace, Watch
from raydap.protocol.types import WorkerKey
from unit.discovery.fake_dashboard import WORKER, FakeDashboard, listing, text

WAIT = 20.0
SOON = (0.001, 0.001, 0.001)
FAST = Pace(
    busy=0.001, idle=0.001, retry=0.001, retry_most=0.01, look_again=0.0, outage=0.0, describe=SOON[:2], fates=SOON
)
PAUSED = PausedWorker(WorkerKey("ab" * 28), "10.0.0.7", 40001, 4321, "10.0.0.7", "cd" * 28, "WORKER")


class Watching:
    """A running Watch and what it emits."""

    def __init__(self, settings: AttachSettings, pace: Pace = FAST, **options: Any) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()
        self.watch = Watch(settings, self._emit, environ={"HOME": "/nonexistent"}, pace=pace, **options)
        self._task: asyncio.Task[None] | None = None

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def __aenter__(self) -> "Watching":
        self._task = asyncio.create_task(self.watch.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def next(self, kind: type[Event], after: int = 0) -> int:
        """Waits for the first event of this kind from index `after` on; returns the index behind it."""

        async def look() -> int:
            while True:
                for index, event in enumerate(self.events[after:], after):
                    if isinstance(event, kind):
                        return index + 1
                self._news.clear()
                await self._news.wait()

        return await asyncio.wait_for(look(), WAIT)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def run(script: Callable[[FakeDashboard], Awaitable[None]]) -> None:
    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            await script(fake)

    asyncio.run(main())


def test_it_says_where_then_who_and_when_nobody_is_left() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            seen = await watching.next(DiscoveryReady)
            await fake.asked(3)
            assert watching.events == [DiscoveryReady(fake.url)], "empty snapshots are left out"
            fake.answers["/api/v0/workers"] = listing([WORKER])
            seen = await watching.next(WorkersPaused, seen)
            seen = await watching.next(WorkersPaused, seen)
            fake.answers["/api/v0/workers"] = listing([])
            await fake.asked(3)
            snapshots = watching.of(WorkersPaused)
            assert snapshots[0] == snapshots[1] == WorkersPaused((PAUSED,))
            assert snapshots[-1] == WorkersPaused(())
            assert snapshots.count(WorkersPaused(())) == 1

    run(script)


def test_an_outage_is_told_once_and_so_is_its_end() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            seen = await watching.next(DiscoveryReady)
            fake.answers["/api/v0/workers"] = text(200, "<html>")
            seen = await watching.next(DiscoveryFailed, seen)
            await fake.asked(3)
            fake.answers["/api/v0/workers"] = listing([])
            seen = await watching.next(DiscoveryReady, seen)
            fake.answers["/api/v0/workers"] = {"result": False, "msg": "x"}
            await watching.next(DiscoveryFailed, seen)
            kinds = [type(event) for event in watching.events]
            assert kinds == [DiscoveryReady, DiscoveryFailed, DiscoveryReady, DiscoveryFailed]
            codes = [event.problem.code for event in watching.events if isinstance(event, DiscoveryFailed)]
            assert codes == [Code.DASHBOARD_GARBAGE, Code.DASHBOARD_UNREACHABLE]

    run(script)


def test_a_short_outage_is_no_news() -> None:
    async def script(fake: FakeDashboard) -> None:
        quiet = Pace(**{**_fields(FAST), "outage": 60.0})
        async with Watching(AttachSettings(dashboard=fake.url), pace=quiet) as watching:
            seen = await watching.next(DiscoveryReady)
            fake.answers["/api/v0/workers"] = text(200, "<html>")
            await fake.asked(5)
            fake.answers["/api/v0/workers"] = listing([])
            await watching.next(DiscoveryReady, seen)
            assert watching.of(DiscoveryFailed) == []

    run(script)


def test_a_patient_watch_is_silent_until_its_patience_ends() -> None:
    async def script(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/workers"] = text(200, "<html>")
        async with Watching(AttachSettings(dashboard=fake.url), patient=True) as watching:
            await fake.asked(5)
            assert watching.events == []
            fake.answers["/api/v0/workers"] = listing([])
            await watching.next(DiscoveryReady)
        hasty = Pace(**{**_fields(FAST), "patience": 0.0})
        fake.answers["/api/v0/workers"] = text(200, "<html>")
        async with Watching(AttachSettings(dashboard=fake.url), pace=hasty, patient=True) as watching:
            await watching.next(DiscoveryFailed)

    run(script)


def test_what_is_no_address_is_told_at_once_even_when_patient() -> None:
    async def main() -> None:
        async with Watching(AttachSettings(dashboard="nonsense"), patient=True) as watching:
            await watching.next(DiscoveryFailed)
            (event,) = watching.events
            assert isinstance(event, DiscoveryFailed)
            assert event.problem.code is Code.BAD_ARGUMENT

    asyncio.run(main())


def test_ray_s_default_without_anybody_there_means_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            pass

        async def guess(*_: object) -> Location:
            return Location(fake.url, guessed=True)

        monkeypatch.setattr(watch_module, "resolve", guess)
        async with Watching(AttachSettings()) as watching:
            await watching.next(DiscoveryFailed)
            (event,) = watching.events
            assert isinstance(event, DiscoveryFailed)
            assert event.problem.code is Code.NO_CLUSTER
            assert "ray start --head" in event.problem.text

    asyncio.run(main())
    assert DEFAULT_URL.startswith("http://127.0.0.1:")


def test_a_patient_watch_moves_to_the_cluster_that_the_program_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(old: FakeDashboard) -> None:
        new = FakeDashboard()
        async with new.running():
            places: Iterator[str | None] = iter([old.url, None, new.url])
            last = new.url

            async def resolve(*_: object) -> Location:
                place = next(places, last)
                if place is None:
                    raise ProblemError(Problem(Code.NO_CLUSTER, "It is just starting."))
                return Location(place)

            monkeypatch.setattr(watch_module, "resolve", resolve)
            new.answers["/api/v0/workers"] = listing([WORKER])
            async with Watching(LaunchSettings(program="x"), patient=True) as watching:
                await watching.next(WorkersPaused)
                assert watching.events[:3] == [
                    DiscoveryReady(old.url),
                    DiscoveryReady(new.url),
                    WorkersPaused((PAUSED,)),
                ]

    run(script)


def test_explicit_targets_are_told_once() -> None:
    async def main() -> list[Event]:
        watching = Watching(AttachSettings(workers=("h:1", "h:2")))
        await watching.watch.run()
        await watching.watch.describe(())
        return watching.events

    ready, paused = asyncio.run(main())
    assert isinstance(ready, DiscoveryReady)
    assert isinstance(paused, WorkersPaused)
    assert [worker.key for worker in paused.workers] == ["h:1", "h:2"]


def test_labels_are_told_when_they_come_and_when_they_change() -> None:
    """The task list lags: it may know nothing yet, or still name the task before."""

    async def script(fake: FakeDashboard) -> None:
        names = iter(["", "before", "now"])

        def rows() -> list[dict[str, Any]]:
            name = next(names)
            return [{"worker_id": PAUSED.key, "func_or_class_name": name, "job_id": "01"}] if name else []

        async def tasks(_: web.Request) -> web.StreamResponse:
            return web.json_response(listing(rows()))

        fake.answers["/api/v0/tasks"] = tasks
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            await watching.next(DiscoveryReady)
            await watching.watch.describe((PAUSED,))
            assert watching.of(WorkersDescribed) == [
                WorkersDescribed({PAUSED.key: WorkerLabel("before", job="01")}),
                WorkersDescribed({PAUSED.key: WorkerLabel("now", job="01")}),
            ]

    run(script)


def test_labels_of_a_sick_dashboard_are_no_error() -> None:
    async def script(fake: FakeDashboard) -> None:
        fake.answers["/api/v0/tasks"] = text(500, "boom")
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            await watching.next(DiscoveryReady)
            await watching.watch.describe((PAUSED,))
            assert watching.of(WorkersDescribed) == []

    run(script)


def test_it_polls_slowly_when_nobody_does_anything_and_quickly_after_a_touch() -> None:
    watch = Watch(AttachSettings(), print, environ={}, pace=Pace(idle_after=0.0))
    assert watch._until_next() == Pace().idle
    watch = Watch(AttachSettings(), print, environ={}, pace=Pace(idle_after=1e9))
    watch.touch()
    assert watch._until_next() == Pace().busy <= 0.2


def test_a_swarm_is_named_when_it_is_attached_but_filters_do_not_wait() -> None:
    watch = Watch(AttachSettings(), print, environ={})
    assert watch._before_labels(1) == watch._before_labels(4) == 0.0
    assert watch._before_labels(5) == Pace().swarm > 0.0
    for name in ("job", "actor", "task"):
        assert Watch(AttachSettings(**{name: "x*"}), print, environ={})._before_labels(1000) == 0.0


def test_a_launched_program_s_environment_counts() -> None:
    settings = LaunchSettings(program="x", env={"RAY_ADDRESS": "http://head:1", "GONE": None})
    watch = Watch(settings, print, environ={"GONE": "x", "KEPT": "y"})
    assert watch._environ == {"RAY_ADDRESS": "http://head:1", "KEPT": "y"}


def _fields(pace: Pace) -> dict[str, Any]:
    return {name: getattr(pace, name) for name in Pace.__slots__}


def test_what_it_takes_to_join_the_cluster() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            assert await watching.watch.cluster() is None, "not found yet"
            await watching.next(DiscoveryReady)
            assert await watching.watch.cluster() is None, "its dashboard does not say"
            fake.answers["/api/version"] = {"session_name": "session_1"}
            assert await watching.watch.cluster() == Cluster("session_1", {"HOME": "/nonexistent"})
            fake.answers["/api/version"] = text(500, "sick")
            assert await watching.watch.cluster() is None

    run(script)


def test_explicit_targets_are_of_no_cluster() -> None:
    async def main() -> None:
        watch = Watch(AttachSettings(workers=("127.0.0.1:5678",)), print)
        await watch.run()
        assert await watch.cluster() is None

    asyncio.run(main())


def test_a_cluster_that_wants_a_token_is_joined_with_it() -> None:
    async def guarded(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != "Bearer s3cret":
            return web.Response(status=401)
        return web.json_response({"session_name": "session_1"} if "version" in request.path else listing([]))

    async def script(fake: FakeDashboard) -> None:
        fake.answers |= {"/api/v0/workers": guarded, "/api/version": guarded}
        environ = {"RAY_AUTH_TOKEN": "s3cret"}
        watch = Watch(AttachSettings(dashboard=fake.url), print, environ=environ, pace=FAST)
        task = asyncio.create_task(watch.run())
        await fake.asked(3)
        assert await watch.cluster() == Cluster("session_1", {**environ, "RAY_AUTH_MODE": "token"})
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run(script)


def test_a_crash_is_told_once_ray_knows_of_it_and_a_wanted_end_is_not() -> None:
    """Ray learns of a death a moment later than the debugger of the worker."""

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
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            await watching.next(DiscoveryReady)
            await asyncio.gather(watching.watch.fate(PAUSED), watching.watch.fate(other), watching.watch.fate(asked))
            assert watching.of(WorkersCrashed) == [WorkersCrashed((PAUSED,), (detail,))]

    run(script)


def test_what_ray_does_not_say_in_time_is_left_open() -> None:
    async def script(fake: FakeDashboard) -> None:
        async with Watching(AttachSettings(dashboard=fake.url)) as watching:
            await watching.next(DiscoveryReady)
            await watching.watch.fate(PAUSED)
            fake.answers["/api/v0/workers"] = text(500, "boom")
            await watching.watch.fate(PAUSED)
            assert watching.of(WorkersCrashed) == []

    run(script)
