"""`asyncio.wait_for` without its lost cancellations.

Before Python 3.12, `asyncio.wait_for` drops a cancellation that arrives together with the result
(python/cpython#86296). The cancelled task then never ends.
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
    """Return the result of `work`, or cancel it after `seconds` and raise asyncio.TimeoutError.

    With None there is no time limit.
    """
    async with timeout(seconds):
        return await work
