"""The watched lines, with the hits, stacks and values of the workers that reached them, and the errors of workers."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from linecache import getline
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from raydap.analysis.sets import folding
from raydap.analysis.sets.folding import Answer, Holder
from raydap.analysis.sets.stack_tree import Place, StackTree
from raydap.inworker import calls
from raydap.protocol.stack_messages import CodeLocation, StackNode
from raydap.protocol.value_messages import Statistics
from raydap.report import records
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import (
    ErrorRecord,
    KindCount,
    LineRecord,
    LookRecord,
    Point,
    RaisedError,
    Series,
    TextGroup,
    TraceRecord,
)
from raydap.report.watch_arguments import WatchedLine

FIRST_LOOKS, LAST_LOOKS = 10, 10
"""The number of first and of last stops of each kind of worker that are kept one by one."""

MAX_MEMBERS = 100
"""The number of workers that a node of merged stacks names one by one."""

MAX_POINTS = 1000
"""When a series has this number of points, each pair of neighbours is merged into one point."""

MAX_TEXTS = 20
"""The number of values of a series that are not numbers and are kept."""

PASSED_ON = ("RayTaskError", "RayActorError", "ActorDiedError")
"""Prefixes of the types that Ray raises where a result of a failed task or actor is awaited (ray/exceptions.py)."""

T = TypeVar("T")


class HitMessage(records.Values, frozen=True):
    """A message of a worker about a line (inworker/line_hits.py). Workers are not trusted, so decoding checks it.

    Its values are those since the last message; `count` is 0 for a line without an expression.
    """

    line: int
    """The index of the line in `WatchedLines.lines`."""
    hits: int
    """The number of hits since the worker was attached."""
    failed: int
    """How often the condition or the expression raised an exception since the worker was attached."""
    text: str
    """The text of the last of these values if it is not a number; otherwise ""."""
    error: str
    """The last exception since the last message, as one line; otherwise ""."""


class Looks:
    """The stops at one line or for one error, with their stacks.

    The kind of a new worker may be found only later, so `kept` sorts the stops by kind again.
    """

    def __init__(self) -> None:
        self.latest: dict[str, LookRecord] = {}
        """The last stop of each worker whose stack could be read, by its key."""
        self.counts: dict[str, int] = {}
        """The number of stops of each worker, by its key."""
        self._kinds: dict[str, list[LookRecord]] = {}
        """The stops to keep, by the kind of worker known at the time."""

    def add(self, kind: str, look: LookRecord) -> None:
        """Add a stop of a worker of this kind."""
        if look.frames:
            self.latest[look.worker] = look
        self.counts[look.worker] = self.counts.get(look.worker, 0) + 1
        looks = self._kinds.setdefault(kind, [])
        looks.append(look)
        del looks[FIRST_LOOKS:-LAST_LOOKS]

    def kept(self, workers: KnownWorkers) -> tuple[LookRecord, ...]:
        """Return the first and the last stops of each kind of worker, in the order of time."""
        looks = sorted((look for looks in self._kinds.values() for look in looks), key=lambda look: look.time)
        kinds = _grouped((workers.kind(look.worker), look) for look in looks)
        found = [look for each in kinds.values() for look in each[:FIRST_LOOKS] + each[FIRST_LOOKS:][-LAST_LOOKS:]]
        named = [msgspec.structs.replace(look, label=workers.label(look.worker)) for look in found]
        return tuple(sorted(named, key=lambda look: look.time))

    def tree(self, workers: KnownWorkers) -> StackNode:
        """Return the last stacks of all workers, merged, with the variables of each frame."""
        tree = StackTree(has_locals=True)
        for key, look in self.latest.items():
            places = [Place(each.location.name, each.location.path, each.location.line) for each in look.frames]
            if key in workers.entries:
                tree.add(places, Holder(None, workers.entries[key]), [each.variables for each in look.frames])
        return tree.root(MAX_MEMBERS)

    def statistics(self) -> dict[str, Statistics]:
        """Return the statistics of each variable of the innermost frame that is a number in all workers.

        A variable that only one worker has is left out.
        """
        variables = [each for look in self.latest.values() for each in look.frames[-1].variables]
        answers = _grouped((each.name, Answer(each.value, each.type, UNSET)) for each in variables)
        found = {name: folding.statistics(each) for name, each in answers.items() if len(each) > 1}
        return {name: each for name, each in found.items() if each is not None}


class TraceSeries:
    """The values of an expression in one worker, in no more points than a chart can show."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.texts: list[tuple[float, str]] = []
        """The last values that are not numbers, each with its time. A repeated value is kept once."""
        self.last: float | str | None = None
        """The last value: a number, or the text of any other value; None before the first one."""

    def add(self, point: Point, text: str) -> None:
        """Add the values of one interval. `text` is the last value if it is not a number; otherwise ""."""
        if text:
            if not self.texts or self.texts[-1][1] != text:
                self.texts = [*self.texts, (point.time, text)][-MAX_TEXTS:]
            self.last = text
            return
        self.points.append(point)
        self.last = point.last if point.last is not None else math.nan if point.nan else math.inf
        if len(self.points) >= MAX_POINTS:
            self.points = [_merged(self.points[at : at + 2]) for at in range(0, len(self.points), 2)]


