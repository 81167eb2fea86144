"""A large cluster: raydap's share of its dashboard's time, and the reports about lists that Ray cuts."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from raydap.analysis.ray_state import ListCut
from raydap.cluster import ray_cluster
from raydap.cluster.dashboard.dashboard_address import DashboardLocation
from raydap.cluster.dashboard.rest import MAX_ANSWER, AnswerTooLong, Params
from raydap.cluster.ray_cluster import RayCluster
from raydap.core.events import AgentsExpected, Event, JobsListed, WorkersAlive, WorkersPaused
from raydap.core.settings import AttachSettings
from raydap.errors import Code, Problem
from support import virtual_time

LIMIT = 10_000
"""Ray's RAY_MAX_LIMIT_FROM_API_SERVER and RAY_MAX_LIMIT_FROM_DATA_SOURCE (ray/util/state/common.py)."""

GCS_FILTERS = {
    ("workers", "num_paused_threads", "!="),
    ("workers", "is_alive", "=True"),
    ("actors", "state", "="),
    ("tasks", "state", "="),
    ("tasks", "state", "!="),
    ("nodes", "state", "="),
}
"""The filters that Ray applies before it cuts a list (ray/util/state/state_manager.py)."""

REQUEST_S, ROW_S = 0.003, 0.0001
"""Seconds that a dashboard needs for a request, and for each row that it reads."""

_LONGEST_QUESTION_S = 3.0
"""The time for the lists of all workers, tasks, actors and jobs."""

Rows = list[dict[str, Any]]


class LargeCluster:
    """Stands in for Rest: the dashboard of a large cluster, with Ray's limits, in virtual time."""

    where = "http://large:8265"
    sends_token = False

    def __init__(self, job_bytes: int, workers: int = 40) -> None:
        self.calls: Counter[str] = Counter()
        self.busy_s = 0.0
        self.busy_after: dict[float, float] = {}
        self.lists: dict[str, Rows] = {
            "workers": [_worker(number, number < workers) for number in range(10_000 + workers)],
            "tasks": [_task(number, "RUNNING") for number in range(12_000)],
            "actors": [],
            "nodes": [{"node_id": f"n{number}", "node_ip": f"10.0.0.{number}", "state": "ALIVE"} for number in (1, 2)],
            "jobs": [_job(number) for number in range(5000)],
        }
        self.lists["tasks"] += [_task(number, "FINISHED") for number in range(88_000)]
        self._job_bytes = job_bytes
        self._answers: dict[tuple[Any, ...], tuple[int, Rows]] = {}

    async def get(self, path: str, params: Params | None = None) -> Any:
        self.calls[path] += 1
        resource = path.rpartition("/api/v0/")[2]
        if path == "/api/version":
            return await self._spend(0, {})
        if path == "/api/jobs/":
            rows = await self._spend(len(self.lists["jobs"]), self.lists["jobs"])
            if len(rows) * self._job_bytes > MAX_ANSWER:
                raise AnswerTooLong(Problem(Code.DASHBOARD_GARBAGE, "It is too long."))
            return rows
        query: dict[str, list[str]] = {}
        for name, value in params or []:
            query.setdefault(name, []).append(value)
        assert int(query["limit"][0]) <= LIMIT, "Ray refuses this"
        filters = list(zip(query["filter_keys"], query["filter_predicates"], query["filter_values"], strict=True))
        question = resource, *filters
        if question not in self._answers:
            self._answers[question] = self._list(resource, filters)
        listed, rows = self._answers[question]
        body = {"total": listed, "num_after_truncation": listed, "num_filtered": len(rows), "result": rows[:LIMIT]}
        return await self._spend(listed, {"result": True, "msg": "", "data": {"result": body}})

    def _list(self, resource: str, filters: list[tuple[str, str, str]]) -> tuple[int, Rows]:
        """Return the number of rows that the GCS sends to the dashboard, and the rows of the dashboard's answer."""
        rows = self.lists[resource]
        for each in filters:
            if (resource, each[0], each[1]) in GCS_FILTERS or (resource, each[0], each[1] + each[2]) in GCS_FILTERS:
                rows = [row for row in rows if _matches(row, *each)]
        rows = rows[:LIMIT]
        return len(rows), [row for row in rows if all(_matches(row, *each) for each in filters)]

    async def close(self) -> None:
        pass

    async def _spend(self, rows: int, answer: Any) -> Any:
        seconds = REQUEST_S + rows * ROW_S
        self.busy_s += seconds
        await asyncio.sleep(seconds)
        return answer


