"""The geometry of the page's charts, which templates/parts.html draws: values over time, and the timeline."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from raydap.presentation.clock_times import clock
from raydap.presentation.durations import duration
from raydap.presentation.numbers import digits
from raydap.presentation.short_text import shortened
from raydap.report.records import Report, Series, TimelineSpan

MAX_CURVES = 8
"""The largest number of workers with a curve each. More workers are drawn as one band from the lowest to the highest
value."""

MAX_MARKS = 500
"""The largest number of marks for values that are not finite."""

MAX_ROWS = 60
"""The number of workers in the timeline. The trace and the JSON contain all."""

MAX_BARS = 4000
"""About how many bars the timeline contains at most, because a browser cannot show many more."""

WIDTH = 1100.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, WIDTH - 12.0, 12.0, 22.0
_NAMES, _HEIGHT, _ROW = 150.0, 180.0, 18.0

Scale = Callable[[float], float]
"""Returns the coordinate of a value."""


Shape = tuple[str, str, str, Mapping[str, float | str]]
"""An element of SVG: its name, its classes in report.css, the content of a `text` or the tooltip of any other element,
and the attributes with coordinates."""


class Chart(NamedTuple):
    """A picture WIDTH wide."""

    title: str
    """What the picture shows."""
    height: float
    """The height, in the units of WIDTH."""
    shapes: Sequence[Shape]
    """The elements, from back to front."""
    legend: Sequence[tuple[str, str]] = ()
    """The class of each colour, and the worker with this colour."""


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
    shapes = _times(start, end, x, _HEIGHT)
    for value in (low, (low + high) / 2, high):
        shapes.append(_line("grid", _LEFT, y(value), _RIGHT, y(value)))
        shapes.append(_label(_LEFT - 6, y(value) + 4, "end", digits(value)))
    legend = []
    if len(shown) > MAX_CURVES:
        shapes += _band(shown, x, y)
    else:
        for index, each in enumerate(shown):
            shapes += _curve(each, f"c{index}", x, y)
            last = each.points[-1]
            text = digits(last.last) if last.last is not None else "nan" if last.nan else "inf"
            legend.append((f"c{index}", f"{each.label}: {text}"))
    bad = [x(each.time) for each in points if each.nan or each.inf][:MAX_MARKS]
    if bad:
        shapes += [_line("nan", at, 1, at, 9) for at in bad]
        legend.append(("nan", "not finite"))
    return Chart("values over time", _HEIGHT, shapes, legend)


def _curve(series: Series, colour: str, x: Scale, y: Scale) -> Iterator[Shape]:
    """Yield a line through the last values of all points, over an area from their lowest to their highest values."""
    known = [(x(point.time), y(point.last)) for point in series.points if point.last is not None]
    numbers = [(point.time, point.low, point.high) for point in series.points]
    ranges = [(x(at), y(low), y(high)) for at, low, high in numbers if low is not None and high is not None]
    if len(known) == 1:
        yield "circle", f"dot {colour}", series.label, {"cx": known[0][0], "cy": known[0][1], "r": 3}
        return
    if any(low != high for _, low, high in ranges):
        yield "polygon", f"band {colour}", series.label, _outline(ranges)
    yield "polyline", f"curve {colour}", series.label, _points(known)


def _band(shown: Sequence[Series], x: Scale, y: Scale) -> Iterator[Shape]:
    """Yield one area instead of many lines.

    In each hundredth of the chart's width it reaches from the lowest to the highest value of all workers.
    """
    slots: dict[int, list[float]] = {}
    for point in (point for series in shown for point in series.points):
        slot = slots.setdefault(int(x(point.time) / WIDTH * 100), [])
        slot += [y(each) for each in (point.low, point.high) if each is not None]
    ranges = [((slot + 0.5) / 100 * WIDTH, max(each), min(each)) for slot, each in sorted(slots.items()) if each]
    title = f"{len(shown)} workers, from the lowest to the highest value"
    yield from (("polygon", kind, title, _outline(ranges)) for kind in ("band c0", "curve c0"))


def _outline(ranges: Sequence[tuple[float, float, float]]) -> dict[str, str]:
    """Return the points above and then below an area. Each range has a horizontal and two vertical coordinates."""
    return _points([*((at, high) for at, _, high in ranges), *((at, low) for at, low, _ in reversed(ranges))])


def _points(places: Iterable[tuple[float, float]]) -> dict[str, str]:
    return {"points": " ".join(f"{x:.1f},{y:.1f}" for x, y in places)}


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Shape:
    return "line", kind, "", {"x1": x1, "y1": y1, "x2": x2, "y2": y2}


def _label(x: float, y: float, anchor: str, text: str) -> Shape:
    return "text", "", text, {"x": x, "y": y, "text-anchor": anchor}


def timeline(report: Report) -> Chart | None:
    """Return a chart with a row of tasks and stops for each worker; None if there are neither."""
    by_worker: dict[str, list[tuple[bool, TimelineSpan]]] = {}
    for is_pause, spans in enumerate((report.timeline.tasks, report.timeline.pauses)):
        for span in spans:
            by_worker.setdefault(span.worker, []).append((bool(is_pause), span))
    if not by_worker:
        return None
    labels = {worker.key: worker.label for worker in report.workers}
    drivers = [worker.key for worker in report.workers if worker.kind == "driver"]
    keys = [key for key in dict.fromkeys([*drivers, *labels, *by_worker]) if key in by_worker]
    shown = keys[:MAX_ROWS]
    start = min(report.started, *(span.start for spans in by_worker.values() for _, span in spans))
    end = max(report.end, start + 0.001)
    x = _scale(start, end, _NAMES, _RIGHT)
    height = _TOP + len(shown) * _ROW + _BOTTOM
    shapes = _times(start, end, x, height)
    for index, key in enumerate(shown):
        top = _TOP + index * _ROW
        shapes.append(_label(4, top + 13, "start", shortened(labels.get(key, f"worker {key[:8]}"), 22)))
        # If there are too many spans, show the longest. The others would hardly be visible. Stops are above tasks.
        longest = sorted(by_worker[key], key=lambda each: (each[1].end or float("inf")) - each[1].start)
        most = max(MAX_BARS // len(shown), 20)
        for is_pause, span in sorted(longest[-most:], key=lambda each: (each[0], each[1].start)):
            shapes.append(_bar(span, is_pause, top, x, end))
        shapes.append(_line("row", 0, top + _ROW, WIDTH, top + _ROW))
    if keys[MAX_ROWS:]:
        shapes.append(_label(4, height - 6, "start", f"and {len(keys) - MAX_ROWS} more workers"))
    return Chart("timeline of the workers", height, shapes)


def _bar(span: TimelineSpan, is_pause: bool, top: float, x: Scale, end: float) -> Shape:
    until = end if span.end is None else span.end
    kind = "pause" if is_pause else "failed" if span.state == "FAILED" else "open" if span.end is None else "task"
    what = f"stopped ({span.name})" if is_pause else span.name
    title = f"{what}: {clock(span.start)}, {duration(max(until - span.start, 0))}"
    width, edge = max(x(until) - x(span.start), 2.0 if is_pause else 1.0), 2 if is_pause else 4
    return "rect", kind, title, {"x": x(span.start), "y": top + edge, "width": width, "height": _ROW - 2 * edge}


def _scale(low: float, high: float, first: float, last: float) -> Scale:
    size = (high - low) or 1.0
    return lambda value: min(max(first + (value - low) / size * (last - first), min(first, last)), max(first, last))


def _times(start: float, end: float, x: Scale, height: float) -> list[Shape]:
    """Return the times of day along the lower edge of a chart."""
    anchors = ("start", "middle", "middle", "middle", "end") if end > start else ("start",)
    times = [start + (end - start) * part / 4 for part in range(len(anchors))]
    return [_label(x(at), height - 6, anchor, clock(at)) for at, anchor in zip(times, anchors, strict=True)]
