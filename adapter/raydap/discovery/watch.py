"""Watches one cluster: who is paused, again and again, through outages."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import (
    DiscoveryFailed,
    DiscoveryReady,
    Event,
    PausedWorker,
    WorkerLabel,
    WorkersPaused,
)
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.discovery import tokens
from raydap.discovery.address import Location, resolve
from raydap.discovery.dashboard import Dashboard
from raydap.discovery.describe import Descriptions
from raydap.discovery.endpoints import targets
from raydap.discovery.fates import Fates
from raydap.discovery.relay import Cluster
from raydap.discovery.rest import Rest
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class Pace:
    """How often things happen, in seconds.

    `busy` lies between two polls, `idle` once nothing was paused and nobody did anything for `idle_after`. Retries
    begin after `retry` and double up to `retry_most`. A patient watch is silent about failures for `patience` and
    looks every `look_again` whether the launched program has brought a cluster of its own; once there was a cluster,
    any watch is silent for `outage`.
    `describe` are the pauses after each look for labels. More than `few` workers get theirs `swarm` later, unless
    filters wait for them: asking Ray would slow down their attach. `fates` are those before each look for how workers
    ended.
    """

    busy: float = 0.15
    idle: float = 1.0
    idle_after: float = 60.0
    retry: float = 0.2
    retry_most: float = 5.0
    patience: float = 60.0
    look_again: float = 5.0
    outage: float = 5.0
    describe: tuple[float, ...] = (0.4, 1.1, 2.0)
    fates: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    few: int = 4
    swarm: float = 0.4


class Watch:
    """Emits DiscoveryReady, WorkersPaused and DiscoveryFailed while `run()` runs, and WorkersDescribed on demand.

    `patient`: a program is being launched, so no cluster yet is not a failure, and a cluster of this user that
    starts from now on is preferred to older ones until the first worker pauses.
    """

    def __init__(
        self,
        settings: AttachSettings,
        emit: Callable[[Event], None],
        patient: bool = False,
        environ: Mapping[str, str] = os.environ,
        pace: Pace | None = None,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._patient = patient
        self._environ = dict(environ)
        if isinstance(settings, LaunchSettings) and not settings.submit:
            # The launched program looks for its cluster with this environment, so the watch does too.
            self._environ.update({name: value for name, value in settings.env.items() if value is not None})
            for name in settings.env:
                if settings.env[name] is None:
                    self._environ.pop(name, None)
        self._pace = pace or Pace()
        self._began = time.time()
        self._dashboard: Dashboard | None = None
        self._location: Location | None = None
        self._looked = 0.0
        self._found = False
        self._seen_pause = False
        self._up = False
        self._last: tuple[PausedWorker, ...] = ()
        self._active = time.monotonic()
        self._fates = Fates(self._ends, emit, self._pace.fates)
        self._descriptions = Descriptions(self._labels, emit, self._before_labels, self._pace.describe)

    def touch(self) -> None:
        """The user did something: poll quickly for a while."""
        self._active = time.monotonic()

    async def run(self) -> None:
        """Watches until cancelled. Explicit targets are reported once; then there is nothing more to watch."""
        if self._settings.workers is not None:
            self._emit(DiscoveryReady("the given workers"))
            self._emit(WorkersPaused(targets(self._settings.workers)))
            return
        try:
            await self._watch()
        finally:
            await self._leave()

    async def describe(self, workers: tuple[PausedWorker, ...]) -> None:
        """Emits WorkersDescribed as soon as labels are known, and again when they change; see Descriptions."""
        await self._descriptions.describe(workers)

    async def fate(self, worker: PausedWorker) -> None:
        """Emits WorkersCrashed if a worker that is gone should not be; see Fates."""
        await self._fates.learn(worker)

    async def _ends(self) -> dict[WorkerKey, tuple[str, str]]:
        return {} if self._dashboard is None else await self._dashboard.ends()

    async def cluster(self) -> Cluster | None:
        """What it takes to join the cluster being watched; None for explicit targets, and during an outage."""
        if self._dashboard is None:
            return None
        try:
            session = await self._dashboard.session()
        except ProblemError:
            return None
        environ = tokens.demand(self._environ) if self._dashboard.rest.sends_token else self._environ
        return Cluster(session, environ) if session is not None else None

    async def _labels(self, workers: tuple[PausedWorker, ...]) -> dict[WorkerKey, WorkerLabel]:
        return {} if self._dashboard is None else await self._dashboard.labels(workers)

    async def _watch(self) -> None:
        retry = self._pace.retry
        reported = False
        failing_since = time.monotonic()
        while True:
            try:
                paused = await self._poll()
            except ProblemError as error:
                # Where a cluster went away the next one may be somewhere else.
                await self._leave()
                waited = time.monotonic() - failing_since
                if not reported and waited >= self._quiet(error.problem):
                    reported = True
                    self._emit(DiscoveryFailed(error.problem))
                await asyncio.sleep(retry)
                retry = min(retry * 2, self._pace.retry_most)
                continue
            retry, reported, failing_since = self._pace.retry, False, time.monotonic()
            self._report(paused)
            await asyncio.sleep(self._until_next())

    def _quiet(self, problem: Problem) -> float:
        """For how many seconds a failure is no news: a cluster may be starting, or end with the program it is of."""
        if self._found:
            return self._pace.outage
        return self._pace.patience if self._patient and problem.code is not Code.BAD_ARGUMENT else 0.0

    def _report(self, paused: tuple[PausedWorker, ...]) -> None:
        if not self._up:
            assert self._dashboard is not None
            self._up = self._found = True
            self._emit(DiscoveryReady(self._dashboard.rest.where))
        if paused or self._last:
            self._emit(WorkersPaused(paused))
        if paused:
            self._seen_pause = True
        if paused and (self._settings.auto_attach or paused != self._last):
            # Where nobody is to be attached, a worker that stays paused is no reason to hurry.
            self.touch()
        self._last = paused

    def _until_next(self) -> float:
        idle = time.monotonic() - self._active >= self._pace.idle_after
        return self._pace.idle if idle else self._pace.busy

    def _before_labels(self, workers: int) -> float:
        return 0.0 if workers <= self._pace.few or self._settings.needs_labels else self._pace.swarm

    async def _poll(self) -> tuple[PausedWorker, ...]:
        if self._dashboard is None:
            await self._find()
        elif self._may_move():
            # The cluster being watched stays good as long as nothing better answers.
            with suppress(ProblemError):
                await self._find()
        assert self._dashboard is not None
        try:
            return await self._dashboard.paused()
        except ProblemError as error:
            assert self._location is not None
            if self._location.guessed and error.problem.code is Code.DASHBOARD_UNREACHABLE:
                raise ProblemError(_no_cluster(error.problem.detail)) from None
            raise

    def _may_move(self) -> bool:
        """Whether the launched program may have brought a cluster that is not the one being watched."""
        waiting = self._patient and not self._seen_pause
        return waiting and time.monotonic() - self._looked >= self._pace.look_again

    async def _find(self) -> None:
        self._looked = time.monotonic()
        location = await resolve(self._settings.dashboard, self._environ, self._began if self._patient else None)
        if self._dashboard is None or location != self._location:
            await self._leave()
            self._location = location
            self._dashboard = Dashboard(Rest(location.url, self._environ))

    async def _leave(self) -> None:
        dashboard, self._dashboard = self._dashboard, None
        self._up = False
        if dashboard is not None:
            await dashboard.rest.close()


def _no_cluster(detail: str) -> Problem:
    text = (
        "No Ray cluster was found on this machine; start one with `ray start --head`, "
        'or name its dashboard with the argument "dashboard".'
    )
    return Problem(Code.NO_CLUSTER, text, detail)
