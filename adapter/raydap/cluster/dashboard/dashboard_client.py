"""Questions to a Ray dashboard: which workers are paused, what they run, and how others have ended."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from raydap.cluster.dashboard.actor_numbers import ActorNumbers, CreatedActor
from raydap.cluster.dashboard.ray_facts import (
    Row,
    by_start,
    created_actors,
    facts_by_worker,
    milliseconds,
    work_by_worker,
)
from raydap.cluster.dashboard.rest import MAX_ANSWER, AnswerTooLong, Params, Rest, not_a_dashboard
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey

LIMIT = 10_000
"""Maximum number of rows that Ray returns (ray/util/state/common.py, RAY_MAX_LIMIT_FROM_API_SERVER)."""

ABSENCES = 5
"""How often the dashboard's table may lack an actor of Ray's list before the actor gets its number without it."""

_LIMIT = ("limit", str(LIMIT))

_SOME_WORKERS = "some running workers are not shown"

_SOME_TASKS = "some workers are shown without their current task"


def _where(key: str, predicate: str, value: str) -> Params:
    return [("filter_keys", key), ("filter_predicates", predicate), ("filter_values", value)]


# Ray applies these two filters in the GCS ("Special treatments for the Ray Debugger" in
# ray/util/state/state_manager.py). Without the second one, the list contains dead workers as paused.
_PAUSED = [("detail", "1"), _LIMIT, *_where("num_paused_threads", "!=", "0"), *_where("is_alive", "=", "True")]

# The GCS applies this filter, too, before it cuts the list to the limit.
_ALIVE = [_LIMIT, *_where("is_alive", "=", "True")]

# Only rows with details have debug ports.
_LISTED = [("detail", "1"), *_ALIVE]

_DEAD = [("detail", "1"), _LIMIT, *_where("is_alive", "=", "False")]

_CRASHES = frozenset({"SYSTEM_ERROR", "NODE_OUT_OF_MEMORY"})
"""The values of Ray's WorkerExitType (ray/src/ray/protobuf/common.proto) for unwanted ends; see ExitReason."""

_BY_SIGTERM = "by a signal"
"""Part of Ray's exit detail for a worker that got SIGTERM, as all workers of a stopped job do. Ray reports no other
signal."""

# Ray applies the state filter in the GCS, before it cuts the list to the limit. It would apply a filter on worker_id
# after the cut.
_RUNNING = [("detail", "1"), _LIMIT, *_where("state", "=", "RUNNING")]


def _where_not(key: str, *values: str) -> Params:
    return [pair for value in values for pair in _where(key, "!=", value)]


_PENDING = [("detail", "1"), _LIMIT, *_where_not("state", "FINISHED", "FAILED", "RUNNING")]

# Only rows with details have the runtime_env.
_UNFINISHED_JOBS = [("detail", "1"), _LIMIT, *_where_not("status", "SUCCEEDED", "FAILED", "STOPPED")]

_GROUPS = [("detail", "1"), _LIMIT, *_where("state", "!=", "REMOVED")]

# Only rows with details have the runtime_env and the repr.
_ACTORS = [("detail", "1"), _LIMIT, *_where("state", "!=", "DEAD")]


class ExitReason(NamedTuple):
    """How a worker has ended (ray/util/state/common.py, WorkerState)."""

    kind: str
    """Ray's WorkerExitType."""
    detail: str
    """Ray's sentences for users; may be empty."""
    ended_ms: int
    """Milliseconds since 1970; 0 if Ray does not report it."""

    @property
    def is_crash(self) -> bool:
        """Return whether the worker should not have ended."""
        return self.kind in _CRASHES and _BY_SIGTERM not in self.detail


_IDS = {"worker_id": str, "node_id": str, "task_id": str, "actor_id": str, "job_id": str, "pid": int}
"""The fields that identify rows, and their types."""

_NODES = [_LIMIT, *_where("state", "=", "ALIVE")]

_NODES_AGE_S = 1.0
"""Seconds for which raydap reuses an answer about the nodes of the same workers."""


