"""Checks which files exist on this machine."""

import asyncio
import os
from collections.abc import Iterable

from raydap.bounded_wait import wait_for

TIMEOUT_S = 1.0
"""Seconds for a check of some files. A stack waits for it, once for each file."""


async def existing(paths: Iterable[str]) -> dict[str, bool]:
    """Return whether each file exists; True for all of them if the check times out.

    The check runs in a thread, because a network file system can be slow.
    """
    named = tuple(paths)
    found = asyncio.to_thread(lambda: {path: os.path.exists(path) for path in named})
    try:
        return await wait_for(found, TIMEOUT_S)
    except asyncio.TimeoutError:
        return dict.fromkeys(named, True)
