"""The signals that end a command.

Before the process ends, the command ends what it has started, or detaches from it.
"""

import asyncio
import signal
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a request to terminate, and the end of the terminal or the SSH connection."""

END_TIMEOUT_S = 30.0
"""Seconds for a command to undo what it has begun."""


def end_signal(numbers: Iterable[signal.Signals] = ENDING) -> "asyncio.Future[int]":
    """Return a future whose result is the first of these signals that arrives. Needs a running event loop.

    A signal that the process ignores from its start stays ignored: `nohup` does that to SIGHUP.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ended.done():
            ended.set_result(number)

    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    return ended


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work, and return its result.

    SIGTERM and SIGHUP cancel the work, so that it undoes what it has begun. Raises SystemExit after such a signal, with
    the exit code that shells use for it, KeyboardInterrupt after Ctrl-C, and the exceptions of `work`.
    """
    number, result = asyncio.run(_until_signal(work))
    if number is not None:
        raise SystemExit(128 + number)
    assert result is not None
    return result.result()


async def _until_signal(work: Coroutine[Any, Any, T]) -> tuple[int | None, "asyncio.Future[T] | None"]:
    """Return the signal that ended the work, or else the finished task of the work."""
    ended = end_signal((signal.SIGTERM, signal.SIGHUP))
    task = asyncio.ensure_future(work)
    waits: set[asyncio.Future[Any]] = {task, ended}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=END_TIMEOUT_S)
    if not ended.done():
        return None, task
    # Ignore its errors: it may have tried to print how it ended to a terminal that is gone.
    if task.done():
        with suppress(asyncio.CancelledError, Exception):
            task.result()
    return ended.result(), None
