"""The source of workers for a Ray cluster: polls its dashboard for paused workers, even through outages."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from raydap.analysis.ray_state import ListCut
from raydap.cluster.dashboard import ray_facts, ray_token, unfinished_work
from raydap.cluster.dashboard.dashboard_address import DashboardLocation, Launched, chosen, resolve
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.exit_reasons import ExitReasons
from raydap.cluster.dashboard.facts_polling import FactsPolling
from raydap.cluster.dashboard.polls import PROCESS_POLLS, Poll, Polls
from raydap.cluster.jobs.job_list import Jobs
from raydap.cluster.jobs.prepared_search import PreparedSearch
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.cluster.source import WorkerSource
from raydap.core.events import (
    ActorsListed,
    DiscoveryFailed,
    DiscoveryReady,
    Event,
    NodesAlive,
    RayStateListed,
    WorkersAlive,
    WorkersPaused,
)
from raydap.core.process_info import ProcessInfo
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import raylets

LONGEST_PAUSE_S = 15.0
"""The longest pause of the poll that finds paused workers (polls.py). While many workers start, a dashboard on a busy
machine is slow for some seconds, but a worker that pauses then must still be seen soon."""

ALIVE_PERIOD_S, NODES_PERIOD_S = 2.0, 1.0
"""The periods of two polls: for all workers, while a client watches them, and for the nodes that are alive."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How often the source polls a cluster, and how long it waits for one, in seconds."""

    poll_s: float = 0.15
    """The period of the poll that finds paused workers."""
    idle_poll_s: float = 1.0
    """The period of the same poll once no worker was paused and the user did nothing for `idle_after_s`."""
    idle_after_s: float = 60.0
    """Time without a paused worker and without an action of the user, after which `idle_poll_s` applies."""
    startup_grace_s: float = 60.0
    """Time for which a patient source does not report failures, because a cluster may be starting."""
    search_s: float = 5.0
    """Until the driver of a launched program has reported its cluster, the source looks for a cluster that the program
    has started: first after this time, then after twice as long, and so on, up to `max_search_s`."""
    max_search_s: float = 60.0
    """The longest time between two such searches."""
    outage_grace_s: float = 5.0
    """Time for which no source reports failures once the cluster has answered."""
    scale: float = 1.0
    """A factor for all pauses of the polls, as in Polls."""


