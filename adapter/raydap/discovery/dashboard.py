"""The two questions asked of a Ray dashboard: who is paused, and what are they called."""

from collections.abc import Iterable, Mapping
from typing import Any

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import PausedWorker, WorkerLabel
from raydap.discovery.labels import Row, label
from raydap.discovery.rest import Params, Rest, garbage
from raydap.protocol.types import WorkerKey

_LIMIT = ("limit", "10000")


def _where(key: str, predicate: str, value: str) -> Params:
    return [("filter_keys", key), ("filter_predicates", predicate), ("filter_values", value)]


# Ray applies these two inside the GCS ("Special treatments for the Ray Debugger" in ray/util/state/state_manager.py).
# Without the second one dead workers stay listed as paused.
_PAUSED = [("detail", "1"), _LIMIT, *_where("num_paused_threads", "!=", "0"), *_where("is_alive", "=", "True")]

_DEAD = [("detail", "1"), _LIMIT, *_where("is_alive", "=", "False")]

_CRASHES = frozenset({"SYSTEM_ERROR", "NODE_OUT_OF_MEMORY"})
"""Of Ray's WorkerExitType (ray/src/ray/protobuf/common.proto): the ends that nobody wanted, but for one."""

_BY_SIGTERM = "by a signal"
"""In what Ray says of a worker that was asked to end, as all are whose job stops. It cannot see SIGKILL or a crash."""

# The state filter is applied inside the GCS, before the list is cut to its limit; one on worker_id would come after.
_RUNNING = [("detail", "1"), _LIMIT, *_where("state", "=", "RUNNING")]

_ACTORS = [_LIMIT, *_where("state", "!=", "DEAD")]


def is_crash(end: tuple[str, str]) -> bool:
    """Whether a worker that ended like this (as in Dashboard.ends) should not have."""
    kind, detail = end
    return kind in _CRASHES and _BY_SIGTERM not in detail


class Dashboard:
    """The state API and the Jobs API of one dashboard. Raises ProblemError; must be closed by `rest.close()`."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest

    async def paused(self) -> tuple[PausedWorker, ...]:
        """All live workers that wait for a debugger, in the dashboard's order."""
        rows = await self._rows("workers", _PAUSED)
        return tuple(worker for worker in map(_paused, rows) if worker is not None)

    async def ends(self) -> dict[WorkerKey, tuple[str, str]]:
        """How dead workers ended: Ray's WorkerExitType, and what it says besides."""
        rows = await self._rows("workers", _DEAD)
        return {
            WorkerKey(str(row.get("worker_id"))): (str(row.get("exit_type")), str(row.get("exit_detail") or ""))
            for row in rows
        }

    async def labels(self, workers: Iterable[PausedWorker]) -> dict[WorkerKey, WorkerLabel]:
        """What Ray knows of these workers now; see labels.label."""
        tasks = await self._rows("tasks", _RUNNING)
        actors = await self._rows("actors", _ACTORS)
        return label(workers, tasks, actors, await self._jobs())

    async def session(self) -> str | None:
        """The name of Ray's session, which no other cluster has; None where it is not told."""
        answer = await self.rest.get("/api/version")
        name = answer.get("session_name") if isinstance(answer, dict) else None
        return name if isinstance(name, str) and name else None

    async def _rows(self, resource: str, params: Params) -> list[Row]:
        answer = await self.rest.get(f"/api/v0/{resource}", params)
        if not isinstance(answer, dict) or "result" not in answer:
            raise garbage(self.rest.where, "does not answer as Ray does")
        if answer["result"] is not True:
            raise ProblemError(
                Problem(
                    Code.DASHBOARD_UNREACHABLE,
                    f"The Ray dashboard at {self.rest.where} cannot list {resource}; "
                    "is the cluster's head node healthy?",
                    str(answer.get("msg", ""))[:2000],
                )
            )
        rows = (answer.get("data") or {}).get("result")
        if isinstance(rows, dict):
            # Some versions of Ray nest the list once more, beside the totals.
            rows = rows.get("result")
        if not isinstance(rows, list):
            raise garbage(self.rest.where, "does not answer as Ray does")
        return [row for row in rows if isinstance(row, dict)]

    async def _jobs(self) -> list[Row]:
        try:
            jobs = await self.rest.get("/api/jobs/")
        except ProblemError:
            # Names of jobs are an extra: a cluster without the Jobs API keeps its tasks' and actors' names.
            return []
        return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []


def _paused(row: Mapping[str, Any]) -> PausedWorker | None:
    """A row of the worker list (ray/util/state/common.py, WorkerState); None if nobody could attach to it."""
    key, host, port = row.get("worker_id"), row.get("ip"), row.get("debugger_port")
    if not (isinstance(key, str) and key and isinstance(host, str) and host):
        return None
    if not (isinstance(port, int) and 0 < port < 65536):
        return None
    pid = row.get("pid")
    return PausedWorker(
        key=WorkerKey(key),
        host=host,
        port=port,
        pid=pid if isinstance(pid, int) else 0,
        node=host,
        node_id=str(row.get("node_id") or ""),
        worker_type="DRIVER" if row.get("worker_type") == "DRIVER" else "WORKER",
    )
