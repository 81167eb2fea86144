"""The state of one session's workers. No I/O."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from raydap.lsp.live.value_texts import Values
from raydap.protocol.raydap_messages import WorkerEntry


@dataclass(frozen=True, slots=True)
class StopPlace:
    """The place where a thread is stopped: its top frame."""

    path: str
    """The path of the file, as the session knows it."""
    line: int
    """Counted from 1."""
    frame: int = 0
    """The id of the frame in the session."""


class SeenWorker(NamedTuple):
    """A worker at the present time."""

    entry: WorkerEntry
    """The worker's entry in the session's list of workers."""
    age_s: float
    """Seconds since the state of the worker began."""
    stops: dict[int, StopPlace]
    """The places where threads of the worker are stopped, by the threads' ids."""


class SessionState:
    """The workers of one session, with the places of their stops and the values there.

    Each stop has a number, because a thread may stop again before the answer about its earlier stop arrives.
    """

    def __init__(self) -> None:
        self._entries: dict[str, tuple[WorkerEntry, float]] = {}
        """The workers by their keys, each with the time (`time.monotonic`) when its state began."""
        self._stops: dict[int, StopPlace] = {}
        """The places of stops, by thread."""
        self._values: dict[int, Values] = {}
        """The values at stops, by thread."""
        self._counts: dict[int, int] = {}
        """The numbers of stops, by thread."""
        self._unknown: set[int] = set()
        """The threads whose places have been requested and have not arrived."""
        self._count = 0
        """The number of the last stop."""

    def take(self, entries: Iterable[WorkerEntry]) -> None:
        """Take workers that are new or have changed."""
        for entry in entries:
            if entry.state in ("gone", "detached"):
                self._entries.pop(entry.key, None)
            else:
                self._entries[entry.key] = entry, time.monotonic() - entry.age

    def expect(self, thread: int) -> int:
        """Begin a stop of a thread, whose place is being requested; return the number of the stop."""
        self.forget(thread)
        self._count += 1
        self._counts[thread] = self._count
        self._unknown.add(thread)
        return self._count

    def is_expected(self, thread: int, count: int) -> bool:
        """Return whether a thread is still at the stop with this number."""
        return self._counts.get(thread) == count

    def number(self, thread: int) -> int:
        """Return the number of the stop that a thread is at. Raises KeyError if the thread is not stopped."""
        return self._counts[thread]

    @property
    def is_looking(self) -> bool:
        """Whether the place of any stop has been requested and has not arrived."""
        return bool(self._unknown)

    def put(self, thread: int, count: int, stop: StopPlace | None) -> bool:
        """Set the place of a stop, None if it is not in a file; return False if the thread has been resumed."""
        if not self.is_expected(thread, count):
            return False
        self._unknown.discard(thread)
        if stop is not None:
            self._stops[thread] = stop
        return True

    def put_values(self, thread: int, count: int, values: Values) -> bool:
        """Set the values at a stop, {} if they cannot be read; return False if the thread has been resumed."""
        if not self.is_expected(thread, count):
            return False
        self._values[thread] = values
        return True

    def values(self, thread: int) -> Values | None:
        """Return the values at the stop of a thread; None if they have not arrived."""
        return self._values.get(thread)

    def stops(self, path: str) -> dict[int, StopPlace]:
        """Return the stops in a file, by thread."""
        return {thread: stop for thread, stop in self._stops.items() if same_file(stop.path, path)}

    def forget(self, thread: int) -> None:
        """Drop the stop of a thread that has been resumed or has ended."""
        self._stops.pop(thread, None)
        self._values.pop(thread, None)
        self._counts.pop(thread, None)
        self._unknown.discard(thread)

    def workers(self) -> Iterator[SeenWorker]:
        """Yield all workers, without stops whose places have not arrived."""
        now = time.monotonic()
        for entry, since in self._entries.values():
            threads = (thread.thread_id for thread in entry.threads)
            stops = {thread: self._stops[thread] for thread in threads if thread in self._stops}
            yield SeenWorker(entry, now - since, stops)


def same_file(one: str, other: str) -> bool:
    """Return whether two paths are the same after links are resolved."""
    return _real(one) == _real(other)


@lru_cache(maxsize=1000)
def _real(path: str) -> str:
    return os.path.realpath(path)
