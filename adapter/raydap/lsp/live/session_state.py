"""What is known of one session's workers. No I/O."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from raydap.lsp.live.value_texts import Values
from raydap.protocol.raydap_messages import WorkerEntry


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a thread is stopped: its top frame. `line` counts from 1, `frame` is its id."""

    path: str
    line: int
    frame: int = 0


class SeenWorker(NamedTuple):
    """A worker, the seconds since its state began, and the places where its threads are stopped, by their ids."""

    entry: WorkerEntry
    age_s: float
    stops: dict[int, Stop]


class SessionState:
    """The workers by their keys; the stops, and the values of variables there, by their threads."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[WorkerEntry, float]] = {}
        self._stops: dict[int, Stop] = {}
        self._values: dict[int, Values] = {}
        self._counts: dict[int, int] = {}
        self._unknown: set[int] = set()
        self._count = 0

    def take(self, entries: Iterable[WorkerEntry]) -> None:
        """Takes workers that are new or have changed."""
        for entry in entries:
            if entry.state in ("gone", "detached"):
                self._entries.pop(entry.key, None)
            else:
                self._entries[entry.key] = entry, time.monotonic() - entry.age

    def expect(self, thread: int) -> int:
        """A thread has stopped, and its place is asked for. Returns the number of the stop."""
        self.forget(thread)
        self._count += 1
        self._counts[thread] = self._count
        self._unknown.add(thread)
        return self._count

    def is_expected(self, thread: int, count: int) -> bool:
        """Whether a thread is still at the stop with this number."""
        return self._counts.get(thread) == count

    def number(self, thread: int) -> int:
        """The number of the stop that a thread is at."""
        return self._counts[thread]

    @property
    def is_looking(self) -> bool:
        """Whether the place of a stop is still asked for."""
        return bool(self._unknown)

    def put(self, thread: int, count: int, stop: Stop | None) -> bool:
        """The place of a stop is known; None if it is in no file. False if the thread has run on since."""
        if not self.is_expected(thread, count):
            return False
        self._unknown.discard(thread)
        if stop is not None:
            self._stops[thread] = stop
        return True

    def put_values(self, thread: int, count: int, values: Values) -> bool:
        """The values of a stop are known, none if they cannot be read. False if the thread has run on since."""
        if not self.is_expected(thread, count):
            return False
        self._values[thread] = values
        return True

    def values(self, thread: int) -> Values | None:
        """Those of the stop that a thread is at; None if they are not known yet."""
        return self._values.get(thread)

    def stops(self, path: str) -> dict[int, Stop]:
        """The stops in a file, by their threads."""
        return {thread: stop for thread, stop in self._stops.items() if same_file(stop.path, path)}

    def forget(self, thread: int) -> None:
        """A thread runs on, or is gone."""
        self._stops.pop(thread, None)
        self._values.pop(thread, None)
        self._counts.pop(thread, None)
        self._unknown.discard(thread)

    def workers(self) -> Iterator[SeenWorker]:
        """All workers. A stop whose place is not known yet is left out."""
        now = time.monotonic()
        for entry, since in self._entries.values():
            threads = (thread.thread_id for thread in entry.threads)
            stops = {thread: self._stops[thread] for thread in threads if thread in self._stops}
            yield SeenWorker(entry, now - since, stops)


def same_file(one: str, other: str) -> bool:
    return _real(one) == _real(other)


@lru_cache(maxsize=1000)
def _real(path: str) -> str:
    return os.path.realpath(path)