def _merged(points: Sequence[Point]) -> Point:
    low = min((each.low for each in points if each.low is not None), default=None)
    high = max((each.high for each in points if each.high is not None), default=None)
    sums = {name: sum(getattr(each, name) for each in points) for name in ("count", "nan", "inf")}
    return msgspec.structs.replace(points[-1], low=low, high=high, **sums)


@dataclass(slots=True)
class _Hits:
    """The hits of a line by one worker."""

    reported: int = 0
    """The number of hits in the worker's last message."""
    before: int = 0
    """The sum of the worker's earlier counts: a worker that is attached again counts from 0."""
    stops: int = 0
    """The number of stops that raydap received."""
    failed: int = 0
    """How often the condition or the expression failed, by the last message."""
    error: str = ""
    """The last exception, as one line."""
    series: TraceSeries = field(default_factory=TraceSeries)
    """The values of the expression."""

    @property
    def count(self) -> int:
        return max(self.before + self.reported, self.stops)

    def take(self, message: HitMessage, time: float) -> None:
        if message.hits < self.reported:
            self.before += self.reported
        self.reported, self.failed = message.hits, message.failed
        self.error = message.error or self.error
        if message.count:
            values = {name: getattr(message, name) for name in records.Values.__struct_fields__}
            self.series.add(Point(time=time, **values), message.text)


class SeenLine:
    """The hits, stops and values at a watched line, or at a line where the program calls `breakpoint()`."""

    def __init__(self, watched: WatchedLine, call: bool = False) -> None:
        self.watched = watched
        self.call = call
        """Whether the program calls `breakpoint()` there, and the user did not name the line."""
        self.verified = call
        """Whether the breakpoint has been verified in a worker."""
        self.message = ""
        """The last message of debugpy or raydap about the breakpoint."""
        self.looks = Looks()
        self.workers: defaultdict[str, _Hits] = defaultdict(_Hits)
        """The hits of each worker that reached the line, by its key."""

    @property
    def hits(self) -> int:
        """The number of hits in all workers."""
        return sum(each.count for each in self.workers.values())

    def stop(self, key: str) -> None:
        """Count a stop of a worker."""
        self.workers[key].stops += 1

    def count_hits(self, key: str, message: HitMessage, time: float) -> None:
        """Take a message of a worker, which arrived at `time`."""
        self.workers[key].take(message, time)

    def record(self, workers: KnownWorkers) -> LineRecord:
        """Return the record of a line where workers stop."""
        return LineRecord(
            **self._reached(workers),
            condition=self.watched.condition,
            call=self.call,
            tree=self.looks.tree(workers),
            statistics=self.looks.statistics(),
            looks=self.looks.kept(workers),
        )

    def trace_record(self, workers: KnownWorkers) -> TraceRecord:
        """Return the record of a line with an expression."""
        last = {key: each.series.last for key, each in self.workers.items() if each.series.last is not None}
        numbers = {key: each for key, each in last.items() if isinstance(each, float)}
        texts = _grouped((each, key) for key, each in last.items() if isinstance(each, str))
        smallest_first = sorted(texts.items(), key=lambda group: (len(group[1]), group[0]))
        finite = {key: each for key, each in numbers.items() if math.isfinite(each)}
        low, high = min(finite.values(), default=0.0), max(finite.values(), default=0.0)
        return TraceRecord(
            **self._reached(workers),
            expression=self.watched.expression or "",
            series=tuple(self._series(key, workers) for key in sorted(last, key=workers.order)),
            texts=tuple(TextGroup(text=a, count=len(keys), label=workers.labels(keys)) for a, keys in smallest_first),
            statistics=folding.statistics_of(list(numbers.values())) if numbers else UNSET,
            lowest=workers.labels(key for key, each in finite.items() if each == low),
            highest=workers.labels(key for key, each in finite.items() if each == high),
        )

    def _reached(self, workers: KnownWorkers) -> dict[str, Any]:
        """Return the fields of a `WatchedRecord`."""
        kinds = _grouped((workers.kind(key), key) for key in self.workers)
        return {
            "path": self.watched.file,
            "line": self.watched.line,
            "source": getline(self.watched.file, self.watched.line).strip(),
            "verified": self.verified,
            "message": "" if self.verified else self.message,
            "counts": tuple(self._count(kind, keys) for kind, keys in sorted(kinds.items())),
        }

    def _count(self, kind: str, keys: Sequence[str]) -> KindCount:
        found = [self.workers[key] for key in keys]
        hits, failed = sum(each.count for each in found), sum(each.failed for each in found)
        looked = sum(self.looks.counts.get(key, 0) for key in keys)
        error = next((each.error for each in found if each.error), "")
        return KindCount(kind=kind, workers=len(found), hits=hits, looked=looked, failed=failed, error=error)

    def _series(self, key: str, workers: KnownWorkers) -> Series:
        found = self.workers[key]
        points, texts = tuple(found.series.points), tuple(found.series.texts)
        label, kind = workers.label(key), workers.kind(key)
        return Series(worker=key, label=label, kind=kind, hits=found.count, points=points, texts=texts)


