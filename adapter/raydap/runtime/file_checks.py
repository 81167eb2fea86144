"""Which files this machine has."""

import asyncio
import os
from collections.abc import Iterable

from raydap.bounded_wait import wait_for

TIMEOUT_S = 1.0
"""Seconds for a look whether some files exist. A stack waits for it, once for each file."""


async def existing(paths: Iterable[str]) -> dict[str, bool]:
    """Looks in a thread, because a network file system can be slow. Files count as there when the time is over."""
    named = tuple(paths)
    found = asyncio.to_thread(lambda: {path: os.path.exists(path) for path in named})
    try:
        return await wait_for(found, TIMEOUT_S)
    except asyncio.TimeoutError:
        return dict.fromkeys(named, True)
