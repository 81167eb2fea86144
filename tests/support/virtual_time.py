"""An event loop whose clock jumps to the next timer, so that a test of pauses waits for none of them."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Advances `now`, in seconds, where another selector would wait."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(None if timeout is None else 0)
        if not ready and timeout:
            self.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, which begins at second 0.0 of `asyncio.get_running_loop().time()`."""
    loop = _Loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
