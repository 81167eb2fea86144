"""The geometry of the page's charts, which templates/charts.html draws: values over time, and the timeline."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from raydap.presentation.clock_times import clock
from raydap.presentation.durations import duration
from raydap.presentation.numbers import digits
from raydap.presentation.short_text import shortened
from raydap.report.records import Report, Series, TimelineSpan

WIDTH = 1100.0

MAX_CURVES = 8
"""The largest number of workers with a curve each. More workers are drawn as one band from the lowest to the highest
value."""

MAX_MARKS = 500
"""The largest number of marks for values that are not finite."""

MAX_ROWS = 60
"""The number of workers in the timeline. The trace and the JSON contain all."""

MAX_BARS = 4000
"""About how many bars the timeline contains at most, because a browser cannot show many more."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, WIDTH - 12.0, 12.0, 22.0
_NAMES = 150.0
_HEIGHT = 180.0
_ROW = 18.0

Scale = Callable[[float], float]
"""Returns the coordinate of a value."""


class Label(NamedTuple):
    """A text in a chart."""

    x: float
    """The position of its anchor."""
    y: float
    """The position of its base line."""
    anchor: str
    """Which part of the text is at `x`: `start`, `middle` or `end`."""
    text: str
    """A number, a time of day, or the name of a worker."""


class Line(NamedTuple):
    """A straight line in a chart."""

    kind: str
    """The class: `grid`, `row`, or `nan` for a value that is not finite."""
    x1: float
    """The left end."""
    x2: float
    """The right end."""
    y1: float
    """The upper end."""
    y2: float
    """The lower end."""


class Curve(NamedTuple):
    """The values of a worker, or of all workers together."""

    title: str
    """The name of the worker."""
    last: str
    """The last value; "" for all workers together."""
    line: str
    """The points of the line through the last values."""
    area: str
    """The path around all values; "" if it has no area."""
    dot: tuple[float, float] | None
    """The position of a single value, which has no line; otherwise None."""


class Bar(NamedTuple):
    """A task or a stop in the timeline."""

    kind: str
    """The class: `task`, `open`, `failed` or `pause`."""
    title: str
    """The text of the tooltip."""
    x: float
    """The left edge."""
    y: float
    """The upper edge."""
    width: float
    """The width."""
    height: float
    """The height."""


class Chart(NamedTuple):
    """A picture WIDTH wide."""

    title: str
    """What the picture shows."""
    height: float
    """The height."""
    labels: Sequence[Label]
    """The texts."""
    lines: Sequence[Line]
    """The straight lines."""
    curves: Sequence[Curve] = ()
    """A curve for each worker, or one for all."""
    bars: Sequence[Bar] = ()
    """The tasks and the stops."""


def values(series: Sequence[Series]) -> Chart | None:
    """Return a chart of the numbers of workers over time; None if there is no number."""
    shown = [each for each in series if any(point.low is not None for point in each.points)]
    points = [point for each in shown for point in each.points]
    numbers = [each for point in points for each in (point.low, point.high) if each is not None]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    if low == high:
        low, high = low - (abs(low) or 1) / 10, high + (abs(high) or 1) / 10
    start, end = min(point.time for point in points), max(point.time for point in points)
    x, y = _scale(start, end, _LEFT, _RIGHT), _scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    ticks = [(y(value), digits(value)) for value in (low, (low + high) / 2, high)]
    bad = [x(each.time) for each in points if each.nan or each.inf][:MAX_MARKS]
    return Chart(
        title="values over time",
        height=_HEIGHT,
        labels=[*_times(start, end, x, _HEIGHT), *(Label(_LEFT - 6, at + 4, "end", text) for at, text in ticks)],
        lines=[*(Line("grid", _LEFT, _RIGHT, at, at) for at, _ in ticks), *(Line("nan", at, at, 1, 9) for at in bad)],
        curves=[_curve(each, x, y) for each in shown] if len(shown) <= MAX_CURVES else [_band(shown, x, y)],
    )


def _curve(series: Series, x: Scale, y: Scale) -> Curve:
    """Return a line through the last values of all points, over an area from their lowest to their highest values."""
    known = [(x(point.time), y(point.last)) for point in series.points if point.last is not None]
    ranges = [
        (x(each.time), each.low, each.high) for each in series.points if each.low is not None and each.high is not None
    ]
    last = series.points[-1]
    return Curve(
        title=series.label,
        last=digits(last.last) if last.last is not None else "nan" if last.nan else "inf",
        line=" ".join(_points(known)),
        area="" if len(known) == 1 or all(low == high for _, low, high in ranges) else _path(_outline(ranges, y)),
        dot=known[0] if len(known) == 1 else None,
    )


