"""Owned tasks: none is lost, and none fails silently."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from raydap.tasks import Tasks

WAIT = 30.0


def run(script: Callable[[Tasks], Awaitable[None]]) -> None:
    asyncio.run(script(Tasks()))  # type: ignore[arg-type]


async def fail() -> None:
    raise ValueError("odd")


async def forever() -> None:
    await asyncio.Event().wait()


def test_a_failure_is_logged_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = []

    async def script(tasks: Tasks) -> None:
        tasks.spawn(fail(), failures.append)
        tasks.spawn(fail())
        await asyncio.wait_for(tasks.wait(), WAIT)
        assert len(tasks) == 0

    run(script)
    assert [str(error) for error in failures] == ["odd"]
    assert caplog.text.count("ValueError: odd") == 2


@pytest.mark.parametrize("started", [False, True])
def test_a_cancelled_task_is_no_failure(started: bool, caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = []

    async def script(tasks: Tasks) -> None:
        tasks.spawn(forever(), failures.append)
        if started:
            await asyncio.sleep(0)
        tasks.cancel()
        await asyncio.wait_for(tasks.wait(), WAIT)

    run(script)
    assert failures == []
    assert caplog.text == ""


def test_tasks_that_tasks_start_are_waited_for() -> None:
    done: list[str] = []

    async def script(tasks: Tasks) -> None:
        async def first() -> None:
            await asyncio.sleep(0)
            tasks.spawn(second())

        async def second() -> None:
            await asyncio.sleep(0)
            done.append("second")

        tasks.spawn(first())
        await asyncio.wait_for(tasks.wait(), WAIT)

    run(script)
    assert done == ["second"]
