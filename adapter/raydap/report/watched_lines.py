"""The watched lines, with the hits, stacks and values of the workers that reached them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from linecache import getline
from typing import Any

import msgspec
from msgspec import UNSET

from raydap.analysis.sets import folding
from raydap.analysis.sets.folding import Answer, Holder
from raydap.analysis.sets.stack_tree import Place, StackTree
from raydap.inworker import calls
from raydap.protocol.stack_messages import StackNode
from raydap.protocol.value_messages import Statistics
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import KindCount, LineRecord, LookRecord, Point, Series, TextGroup, TraceRecord, Values
from raydap.report.trace_series import TraceSeries
from raydap.report.watch_arguments import WatchedLine

FIRST_LOOKS, LAST_LOOKS = 10, 10
"""The number of first and of last stops of each kind of worker that are kept one by one."""

MAX_MEMBERS = 100
"""The number of workers that a node of merged stacks names one by one."""


class HitMessage(Values, frozen=True):
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
        """The last stop of each worker whose stack could be read, by the worker's key."""
        self.counts: dict[str, int] = {}
        """The number of stops of each worker, by its key."""
        self._first: dict[str, list[LookRecord]] = {}
        self._last: dict[str, list[LookRecord]] = {}

    def add(self, kind: str, look: LookRecord) -> None:
        """Add a stop of a worker of this kind."""
        if look.frames:
            self.latest[look.worker] = look
        self.counts[look.worker] = self.counts.get(look.worker, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < FIRST_LOOKS:
            first.append(look)
        else:
            self._last[kind] = [*self._last.get(kind, ()), look][-LAST_LOOKS:]

    def kept(self, workers: KnownWorkers) -> tuple[LookRecord, ...]:
        """Return the first and the last stops of each kind of worker, in the order of time."""
        kinds: dict[str, list[LookRecord]] = {}
        for look in (look for looks in (*self._first.values(), *self._last.values()) for look in looks):
            named = msgspec.structs.replace(look, label=workers.label(look.worker))
            kinds.setdefault(workers.kind(look.worker), []).append(named)
        found = []
        for looks in kinds.values():
            looks.sort(key=lambda look: look.time)
            found += looks[:FIRST_LOOKS] + looks[FIRST_LOOKS:][-LAST_LOOKS:]
        return tuple(sorted(found, key=lambda look: look.time))

    def tree(self, workers: KnownWorkers) -> StackNode:
        """Return the last stacks of all workers, merged, with the variables of each frame."""
        members = workers.entries
        tree = StackTree(has_locals=True)
        for key, look in self.latest.items():
            places = [Place(each.location.name, each.location.path, each.location.line) for each in look.frames]
            if key in members:
                tree.add(places, Holder(None, members[key]), [each.variables for each in look.frames])
        return tree.root(MAX_MEMBERS)

    def statistics(self) -> dict[str, Statistics]:
        """Return the statistics of each variable of the innermost frame that is a number in all workers.

        A variable that only one worker has is left out.
        """
        answers: dict[str, list[Answer]] = {}
        for look in self.latest.values():
            for each in look.frames[-1].variables:
                answers.setdefault(each.name, []).append(Answer(each.value, each.type, UNSET))
        found = {name: folding.statistics(each) for name, each in answers.items() if len(each) > 1}
        return {name: each for name, each in found.items() if each is not None}


class _Hits:
    """The hits of a line by one worker.

    `stops` is the number of stops that raydap received. `reported` is the number of hits in the worker's last message.
    A worker that is attached again counts from 0, so `before` is the sum of its earlier counts.
    """

    def __init__(self) -> None:
        self.reported = self.before = self.stops = self.failed = 0
        self.error = ""

    @property
    def count(self) -> int:
        return max(self.before + self.reported, self.stops)

    def take(self, message: HitMessage) -> None:
        if message.hits < self.reported:
            self.before += self.reported
        self.reported, self.failed = message.hits, message.failed
        self.error = message.error or self.error


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
        self._hits: dict[str, _Hits] = {}
        self._series: dict[str, TraceSeries] = {}

    @property
    def keys(self) -> Iterable[str]:
        """The keys of the workers that reached the line."""
        return self._hits.keys()

    @property
    def hits(self) -> int:
        """The number of hits in all workers."""
        return sum(each.count for each in self._hits.values())

    def stop(self, key: str) -> None:
        """Count a stop of a worker."""
        self._hits.setdefault(key, _Hits()).stops += 1

    def count_hits(self, key: str, message: HitMessage, time: float) -> None:
        """Take a message of a worker, which arrived at `time`."""
        self._hits.setdefault(key, _Hits()).take(message)
        if self.watched.expression is not None and message.count:
            point = Point(time=time, **{name: getattr(message, name) for name in Values.__struct_fields__})
            self._series.setdefault(key, TraceSeries()).add(point, message.text)

    def record(self, workers: KnownWorkers) -> LineRecord:
        """Return the record of a line where workers stop."""
        return LineRecord(
            **self._place(),
            condition=self.watched.condition,
            call=self.call,
            counts=tuple(self._counts(workers)),
            tree=self.looks.tree(workers),
            statistics=self.looks.statistics(),
            looks=self.looks.kept(workers),
        )

    def trace_record(self, workers: KnownWorkers) -> TraceRecord:
        """Return the record of a line with an expression."""
        last = {key: each.last for key, each in self._series.items() if each.last is not None}
        numbers = {key: each for key, each in last.items() if isinstance(each, float)}
        texts = {key: each for key, each in last.items() if isinstance(each, str)}
        finite = {key: each for key, each in numbers.items() if math.isfinite(each)}
        low, high = min(finite.values(), default=0.0), max(finite.values(), default=0.0)
        return TraceRecord(
            **self._place(),
            expression=self.watched.expression or "",
            counts=tuple(self._counts(workers)),
            series=tuple(self._series_records(workers)),
            texts=tuple(_text_groups(texts, workers)),
            statistics=folding.statistics_of(list(numbers.values())) if numbers else UNSET,
            lowest=workers.labels(key for key, each in finite.items() if each == low),
            highest=workers.labels(key for key, each in finite.items() if each == high),
        )

    def _place(self) -> dict[str, Any]:
        watched = self.watched
        source = getline(watched.file, watched.line).strip()
        state = {"verified": self.verified, "message": "" if self.verified else self.message}
        return {"path": watched.file, "line": watched.line, "source": source, **state}

    def _counts(self, workers: KnownWorkers) -> Iterator[KindCount]:
        kinds: dict[str, list[str]] = {}
        for key in self._hits:
            kinds.setdefault(workers.kind(key), []).append(key)
        for kind, keys in sorted(kinds.items()):
            found = [self._hits[key] for key in keys]
            yield KindCount(
                kind=kind,
                workers=len(found),
                hits=sum(each.count for each in found),
                looked=sum(self.looks.counts.get(key, 0) for key in keys),
                failed=sum(each.failed for each in found),
                error=next((each.error for each in found if each.error), ""),
            )

    def _series_records(self, workers: KnownWorkers) -> Iterator[Series]:
        for key, series in sorted(self._series.items(), key=lambda each: workers.order(each[0])):
            yield Series(
                worker=key,
                label=workers.label(key),
                kind=workers.kind(key),
                hits=self._hits[key].count,
                points=tuple(series.points),
                texts=tuple(series.texts),
            )


def _text_groups(last: dict[str, str], workers: KnownWorkers) -> Iterator[TextGroup]:
    """Yield the workers grouped by their last text, the smallest group first."""
    groups: dict[str, list[str]] = {}
    for key, text in last.items():
        groups.setdefault(text, []).append(key)
    for text, keys in sorted(groups.items(), key=lambda group: (len(group[1]), group[0])):
        yield TextGroup(text=text, count=len(keys), label=workers.labels(keys))


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
                spec["logMessage"] = spec.get("logMessage", "") + calls.hit_message(
                    number, self._marker, watched.expression
                )
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