class Dashboard:
    """The state API and the Jobs API of one dashboard.

    All methods raise ProblemError. The caller closes `rest`. `on_jobs` gets each answer of `jobs`. Whenever Ray or
    raydap has cut a list, `on_cut` gets a sentence for users about what may be missing.
    """

    def __init__(
        self,
        rest: Rest,
        on_jobs: Callable[[list[Row]], None] = lambda rows: None,
        on_cut: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.rest = rest
        self._on_jobs = on_jobs
        self._on_cut = on_cut
        self._jobs_too_long = False
        self._numbers = ActorNumbers()
        self._has_order = True
        self._absences: dict[str, int] = {}
        """How often the table with the order of creation has lacked an actor of Ray's list, by the actor's id."""
        """Whether the dashboard can list actors in the order of their creation."""
        self._nodes: dict[str, str] = {}
        self._nodes_asked: tuple[float, set[Any]] = (float("-inf"), set())

    async def paused(self) -> tuple[ProcessInfo, ...]:
        """Return all live workers that wait for a debugger, in the dashboard's order."""
        rows = await self._on_living_nodes(await self._rows("workers", _PAUSED, "raydap may miss some paused workers"))
        return tuple(worker for worker in map(_paused, rows) if worker is not None)

    async def alive(self) -> dict[ProcessInfo, RayFacts]:
        """Return live workers and drivers except raydap's own and Ray's own, with their facts.

        At most 10,000 are returned. Their `port` is 0.
        """
        rows = await self._on_living_nodes(await self._rows("workers", _ALIVE, _SOME_WORKERS))
        processes = [row for row in rows if row.get("worker_type") in ("WORKER", "DRIVER")]
        workers = [worker for row in processes if (worker := _worker(row, port=0)) is not None]
        facts = await self.ray_facts(workers)
        return {each: facts[each.key] for each in workers if each.key in facts and not is_own(facts[each.key])}

    async def listed(self) -> dict[ProcessInfo, int]:
        """Return live workers and drivers, with the number of their threads that wait for a debugger.

        At most 10,000 are returned. The `port` of a process without a debugger is 0.
        """
        rows = await self._on_living_nodes(await self._rows("workers", _LISTED, _SOME_WORKERS))
        found = {}
        for row in rows:
            port, threads = row.get("debugger_port"), row.get("num_paused_threads")
            worker = _worker(row, port=port if isinstance(port, int) else 0)
            if worker is not None and row.get("worker_type") in ("WORKER", "DRIVER"):
                found[worker] = threads if isinstance(threads, int) else 0
        return found

    async def _on_living_nodes(self, workers: list[Row]) -> list[Row]:
        """Return the rows of workers whose node is not dead.

        Ray keeps listing the workers of a dead node as alive, and as paused, for minutes. The nodes are read after the
        workers, so they include the node of a new worker. If the dashboard lists no node at all, all workers are
        returned, so that none is lost.
        """
        wanted = {row.get("node_id") for row in workers if row.get("node_id")}
        asked_at, asked = self._nodes_asked
        if wanted and (wanted != asked or time.monotonic() - asked_at >= _NODES_AGE_S):
            self._nodes_asked = (time.monotonic(), wanted)
            self._nodes = await self.nodes()
        return [row for row in workers if not row.get("node_id") or row["node_id"] in self._nodes or not self._nodes]

    async def nodes(self) -> dict[str, str]:
        """Return the addresses of all nodes that are alive, by Ray's hex ids."""
        rows = await self._rows("nodes", _NODES, "raydap may miss some nodes")
        return {str(row.get("node_id")): str(row.get("node_ip")) for row in rows if row.get("node_id")}

    async def exit_reasons(self) -> dict[WorkerKey, ExitReason]:
        """Return how dead workers have ended."""
        rows = await self._rows("workers", _DEAD, "raydap cannot report why some workers have ended")
        return {
            WorkerKey(str(row.get("worker_id"))): ExitReason(
                str(row.get("exit_type")), str(row.get("exit_detail") or ""), milliseconds(row.get("end_time_ms"))
            )
            for row in rows
        }

    async def ray_facts(self, workers: Iterable[ProcessInfo]) -> dict[WorkerKey, RayFacts]:
        """Return the facts about these workers."""
        wanted = tuple(workers)
        tasks = await self._rows("tasks", _RUNNING, _SOME_TASKS)
        actors = await self.actors()
        work = work_by_worker(wanted, tasks, actors)
        if not self._numbers.knows(each.actor_id for each in work.values() if each.actor_id):
            await self._number_actors(actors)
        return facts_by_worker(wanted, work, await self.jobs(), self._numbers)

    async def _number_actors(self, actors: list[Row]) -> None:
        """Assign numbers to the actors that are new. `actors` is Ray's list, which is in no order."""
        created = None
        if self._has_order:
            # The dashboard caches its answer for some seconds. Old versions do not know `nocache`.
            fresh = [("nocache", "1"), ("at", str(time.time_ns()))]
            # After an error these actors get numbers anyway. Only a dashboard that was silent is asked again.
            try:
                created = created_actors(await self.rest.get("/logical/actors", fresh))
                self._has_order = created is not None
            except ProblemError as error:
                self._has_order = error.problem.code is Code.DASHBOARD_UNREACHABLE
        self._numbers.take([*(created or ()), *by_start(self._without_late(actors, created))])

    def _without_late(self, actors: list[Row], created: list[CreatedActor] | None) -> list[Row]:
        """Return the actors without those that the dashboard's table does not have yet.

        The table lags behind Ray's list on a busy machine, and an actor keeps its first number. An actor that the table
        has lacked ABSENCES times is numbered without it.
        """
        if created is None:
            return actors
        known = {each.id for each in created}
        new = {str(row.get("actor_id")) for row in actors} - known
        self._absences = {each: self._absences.get(each, 0) + 1 for each in new}
        late = {each for each in new if self._absences[each] < ABSENCES and not self._numbers.knows([each])}
        return [row for row in actors if str(row.get("actor_id")) not in late]

    async def actors(self) -> list[Row]:
        """Return the rows of all actors that are not dead (ray/util/state/common.py, ActorState)."""
        return await self._rows("actors", _ACTORS, "some actors are shown without their class and name")

    async def unfinished_tasks(self) -> list[Row]:
        """Return the rows of tasks that have not ended (TaskState): running ones, and at most LIMIT others."""
        running, pending = await asyncio.gather(
            self._rows("tasks", _RUNNING, _SOME_TASKS),
            self._rows("tasks", _PENDING, "`hang` does not see all waiting tasks"),
        )
        return [*running, *pending]

    async def placement_groups(self) -> list[Row]:
        """Return the rows of all placement groups that are not removed (PlacementGroupState)."""
        return await self._rows("placement_groups", _GROUPS, "`hang` does not see all placement groups")

    async def node_resources(self) -> list[Row]:
        """Return the resources of each node that is alive, by their names."""
        rows = await self._rows("nodes", [("detail", "1"), *_NODES])
        return [each for row in rows if isinstance(each := row.get("resources_total"), dict)]

    async def used_resources(self) -> Row:
        """Return the amount of each resource that is in use in the whole cluster, as the autoscaler reports it.

        Return {} if the autoscaler reports nothing. It may write the names of custom resources differently, so these
        may be missing.
        """
        try:
            answer = await self.rest.get("/api/cluster_status")
        except ProblemError:
            return {}
        for key in ("data", "clusterStatus", "loadMetricsReport", "usage"):
            answer = answer.get(key) if isinstance(answer, dict) else None
        return answer if isinstance(answer, dict) else {}

    async def tasks(self, job: str) -> list[Row]:
        """Return the rows of the tasks of a job, at most 10,000 (ray/util/state/common.py, TaskState)."""
        return await self._rows("tasks", [("detail", "1"), _LIMIT, *_where("job_id", "=", job)])

    async def timeline(self, job: str) -> list[Row]:
        """Return the events of Ray's own timeline of a job (ray/_private/profiling.py, chrome_tracing_dump)."""
        events = await self.rest.get("/api/v0/tasks/timeline", [("job_id", job)])
        return [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []

    async def job_log(self, submission: str) -> str:
        """Return what a submitted job has printed; "" if the dashboard does not report it."""
        answer = await self.rest.get(f"/api/jobs/{submission}/logs")
        logs = answer.get("logs") if isinstance(answer, dict) else None
        return logs if isinstance(logs, str) else ""

    async def session_name(self) -> str | None:
        """Return the name of Ray's session, which is unique to a cluster; None if the dashboard does not report it."""
        name = (await self.version()).get("session_name")
        return name if isinstance(name, str) and name else None

    async def version(self) -> Row:
        """Return the dashboard's version and session (ray/dashboard/utils.py); empty if it reports none."""
        answer = await self.rest.get("/api/version")
        return answer if isinstance(answer, dict) else {}

    async def _rows(self, resource: str, params: Params, missing: str = "") -> list[Row]:
        """Return the rows of one of Ray's lists.

        `missing` is what a list that is cut leaves out, as a part of a sentence for users.
        """
        answer = await self.rest.get(f"/api/v0/{resource}", params)
        if not isinstance(answer, dict) or "result" not in answer:
            raise not_a_dashboard(self.rest.where, "does not answer like a Ray dashboard")
        if answer["result"] is not True:
            raise ProblemError(
                Problem(
                    Code.DASHBOARD_UNREACHABLE,
                    f"The Ray dashboard at {self.rest.where} cannot list {resource}; check the cluster's head node.",
                    str(answer.get("msg", ""))[:2000],
                )
            )
        data = answer.get("data")
        rows = data.get("result") if isinstance(data, dict) else None
        listed: object = None
        if isinstance(rows, dict):
            # Some versions of Ray nest the list once more, beside the totals.
            listed, rows = rows.get("num_after_truncation"), rows.get("result")
        if not isinstance(rows, list):
            raise not_a_dashboard(self.rest.where, "does not answer like a Ray dashboard")
        # Ray cuts a list before it applies the filters that the GCS does not have, and once more afterwards. The GCS
        # lists live actors before dead ones, so the first cut removes none of the actors that are wanted.
        was_cut = resource != "actors" and isinstance(listed, int) and listed >= LIMIT
        if missing and (was_cut or len(rows) >= LIMIT):
            self._on_cut(f"Ray lists at most {LIMIT:,} {resource.replace('_', ' ')}, so {missing}.")
        return [_cleaned(row) for row in rows if isinstance(row, dict)]

    async def jobs(self) -> list[Row]:
        """Return the rows of the Jobs API (ray/dashboard/modules/job/pydantic_models.py, JobDetails).

        If the list is too long, return only the rows of jobs that have not ended.
        """
        try:
            jobs = await self._all_jobs()
        except ProblemError:
            # Without the Jobs API the names of tasks and actors are still worth showing.
            return []
        rows: list[Row] = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
        self._on_jobs(rows)
        return rows

    async def job(self, job: str) -> Row | None:
        """Return the row of one job, by its hex id or submission id; None if the dashboard reports none."""
        try:
            row = await self.rest.get(f"/api/jobs/{job}")
        except ProblemError:
            return None
        return row if isinstance(row, dict) else None

    async def _all_jobs(self) -> Any:
        if not self._jobs_too_long:
            try:
                return await self.rest.get("/api/jobs/")
            except AnswerTooLong:
                self._jobs_too_long = True
                size = f"{MAX_ANSWER // 1024**2} MiB"
                text = f"The list of all jobs has more than {size}, so raydap cannot report how jobs have ended."
                self._on_cut(text)
        # The Jobs API has neither filters nor pages.
        return await self._rows("jobs", _UNFINISHED_JOBS, "raydap may miss some jobs")


def _cleaned(row: Row) -> Row:
    """Return the row without ids of other types than Ray's: another program may listen at the address."""
    wrong = {name for name, kind in _IDS.items() if not isinstance(row.get(name), (kind, type(None)))}
    return {name: value for name, value in row.items() if name not in wrong} if wrong else row


def _paused(row: Mapping[str, Any]) -> ProcessInfo | None:
    """Return the worker of a row (ray/util/state/common.py, WorkerState); None without a valid debug port."""
    port = row.get("debugger_port")
    return _worker(row, port) if isinstance(port, int) and 0 < port < 65536 else None


def _worker(row: Mapping[str, Any], port: int) -> ProcessInfo | None:
    """Return the process of a row; None if the row does not identify it."""
    key, host = row.get("worker_id"), row.get("ip")
    if not (isinstance(key, str) and key and isinstance(host, str) and host):
        return None
    pid = row.get("pid")
    return ProcessInfo(
        key=WorkerKey(key),
        host=host,
        port=port,
        pid=pid if isinstance(pid, int) and 0 < pid < 2**31 else 0,
        node=host,
        node_id=str(row.get("node_id") or ""),
        worker_type="DRIVER" if row.get("worker_type") == "DRIVER" else "WORKER",
    )


_OWN_ACTORS = ("RaydapRelay", "RaydapSurvey")

_OWN_DRIVER = "driver raydap_process.py"


def is_own(facts: RayFacts) -> bool:
    """Return whether this is a process of raydap: an actor on a node, or the driver that starts such actors."""
    return facts.actor in _OWN_ACTORS or facts.task == _OWN_DRIVER
