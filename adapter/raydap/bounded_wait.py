"""`asyncio.wait_for` as it is from Python 3.12 on.

Before, a task that is cancelled at the moment when what it waits for has its result is not cancelled, but goes on
(python/cpython#86296).
"""

import sys
from collections.abc import Awaitable
from typing import TypeVar

if sys.version_info >= (3, 11):
    from asyncio import timeout
else:
    from async_timeout import timeout

T = TypeVar("T")


async def wait_for(work: Awaitable[T], seconds: float | None) -> T:
    """Return the result of `work`. Cancel it after `seconds`, and raise asyncio.TimeoutError."""
    async with timeout(seconds):
        return await work
