"""Waiting for a result with a time limit."""

import asyncio

import pytest

from raydap.bounded_wait import wait_for


def test_a_task_is_cancelled_though_its_result_has_just_come() -> None:
    async def test() -> None:
        result: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(wait_for(result, 60))
        await asyncio.sleep(0)
        result.set_result(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(test())


def test_work_that_takes_too_long_is_cancelled() -> None:
    async def test() -> None:
        result: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with pytest.raises(asyncio.TimeoutError):
            await wait_for(result, 0)
        assert result.cancelled()

    asyncio.run(test())
