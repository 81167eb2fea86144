"""The source for a Ray cluster: asks its dashboard who is paused, again and again, through outages."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from raydap.cluster import labels, ray_token, session_sockets, unfinished_work
from raydap.cluster.alive_polling import AlivePolling
from raydap.cluster.dashboard import Dashboard
from raydap.cluster.dashboard_address import Launched, Location, chosen, resolve
from raydap.cluster.exit_reasons import ExitReasons
from raydap.cluster.jobs import Jobs
from raydap.cluster.label_polling import LabelPolling
from raydap.cluster.labels import Row
from raydap.cluster.node_polling import NodePolling
from raydap.cluster.prepared_search import PreparedSearch
from raydap.cluster.relay import ClusterAccess
from raydap.cluster.rest import Rest
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import (
    ActorsListed,
    DiscoveryFailed,
    DiscoveryReady,
    Event,
    PausedWorker,
    RayStateListed,
    WorkerLabel,
    WorkersPaused,
)
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class Timing:
    """How often the cluster is asked.

    poll_s: between two polls; idle_poll_s: once nothing was paused and the user did nothing for idle_after_s.
    retry_s: before the first retry after a failure; doubled for each further one, up to max_retry_s.
    startup_grace_s: a patient source does not report failures for so long, because a cluster may be starting.
    search_s: until a launched program's driver has reported its cluster, the source looks for one that the program has
    started: first after so many seconds, then after twice as many, and so on, up to max_search_s.
    outage_grace_s: once the cluster has answered, no source reports failures for so long.
    alive_pause_s: between two questions who runs, while somebody wants to know that.
    nodes_pause_s: between two questions which nodes there are, at least.
    prepared_pause_s: between two answers that may tell of a prepared program, while none is known.
    label_pauses_s: after each lookup of labels. exit_reason_pauses_s: before each lookup of exit reasons.
    many_workers: more than that get their labels many_workers_delay_s later, because Ray's task list would slow down
    their attach. Filters that need labels do not wait.
    """

    poll_s: float = 0.15
    idle_poll_s: float = 1.0
    idle_after_s: float = 60.0
    retry_s: float = 0.2
    max_retry_s: float = 5.0
    startup_grace_s: float = 60.0
    search_s: float = 5.0
    max_search_s: float = 60.0
    outage_grace_s: float = 5.0
    alive_pause_s: float = 2.0
    nodes_pause_s: float = 1.0
    prepared_pause_s: float = 2.0
    label_pauses_s: tuple[float, ...] = (0.4, 1.1, 2.0)
    exit_reason_pauses_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    many_workers: int = 4
    many_workers_delay_s: float = 0.4


class RayCluster:
    """Finds the cluster that the settings name, and polls it. Implements `Source`.

    `patient`: a program is being launched, so a cluster that is missing may be starting. Its driver's agent reports
    which cluster it has joined (`note_cluster`). `is_local` is that of PreparedSearch.
    """

    def __init__(
        self,
        settings: AttachSettings,
        emit: Callable[[Event], None],
        patient: bool = False,
        environ: Mapping[str, str] = os.environ,
        timing: Timing | None = None,
        is_local: Callable[[str], bool] = lambda address: True,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._patient = patient
        self._environ = dict(environ)
        if isinstance(settings, LaunchSettings) and not settings.submit:
            # The launched program finds its cluster by this environment, so the source uses the same one.
            self._environ.update({name: value for name, value in settings.env.items() if value is not None})
            for name in settings.env:
                if settings.env[name] is None:
                    self._environ.pop(name, None)
        self._timing = timing or Timing()
        self._launched = _launched(settings) if patient else ""
        self._joined: str | None = None
        self._search_pause_s = self._timing.search_s
        self._search_at = time.monotonic() + (self._search_pause_s if self._launched == "reports" else 0.0)
        self._news = asyncio.Event()
        self._dashboard: Dashboard | None = None
        self._location: Location | None = None
        self._searched: str | None = None
        self._ever_answered = False
        self._ever_paused = False
        self._ready_reported = False
        self._last: tuple[PausedWorker, ...] = ()
        self._active_at = time.monotonic()
        self._exit_reasons = ExitReasons(self._ask_exit_reasons, emit, self._timing.exit_reason_pauses_s)
        self._jobs = Jobs(self._ask_jobs, emit, self._timing.exit_reason_pauses_s)
        self._alive = AlivePolling(self._ask_alive, emit, self._timing.alive_pause_s)
        self._nodes = NodePolling(self._ask_nodes, emit, self._timing.nodes_pause_s)
        self._prepared = PreparedSearch(self._ask_jobs, self._ask_actors, is_local, emit, self._timing.prepared_pause_s)
        self._labels = LabelPolling(self._ask_labels, emit, self._label_delay_s, self._timing.label_pauses_s)

    def note_user_activity(self) -> None:
        """Polls quickly for a while."""
        self._active_at = time.monotonic()

    def note_nodes_reached(self) -> None:
        self._prepared.end()

    def note_cluster(self, address: str) -> None:
        if self._settings.dashboard is None:
            self._joined = address
            self._news.set()

    async def run(self) -> None:
        """Polls until it is cancelled, and retries after each ProblemError. May be called again after any exception."""
        try:
            await self._poll_forever()
        finally:
            await self._close_dashboard()

    async def look_up_labels(self, workers: tuple[PausedWorker, ...]) -> None:
        await self._labels.look_up(workers)

    async def list_actors(self) -> None:
        try:
            rows = await self._ask_actors()
        except ProblemError:
            rows = []
        self._emit(ActorsListed(tuple(map(labels.listed_actor, rows))))

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        self._emit(RayStateListed(number, await unfinished_work.read(self._dashboard)))

    async def watch_alive(self) -> None:
        await self._alive.run()

    async def look_up_exit_reason(self, worker: PausedWorker) -> None:
        await asyncio.gather(self._exit_reasons.look_up(worker), self._jobs.look_for_ends())

    async def cluster_access(self) -> ClusterAccess | None:
        if self._dashboard is None:
            return None
        try:
            session = await self._dashboard.session_name()
        except ProblemError:
            return None
        environ = ray_token.with_token_mode(self._environ) if self._dashboard.rest.sends_token else self._environ
        return ClusterAccess(session, environ) if session is not None else None

    async def _ask_labels(self, workers: tuple[PausedWorker, ...]) -> dict[WorkerKey, WorkerLabel]:
        return {} if self._dashboard is None else await self._dashboard.labels(workers)

    async def _ask_alive(self) -> dict[PausedWorker, WorkerLabel] | None:
        # Clients show the list of workers below the line that names the cluster and its jobs.
        await self._jobs.listed.wait()
        return None if self._dashboard is None else await self._dashboard.alive()

    async def _ask_nodes(self) -> dict[str, str]:
        return {} if self._dashboard is None else await self._dashboard.nodes()

    async def _ask_exit_reasons(self) -> dict[WorkerKey, tuple[str, str]]:
        return {} if self._dashboard is None else await self._dashboard.exit_reasons()

    async def _ask_actors(self) -> list[Row]:
        return [] if self._dashboard is None else await self._dashboard.actors()

    async def _ask_jobs(self) -> list[Row]:
        return [] if self._dashboard is None else await self._dashboard.jobs()

    async def _poll_forever(self) -> None:
        timing = self._timing
        failures = 0
        reported = False
        answered_at = time.monotonic()
        while True:
            asked_at = time.monotonic()
            try:
                paused = await self._poll()
            except ProblemError as error:
                # The cluster that comes back may be another one, at another address.
                await self._close_dashboard()
                failing_s = time.monotonic() - answered_at
                if not reported and failing_s >= self._grace_s(error.problem):
                    reported = True
                    self._emit(DiscoveryFailed(error.problem))
                await self._pause(min(timing.retry_s * 2 ** min(failures, 30), timing.max_retry_s))
                failures += 1
                continue
            failures, reported, answered_at = 0, False, time.monotonic()
            if not self._ready_reported:
                await self._report_ready(paused, asked_at)
            else:
                self._report(paused, asked_at)
            await self._jobs.list()
            if self._settings.reach != "paused":
                await self._nodes.poll()
                if self._nodes.count > 1:
                    await self._prepared.poll()
            await self._pause(self._next_poll_s())

    async def _pause(self, seconds: float) -> None:
        """Wait, but no longer than until the driver reports its cluster."""
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({news}, timeout=seconds)
        finally:
            news.cancel()
        self._news.clear()

    def _grace_s(self, problem: Problem) -> float:
        """The seconds for which a failure is not reported: a cluster may be starting, or end with its program."""
        if self._ever_answered:
            return self._timing.outage_grace_s
        return self._timing.startup_grace_s if self._patient and problem.code is not Code.BAD_ARGUMENT else 0.0

    async def _report_ready(self, paused: tuple[PausedWorker, ...], asked_at: float) -> None:
        assert self._dashboard is not None
        self._ready_reported = self._ever_answered = True
        session, sockets = None, ""
        if self._settings.reach != "paused":
            with suppress(ProblemError):
                session = await self._dashboard.session_name()
        if session is not None:
            sockets = await asyncio.to_thread(session_sockets.find, session, self._environ)
        self._emit(DiscoveryReady(self._dashboard.rest.where, sockets))
        # Before anything is waited for: a list of all workers would have the paused ones as running.
        self._report(paused, asked_at)
        if session is not None:
            await self._prepared.look_at_cluster(session)

    def _report(self, paused: tuple[PausedWorker, ...], asked_at: float) -> None:
        if paused or self._last:
            self._emit(WorkersPaused(paused, time.monotonic() - asked_at))
        if paused:
            self._ever_paused = True
        if paused and (self._settings.auto_attach or paused != self._last):
            # Without auto_attach a worker may stay paused for long, which is no reason to poll quickly.
            self.note_user_activity()
        self._last = paused

    def _next_poll_s(self) -> float:
        idle = time.monotonic() - self._active_at >= self._timing.idle_after_s
        return self._timing.idle_poll_s if idle else self._timing.poll_s

    def _label_delay_s(self, workers: int) -> float:
        at_once = workers <= self._timing.many_workers or self._settings.needs_labels
        return 0.0 if at_once else self._timing.many_workers_delay_s

    async def _poll(self) -> tuple[PausedWorker, ...]:
        if self._dashboard is None:
            await self._find()
        elif self._may_find_another():
            # If the search fails, the present cluster is still good.
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

    def _may_find_another(self) -> bool:
        """Whether the launched program may have joined another cluster since the last search."""
        if self._joined is not None:
            return self._joined != self._searched
        return self._launched == "silent" and not self._ever_paused and time.monotonic() >= self._search_at

    async def _find(self) -> None:
        location = await self._search()
        if self._dashboard is None or location != self._location:
            await self._close_dashboard()
            self._location = location
            self._dashboard = Dashboard(Rest(location.url, self._environ), self._prepared.look_at_jobs)

    async def _search(self) -> Location:
        """Raise ProblemError like `resolve`; NO_CLUSTER until a launched program has joined or started a cluster."""
        self._searched = named = self._joined or self._settings.dashboard
        launched = self._launched if chosen(named, self._environ)[1] is None else ""
        if launched and time.monotonic() < self._search_at:
            raise ProblemError(Problem(Code.NO_CLUSTER, "The launched program has not joined a Ray cluster yet."))
        try:
            location = await resolve(named, self._environ, launched)
            self._plan_search(launched)
            return location
        except ProblemError as error:
            self._plan_search(launched)
            if error.problem.code is not Code.CLUSTER_NOT_NAMED or self._location is None:
                raise
            # The user has started another cluster in the meantime, and still means the first one.
            return self._location

    def _plan_search(self, launched: Launched) -> None:
        """Set when the source searches again, if no driver has reported its cluster by then."""
        self._search_at = time.monotonic() + self._search_pause_s
        if launched == "reports":
            self._search_pause_s = min(2 * self._search_pause_s, self._timing.max_search_s)

    async def _close_dashboard(self) -> None:
        dashboard, self._dashboard = self._dashboard, None
        self._ready_reported = False
        if dashboard is not None:
            await dashboard.rest.close()


def _launched(settings: AttachSettings) -> Launched:
    """A submitted program starts no cluster on this machine. Without agents no driver reports its cluster."""
    if not isinstance(settings, LaunchSettings) or settings.submit:
        return ""
    return "silent" if settings.reach == "paused" else "reports"


def _no_cluster(detail: str) -> Problem:
    text = (
        "No Ray cluster was found on this machine; start one with `ray start --head`, "
        'or name its dashboard with the argument "dashboard".'
    )
    return Problem(Code.NO_CLUSTER, text, detail)