def _band(shown: Sequence[Series], x: Scale, y: Scale) -> Curve:
    """Return one area instead of many lines.

    In each hundredth of the chart's width it reaches from the lowest to the highest value of all workers.
    """
    slots: dict[int, list[float]] = {}
    for series in shown:
        for point in series.points:
            slot = slots.setdefault(int(x(point.time) / WIDTH * 100), [])
            slot += [each for each in (point.low, point.high) if each is not None]
    outline = _outline(
        [((slot + 0.5) / 100 * WIDTH, min(each), max(each)) for slot, each in sorted(slots.items()) if each], y
    )
    title = f"{len(shown)} workers, from the lowest to the highest value"
    return Curve(title, "", " ".join([*outline, *outline[:1]]), _path(outline), None)


def _outline(ranges: Sequence[tuple[float, float, float]], y: Scale) -> list[str]:
    """Return the points above and then below an area. Each range is its coordinate, lowest and highest value."""
    above = [(at, y(high)) for at, _, high in ranges]
    below = [(at, y(low)) for at, low, _ in reversed(ranges)]
    return _points([*above, *below])


def _points(places: Iterable[tuple[float, float]]) -> list[str]:
    return [f"{x:.1f},{y:.1f}" for x, y in places]


def _path(outline: Iterable[str]) -> str:
    return f"M{' L'.join(outline)} Z"


def timeline(report: Report) -> Chart | None:
    """Return a chart with a row of tasks and stops for each worker; None if there are neither."""
    spans = [(each, False) for each in report.timeline.tasks] + [(each, True) for each in report.timeline.pauses]
    if not spans:
        return None
    by_worker: dict[str, list[tuple[TimelineSpan, bool]]] = {}
    for span, is_pause in spans:
        by_worker.setdefault(span.worker, []).append((span, is_pause))
    labels = {each.key: each.label for each in report.workers}
    drivers = [each.key for each in report.workers if each.kind == "driver"]
    keys = [key for key in dict.fromkeys([*drivers, *labels, *by_worker]) if key in by_worker]
    shown = keys[:MAX_ROWS]
    start = min(report.started, *(span.start for span, _ in spans))
    end = max(report.end, start + 0.001)
    x = _scale(start, end, _NAMES, _RIGHT)
    most = max(MAX_BARS // len(shown), 20)
    rows = [(_TOP + index * _ROW, key) for index, key in enumerate(shown)]
    height = _TOP + len(shown) * _ROW + _BOTTOM
    names = [(top, shortened(labels.get(key, f"worker {key[:8]}"), 22)) for top, key in rows]
    if keys[MAX_ROWS:]:
        names.append((height - _BOTTOM, f"and {len(keys) - MAX_ROWS} more workers"))
    return Chart(
        title="timeline of the workers",
        height=height,
        labels=[*_times(start, end, x, height), *(Label(4, top + 13, "start", name) for top, name in names)],
        lines=[Line("row", 0, WIDTH, top + _ROW, top + _ROW) for top, _ in rows],
        bars=[_bar(*each, top, x, end) for top, key in rows for each in _thinned(by_worker[key], most)],
    )


def _thinned(spans: list[tuple[TimelineSpan, bool]], most: int) -> list[tuple[TimelineSpan, bool]]:
    """Return the `most` longest tasks, and then stops, in the order of time. The others would hardly be visible."""
    longest = sorted(spans, key=lambda each: (each[0].end or float("inf")) - each[0].start)[-most:]
    return sorted(longest, key=lambda each: (each[1], each[0].start))


def _bar(span: TimelineSpan, is_pause: bool, top: float, x: Scale, end: float) -> Bar:
    until = end if span.end is None else span.end
    kind = "pause" if is_pause else "failed" if span.state == "FAILED" else "open" if span.end is None else "task"
    what = f"stopped ({span.name})" if is_pause else span.name
    title = f"{what}: {clock(span.start)}, {duration(max(until - span.start, 0))}"
    width, edge = max(x(until) - x(span.start), 2.0 if is_pause else 1.0), 2 if is_pause else 4
    return Bar(kind, title, x(span.start), top + edge, width, _ROW - 2 * edge)


def _scale(low: float, high: float, first: float, last: float) -> Scale:
    size = (high - low) or 1.0
    return lambda value: min(max(first + (value - low) / size * (last - first), min(first, last)), max(first, last))


def _times(start: float, end: float, x: Scale, height: float) -> Iterator[Label]:
    for part, anchor in enumerate(("start", "middle", "middle", "middle", "end") if end > start else ("start",)):
        at = start + (end - start) * part / 4
        yield Label(x(at), height - 6, anchor, clock(at))
