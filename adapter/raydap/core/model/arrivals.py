"""Threads that run until their next stop, and the request that waits for them."""

from collections.abc import Iterable

from raydap.core.flows import Future
from raydap.core.model.client import Request
from raydap.core.model.worker import WorkerThread


class Arrivals:
    """The wait of a request until all of these threads have stopped or ended."""

    def __init__(self, request: Request, threads: Iterable[WorkerThread], until: float, hides: bool = False) -> None:
        self.request = request
        self.missing = set(threads)
        """The threads that have neither stopped nor ended yet."""
        self.until = until
        """The time at which the wait ends, even if threads are missing."""
        self.hides = hides
        """Whether the stops are hidden from clients."""
        self.hidden: dict[WorkerThread, dict[str, object]] = {}
        """The bodies of the hidden `stopped` events."""
        self.over: Future[None] = Future()
        """Done when no thread is missing, at the time `until`, or when the request no longer needs an answer."""
        self._finish_if(not self.missing)

    def arrived(self, thread: WorkerThread) -> None:
        """Note that a thread has stopped or ended."""
        self.missing.discard(thread)
        self._finish_if(not self.missing)

    def hide(self, thread: WorkerThread, stopped: dict[str, object]) -> bool:
        """Record a stop that has to be hidden, and return whether it has to. The caller then calls `arrived`."""
        if not self.hides or self.over.done or thread not in self.missing:
            return False
        self.hidden[thread] = stopped
        return True

    def expire(self, now: float) -> None:
        """End the wait if its time is over, or if the request no longer needs an answer."""
        self._finish_if(now >= self.until or not self.request.is_wanted)

    def _finish_if(self, is_over: bool) -> None:
        if is_over:
            self.over.set_result(None)