class RayCluster(WorkerSource):
    """Finds the cluster that the settings name, and polls it.

    `patient` is true while a program is being launched: a cluster that is missing may be starting. The agent of the
    program's driver reports which cluster it has joined (`note_cluster`).
    """

    def __init__(
        self,
        settings: AttachSettings,
        emit: Callable[[Event], None],
        patient: bool = False,
        environ: Mapping[str, str] = os.environ,
        timing: Timing | None = None,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._patient = patient
        # The launched program uses this environment to find its cluster, so the source does, too.
        own = settings.env if isinstance(settings, LaunchSettings) and not settings.submit else {}
        self._environ = {name: value for name, value in {**environ, **own}.items() if value is not None}
        self._timing = timing or Timing()
        self._launched = _launched(settings) if patient else ""
        self._joined: str | None = None
        self._search_pause_s = self._timing.search_s
        self._search_at = time.monotonic() + (self._search_pause_s if self._launched == "reports" else 0.0)
        self._news = asyncio.Event()
        self._dashboard: Dashboard | None = None
        self._location: DashboardLocation | None = None
        self._searched: str | None = None
        self._ever_answered = False
        self._ever_paused = False
        self._ready_reported = False
        self._last: tuple[ProcessInfo, ...] = ()
        self._active_at = time.monotonic()
        self._contact = asyncio.Event()
        """Set while the dashboard answers, once DiscoveryReady has been emitted."""
        self._answered_at = time.monotonic()
        self._outage_reported = False
        self._cut: set[str] = set()
        """The sentences about lists that were cut. Each is emitted once."""
        polls = self._polls = PROCESS_POLLS if timing is None else Polls(timing.scale)
        self._jobs = Jobs(polls, lambda: self._reached().jobs(), emit)
        self._exit_reasons = ExitReasons(polls, lambda: self._reached().exit_reasons(), self._jobs.look, emit)
        self._facts = FactsPolling(
            polls, lambda workers: self._reached().ray_facts(workers), emit, settings.needs_facts
        )
        self._nodes: Mapping[str, str] = {}
        self._several_nodes = asyncio.Event()
        self._prepared = PreparedSearch(lambda: self._reached().jobs(), lambda: self._reached().actors(), emit)

    def note_user_activity(self) -> None:
        """Poll quickly for `idle_after_s`."""
        self._active_at = time.monotonic()

    def note_nodes_reached(self) -> None:
        """End the search for prepared programs."""
        self._prepared.end()

    def note_cluster(self, address: str) -> None:
        """Switch to the cluster that the launched program has joined, unless the user has named one."""
        if self._settings.dashboard is None:
            self._joined = address
            self._news.set()

    async def run(self) -> None:
        """Poll until cancelled, and retry after each ProblemError. May be called again after any exception."""
        polls = [Poll(self._polls, self._poll, wake=self._news, longest_s=LONGEST_PAUSE_S)]
        if self._settings.reach != "paused":
            polls.append(Poll(self._polls, self._poll_nodes, after=self._contact))
            polls.append(Poll(self._polls, self._prepared.poll, after=self._several_nodes))
        self._answered_at = time.monotonic()
        self._outage_reported = False
        runs = [asyncio.ensure_future(poll.run()) for poll in polls]
        try:
            await asyncio.gather(*runs)
        finally:
            for each in runs:
                each.cancel()
            await asyncio.gather(*runs, return_exceptions=True)
            await self._close_dashboard()

    async def look_up_facts(self, workers: tuple[ProcessInfo, ...]) -> None:
        """Emit FactsListed as soon as facts are known, and again when they change."""
        await self._facts.look_up(workers)

    async def list_actors(self) -> None:
        """Emit ActorsListed once, without actors if the dashboard does not answer."""
        try:
            rows = await self._reached().actors()
        except ProblemError:
            rows = []
        self._emit(ActorsListed(tuple(map(ray_facts.listed_actor, rows))))

    async def list_unfinished_work(self, number: int, delay_s: float) -> None:
        """Emit RayStateListed once, with a problem if the dashboard does not answer."""
        await asyncio.sleep(delay_s)
        self._emit(RayStateListed(number, await unfinished_work.read(self._dashboard)))

    async def watch_alive(self) -> None:
        """Emit WorkersAlive repeatedly until cancelled."""
        # Clients show the list of workers below a line with the cluster and its jobs.
        await self._jobs.listed.wait()
        # A new poll each time: the run before may have been cancelled without having ended yet.
        await Poll(self._polls, self._poll_alive, "all workers").run()

    async def look_up_exit_reason(self, worker: ProcessInfo) -> None:
        """Emit WorkersEnded and JobsEnded when Ray reports that the worker or its job has ended."""
        await asyncio.gather(self._exit_reasons.look_up(worker), self._jobs.look_for_ends())

    async def cluster_access(self) -> ClusterAccess | None:
        """Return the session and the environment with which the relay joins the cluster.

        Return None while no dashboard answers.
        """
        if self._dashboard is None:
            return None
        try:
            session = await self._dashboard.session_name()
        except ProblemError:
            return None
        environ = ray_token.with_token_mode(self._environ) if self._dashboard.rest.sends_token else self._environ
        return ClusterAccess(session, environ) if session is not None else None

    def _reached(self) -> Dashboard:
        if self._dashboard is None:
            raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "raydap is not connected to a dashboard."))
        return self._dashboard

    async def _poll(self) -> float:
        """List the paused workers once, and emit what has changed.

        Raises ProblemError if that fails, and emits DiscoveryFailed once the failures have lasted for the grace period.
        """
        asked_at = time.monotonic()
        try:
            paused = await self._ask_paused()
        except ProblemError as error:
            # The cluster that comes back may be another one, at another address.
            await self._close_dashboard()
            failing_s = time.monotonic() - self._answered_at
            if not self._outage_reported and failing_s >= self._grace_s(error.problem):
                self._outage_reported = True
                self._emit(DiscoveryFailed(error.problem))
            raise
        self._outage_reported, self._answered_at = False, time.monotonic()
        if not self._ready_reported:
            await self._report_ready(paused, asked_at)
        else:
            self._report(paused, asked_at)
        await self._jobs.list()
        self._contact.set()
        return self._next_poll_s()

    async def _poll_alive(self) -> float:
        self._emit(WorkersAlive(await self._reached().alive()))
        return ALIVE_PERIOD_S

    async def _poll_nodes(self) -> float:
        """Emit NodesAlive if the nodes have changed. The nodes stay while the cluster does not answer."""
        nodes = await self._reached().nodes()
        if nodes != self._nodes:
            self._nodes = nodes
            self._emit(NodesAlive(nodes))
        if len(nodes) > 1:
            self._several_nodes.set()
        else:
            self._several_nodes.clear()
        return NODES_PERIOD_S

    def _grace_s(self, problem: Problem) -> float:
        """Return the seconds for which a failure is not reported.

        A cluster may be starting, or may end together with its program.
        """
        if self._ever_answered:
            return self._timing.outage_grace_s
        return self._timing.startup_grace_s if self._patient and problem.code is not Code.BAD_ARGUMENT else 0.0

    async def _report_ready(self, paused: tuple[ProcessInfo, ...], asked_at: float) -> None:
        assert self._dashboard is not None
        self._ready_reported = self._ever_answered = True
        session, sockets = None, ""
        if self._settings.reach != "paused":
            with suppress(ProblemError):
                session = await self._dashboard.session_name()
        if session is not None:
            sockets = await asyncio.to_thread(raylets.sockets_folder, session, self._environ)
        self._emit(DiscoveryReady(self._dashboard.rest.where, sockets))
        # Emit the paused workers before any wait: a list of all workers that came first would show them as running.
        self._report(paused, asked_at)
        if session is not None:
            await self._prepared.look_at_cluster(session)

    def _report(self, paused: tuple[ProcessInfo, ...], asked_at: float) -> None:
        if paused or self._last:
            self._emit(WorkersPaused(paused, time.monotonic() - asked_at))
        if paused:
            self._ever_paused = True
        if paused and (self._settings.auto_attach or paused != self._last):
            # Without auto_attach a worker may stay paused for long. Only a change is a reason to poll quickly then.
            self.note_user_activity()
        self._last = paused

    def _report_cut(self, text: str) -> None:
        if text not in self._cut:
            self._cut.add(text)
            self._emit(ListCut(text))

    def _next_poll_s(self) -> float:
        idle = time.monotonic() - self._active_at >= self._timing.idle_after_s
        return self._timing.idle_poll_s if idle else self._timing.poll_s

    async def _ask_paused(self) -> tuple[ProcessInfo, ...]:
        if self._dashboard is None:
            await self._find()
        elif self._may_find_another():
            # If the search fails, the source keeps the present cluster.
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
        """Return whether the launched program may have joined another cluster since the last search."""
        if self._joined is not None:
            return self._joined != self._searched
        return self._launched == "silent" and not self._ever_paused and time.monotonic() >= self._search_at

    async def _find(self) -> None:
        location = await self._search()
        if self._dashboard is None or location != self._location:
            await self._close_dashboard()
            self._location = location
            self._dashboard = Dashboard(location.client(self._environ), self._prepared.look_at_jobs, self._report_cut)

    async def _search(self) -> DashboardLocation:
        """Return the dashboard to use. Raises ProblemError as `resolve` does.

        Raises NO_CLUSTER until a launched program has joined or started a cluster.
        """
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
            # The user has started a second cluster in the meantime. The source keeps the first one.
            return self._location

    def _plan_search(self, launched: Launched) -> None:
        """Set the time of the next search, which takes place if no driver has reported its cluster by then."""
        self._search_at = time.monotonic() + self._search_pause_s
        if launched == "reports":
            self._search_pause_s = min(2 * self._search_pause_s, self._timing.max_search_s)

    async def _close_dashboard(self) -> None:
        dashboard, self._dashboard = self._dashboard, None
        self._ready_reported = False
        self._contact.clear()
        if dashboard is not None:
            await dashboard.rest.close()


def _launched(settings: AttachSettings) -> Launched:
    """Return the argument `launched` of `resolve`.

    A submitted program starts no cluster on this machine. Without agents, no driver reports its cluster.
    """
    if not isinstance(settings, LaunchSettings) or settings.submit:
        return ""
    return "silent" if settings.reach == "paused" else "reports"


def _no_cluster(detail: str) -> Problem:
    text = (
        "No Ray cluster was found on this machine; start one with `ray start --head`, "
        'or name its dashboard with the argument "dashboard".'
    )
    return Problem(Code.NO_CLUSTER, text, detail)