def _matches(row: dict[str, Any], key: str, predicate: str, value: str) -> bool:
    return (str(row[key]) == value) is (predicate == "=")


def _worker(number: int, is_alive: bool) -> dict[str, Any]:
    return {
        "worker_id": f"w{number}",
        "ip": "10.0.0.1",
        "pid": number,
        "node_id": "n1",
        "worker_type": "WORKER",
        "debugger_port": 40_000,
        "num_paused_threads": 1 if number == 0 else 0,
        "is_alive": is_alive,
        "exit_type": "SYSTEM_ERROR",
    }


def _task(number: int, state: str) -> dict[str, Any]:
    return {"worker_id": f"w{number + 1}", "func_or_class_name": "train", "job_id": "01000000", "state": state}


def _job(number: int) -> dict[str, Any]:
    status = "RUNNING" if number == 4999 else "SUCCEEDED"
    return {"submission_id": f"raysubmit_{number}", "job_id": f"{number:08x}", "status": status, "entrypoint": "a"}


def watch(monkeypatch: pytest.MonkeyPatch, cluster: LargeCluster, seconds: float) -> list[Event]:
    """Watch all workers of the cluster for this long; return the events.

    Labels and an exit reason are looked up each minute.
    """
    events: list[Event] = []

    async def resolve(*_: object) -> DashboardLocation:
        return DashboardLocation(cluster.where)

    async def main() -> None:
        source = RayCluster(AttachSettings(), events.append, environ={})
        works = [asyncio.ensure_future(source.run()), asyncio.ensure_future(source.watch_alive())]
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(60.0)
            cluster.busy_after[asyncio.get_running_loop().time()] = cluster.busy_s
            paused = next(event.workers for event in events if isinstance(event, WorkersPaused))
            works.append(asyncio.ensure_future(source.look_up_facts(paused)))
            works.append(asyncio.ensure_future(source.look_up_exit_reason(paused[0])))
        for each in works:
            each.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    monkeypatch.setattr(ray_cluster, "resolve", resolve)
    monkeypatch.setattr(DashboardLocation, "client", lambda *_: cluster)
    virtual_time.run(main())
    return events


def test_a_large_cluster_spends_little_of_its_time_on_raydap(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = LargeCluster(job_bytes=52_000)
    events = watch(monkeypatch, cluster, 1800.0)
    # The first answer of each poll is not charged, and each poll may begin with a burst.
    begin, end = cluster.busy_after[600.0], cluster.busy_after[1800.0]
    assert 0.02 * 1200.0 < end - begin <= 0.05 * 1200.0 + _LONGEST_QUESTION_S
    assert cluster.calls["/api/jobs/"] == 1, "its answer is too long"
    assert len([event for event in events if isinstance(event, WorkersPaused)]) > 1000, "quick"
    alive = [event for event in events if isinstance(event, WorkersAlive)]
    assert len(alive) > 5
    assert len(alive[-1].workers) == 40


def test_each_list_that_is_cut_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    events = watch(monkeypatch, LargeCluster(job_bytes=52_000), 300.0)
    assert sorted(event.text for event in events if isinstance(event, ListCut)) == [
        "Ray lists at most 10,000 tasks, so some workers are shown without their current task.",
        "Ray lists at most 10,000 workers, so raydap cannot report why some workers have ended.",
        "The list of all jobs has more than 64 MiB, so raydap cannot report how jobs have ended.",
    ]
    assert [event.running for event in events if isinstance(event, JobsListed)] == [("raysubmit_4999",)]
    assert not [event for event in events if isinstance(event, AgentsExpected)]


def test_a_cluster_that_ray_lists_as_a_whole_has_no_such_report(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = LargeCluster(job_bytes=2000)
    cluster.lists["workers"] = cluster.lists["workers"][:9000]
    cluster.lists["tasks"] = cluster.lists["tasks"][:9000]
    # Ray lists dead actors after living ones.
    cluster.lists["actors"] = [{"state": "DEAD", "actor_id": f"a{number}"} for number in range(20_000)]
    events = watch(monkeypatch, cluster, 300.0)
    assert not [event for event in events if isinstance(event, ListCut)]
    assert len([event for event in events if isinstance(event, WorkersAlive)]) > 2
