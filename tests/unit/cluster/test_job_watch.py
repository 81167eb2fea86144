"""The detection that a watched job has ended, in virtual time."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.cluster.dashboard.polls import PROCESS_POLLS, Poll
from raydap.cluster.jobs import job_watch
from raydap.cluster.jobs.job_watch import GONE_S, JobEnd, JobWatch
from raydap.report.ray_tasks import RayTasks
from support import virtual_time

RUNS, ENDED = {"status": "RUNNING"}, {"status": "SUCCEEDED"}


class SlowDashboard:
    """A dashboard that answers with these rows in turn, and then always with the last one."""

    def __init__(self, seconds: float, *rows: dict[str, str] | None) -> None:
        self.rest = SimpleNamespace(where="http://127.0.0.1:1")
        self.polls: set[Poll] = set()
        self.asked_at: list[float] = []
        self._seconds = seconds
        self._rows = list(rows)

    async def job(self, job: str) -> dict[str, str] | None:
        self.asked_at.append(asyncio.get_running_loop().time())
        self.polls |= PROCESS_POLLS.active
        await asyncio.sleep(self._seconds)
        return self._rows.pop(0) if len(self._rows) > 1 else self._rows[0]

    async def tasks(self, job: str) -> list[Any]:
        return []

    async def timeline(self, job: str) -> list[Any]:
        return []


@pytest.fixture(autouse=True)
def _virtual(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time())
    monkeypatch.setattr(job_watch, "time", clock)
    monkeypatch.setattr(PROCESS_POLLS, "active", set())


def end(dashboard: Any) -> JobEnd:
    return virtual_time.run(JobWatch("01000000", dashboard, {}).end())


def test_one_answer_without_the_job_is_no_end_though_the_dashboard_is_asked_seldom() -> None:
    dashboard = SlowDashboard(30.0, RUNS, RUNS, RUNS, None, ENDED)
    assert end(dashboard) == JobEnd(False, "Job 01000000 has ended.")
    assert (
        max(after - before for before, after in zip(dashboard.asked_at, dashboard.asked_at[1:], strict=False)) > GONE_S
    )


def test_a_job_that_stays_away_is_gone() -> None:
    dashboard = SlowDashboard(0.01, RUNS, None)
    assert end(dashboard).failed
    assert dashboard.asked_at[-1] - dashboard.asked_at[1] >= GONE_S


def test_an_outage_is_counted_anew_after_each_answer() -> None:
    outage = [None] * 20
    dashboard = SlowDashboard(0.01, RUNS, *outage, RUNS, *outage, ENDED)
    assert end(dashboard) == JobEnd(False, "Job 01000000 has ended.")


def test_the_polls_of_a_report_share_the_budget_of_its_session() -> None:
    dashboard: Any = SlowDashboard(0.01, RUNS, RUNS, ENDED)

    async def main() -> None:
        tasks = asyncio.ensure_future(RayTasks().follow(dashboard, lambda: ["01000000"]))
        await JobWatch("01000000", dashboard, {}).end()
        tasks.cancel()
        await asyncio.wait([tasks])

    virtual_time.run(main())
    assert len(dashboard.polls) == 2