class WatchedLines:
    """All watched lines of a run.

    `marker` surrounds each message of a worker in its output. It must be hard to guess, because the program prints to
    the same output.
    """

    def __init__(self, lines: Sequence[WatchedLine], marker: str) -> None:
        self.lines = [SeenLine(each) for each in lines]
        """The lines that the user named, in the user's order."""
        self.calls: dict[tuple[str, int], SeenLine] = {}
        """The places where the program called `breakpoint()`, by path and line."""
        self._marker = marker
        self._ids: dict[int, list[SeenLine]] = {}
        """The lines of each breakpoint, by its id in the session."""

    def breakpoints(self) -> dict[str, list[dict[str, Any]]]:
        """Return the breakpoints of each file (spec: SourceBreakpoint).

        debugpy has one breakpoint in a line, so all expressions of a line go into one log message.
        """
        found: dict[str, dict[int, dict[str, Any]]] = {}
        for number, seen in enumerate(self.lines):
            watched = seen.watched
            spec = found.setdefault(watched.file, {}).setdefault(watched.line, {"line": watched.line})
            if watched.expression is None:
                spec["condition"] = calls.stops_at_hit(number, self._marker, watched.condition)
            else:
                message = calls.hit_message(number, self._marker, watched.expression)
                spec["logMessage"] = spec.get("logMessage", "") + message
        return {file: list(specs.values()) for file, specs in found.items()}

    def take_answers(self, file: str, specs: list[dict[str, Any]], answers: Iterable[dict[str, Any]]) -> None:
        """Take the breakpoints in the answer to `setBreakpoints`, which are in the order of `specs`."""
        for spec, answer in zip(specs, answers, strict=False):
            at = [each for each in self.lines if (each.watched.file, each.watched.line) == (file, spec["line"])]
            self._ids[answer["id"]] = at
            self.take_breakpoint(answer)

    def take_breakpoint(self, breakpoint: dict[str, Any]) -> None:
        """Take the new state of a breakpoint (spec: Breakpoint). A breakpoint that was verified once stays so."""
        for seen in self._ids.get(breakpoint.get("id", 0), ()):
            seen.verified = breakpoint.get("verified") is True or seen.verified
            seen.message = str(breakpoint.get("message") or "")

    def at_stop(self, stopped: Mapping[str, Any], place: tuple[str, int] | None) -> SeenLine | None:
        """Return the line where a thread has stopped for a breakpoint; None if it cannot be found.

        `stopped` is the body of the event, and `place` the path and line of the innermost frame, None if it is not
        known. A place that the user did not name is taken for a call of `breakpoint()`.
        """
        for number in stopped.get("hitBreakpointIds") or ():
            for seen in self._ids.get(number, ()):
                return seen
        if place is None:
            return None
        for seen in self.lines:
            if seen.watched.expression is None and (seen.watched.file, seen.watched.line) == place:
                return seen
        return self.calls.setdefault(place, SeenLine(WatchedLine(*place), call=True))


class SeenErrors:
    """The errors of one run. Errors of the same type that are raised at the same place are equal."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, CodeLocation | None], tuple[RaisedError, float, Looks]] = {}
        """The first of equal errors, the time of its stop, and the stops for all of them, by type and place."""

    def add(self, error: RaisedError, kind: str, look: LookRecord) -> bool:
        """Record a stop for an error in a worker of this kind; return whether no equal error was known before."""
        key = error.type, look.frames[-1].location if look.frames else None
        is_new = key not in self._errors
        self._errors.setdefault(key, (error, look.time, Looks()))[2].add(kind, look)
        return is_new

    def records(self, workers: KnownWorkers) -> list[ErrorRecord]:
        """Return the errors in the order of their first stops.

        Errors that Ray passed on come last, because they only repeat the error of a failed task or actor.
        """
        found = [
            ErrorRecord(
                **msgspec.structs.asdict(error),
                location=location,
                passed=error.type.startswith(PASSED_ON),
                count=sum(looks.counts.values()),
                label=workers.labels(looks.counts),
                first=time,
                tree=looks.tree(workers),
                looks=looks.kept(workers),
            )
            for (_, location), (error, time, looks) in self._errors.items()
        ]
        return sorted(found, key=lambda record: (record.passed, record.first))


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Return the values of each key, in the order of `pairs`."""
    found: dict[str, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
