"""Threads that run until their next stop, and who waits for that."""

from collections.abc import Iterable

from raydap.core.flows import Future
from raydap.core.model.client import Request
from raydap.core.model.worker import Thread


class Arrivals:
    """`over` is done when all of the threads have stopped or ended, at the time `until`, or when nobody wants
    the answer to `request` any more. Those that have not stopped are `missing` then. If it `hides` their stops, clients
    do not see them, and `hidden` has the bodies of their `stopped`."""

    def __init__(self, request: Request, threads: Iterable[Thread], until: float, hides: bool = False) -> None:
        self.request = request
        self.missing = set(threads)
        self.until = until
        self.hides = hides
        self.hidden: dict[Thread, dict[str, object]] = {}
        self.over: Future[None] = Future()
        self._finish_if(not self.missing)

    def arrived(self, thread: Thread) -> None:
        self.missing.discard(thread)
        self._finish_if(not self.missing)

    def hide(self, thread: Thread, stopped: dict[str, object]) -> bool:
        """Takes a stop. Returns whether it is hidden; then it has arrived."""
        if not self.hides or self.over.done or thread not in self.missing:
            return False
        self.hidden[thread] = stopped
        return True

    def expire(self, now: float) -> None:
        self._finish_if(now >= self.until or not self.request.is_wanted)

    def _finish_if(self, is_over: bool) -> None:
        if is_over:
            self.over.set_result(None)
