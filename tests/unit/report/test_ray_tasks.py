"""The tasks that Ray lists, and the facts that the timeline keeps."""

import asyncio
from typing import Any

import pytest

from raydap.report import ray_tasks
from raydap.report.ray_tasks import RayTasks


class Dashboard:
    """A dashboard that always lists the same five tasks."""

    async def tasks(self, job: str) -> list[dict[str, Any]]:
        return [{"task_id": str(number), "start_time_ms": 1000, "worker_id": "w"} for number in range(5)]

    async def timeline(self, job: str) -> list[dict[str, Any]]:
        return []


def test_tasks_without_room_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_tasks, "MAX_TASKS", 3)
    tasks = RayTasks()

    async def script() -> None:
        for _ in range(4):
            await tasks.ask(Dashboard(), ["01000000"])  # type: ignore[arg-type]

    asyncio.run(script())
    assert (len(tasks.spans()), tasks.more) == (3, 2)
