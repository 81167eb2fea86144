"""The charts of the page as SVG: values over time, and the timeline of the workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from raydap.presentation.durations import duration
from raydap.presentation.numbers import digits
from raydap.presentation.short_text import shortened
from raydap.report.page_elements import Html, clock, element, joined
from raydap.report.records import Report, Series, TimelineSpan, WorkerRecord

WIDTH = 1100.0

COLOURS = 8
"""The number of colours for curves in page_style.py. All further series have the last colour."""

MAX_CURVES = 8
"""The largest number of workers with a curve each. More workers are drawn as one band from the lowest to the highest
value."""

MAX_ROWS = 60
"""The number of workers in the timeline. The trace and the JSON contain all."""

MAX_BARS = 4000
"""About how many bars the timeline contains at most, because a browser cannot show many more."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 12.0, 12.0, 22.0
_HEIGHT = 180.0
_ROW = 18.0


def values(series: Sequence[Series]) -> Html | None:
    """Return a chart of the numbers of workers over time; None if there is no number."""
    shown = [each for each in series if any(point.low is not None for point in each.points)]
    points = [point for each in shown for point in each.points]
    numbers = [each for point in points for each in (point.low, point.high) if each is not None]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    if low == high:
        low, high = low - (abs(low) or 1) / 10, high + (abs(high) or 1) / 10
    times = [point.time for point in points]
    x = _scale(min(times), max(times), _LEFT, WIDTH - _RIGHT)
    y = _scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    drawn = [_curve(each, index, x, y) for index, each in enumerate(shown)] if len(shown) <= MAX_CURVES else []
    band = None if drawn else _band(shown, x, y)
    bad = (point for point in points if point.nan or point.inf)
    nans = [element("line", class_="nan", x1=x(each.time), x2=x(each.time), y1=1.0, y2=9.0) for each in bad][:500]
    ticks = [_tick(value, y) for value in (low, (low + high) / 2, high)]
    return joined(
        element(
            "svg",
            *ticks,
            *_times(min(times), max(times), x, _HEIGHT),
            band,
            *drawn,
            *nans,
            class_="chart",
            viewBox=f"0 0 {WIDTH:g} {_HEIGHT:g}",
            role="img",
            aria_label="values over time",
        ),
        _legend(shown) if drawn else None,
    )


def _curve(series: Series, index: int, x: Callable[[float], float], y: Callable[[float], float]) -> Html:
    """Return a line through the last values of all points, over a band from their lowest to their highest values."""
    known = [point for point in series.points if point.last is not None]
    line = " ".join(f"{x(point.time):.1f},{y(point.last):.1f}" for point in known if point.last is not None)
    colour = f"c{min(index, COLOURS - 1)}"
    title = element("title", series.label)
    if len(known) == 1 and known[0].last is not None:
        return element(
            "g", title, element("circle", class_="dot", cx=x(known[0].time), cy=y(known[0].last), r=3.0), class_=colour
        )
    return element("g", title, _area(series, x, y), element("polyline", class_="curve", points=line), class_=colour)


def _area(series: Series, x: Callable[[float], float], y: Callable[[float], float]) -> Html | None:
    known = [
        (x(each.time), each.low, each.high) for each in series.points if each.low is not None and each.high is not None
    ]
    if all(low == high for _, low, high in known):
        return None
    above = [f"{at:.1f},{y(high):.1f}" for at, _, high in known]
    below = [f"{at:.1f},{y(low):.1f}" for at, low, _ in reversed(known)]
    return element("path", class_="band", d=f"M{' L'.join([*above, *below])} Z")


def _band(shown: Sequence[Series], x: Callable[[float], float], y: Callable[[float], float]) -> Html:
    """Return one area instead of many lines.

    In each hundredth of the chart's width it reaches from the lowest to the highest value of all workers.
    """
    slots: dict[int, list[float]] = {}
    for series in shown:
        for point in series.points:
            slot = slots.setdefault(int(x(point.time) / WIDTH * 100), [])
            slot += [each for each in (point.low, point.high) if each is not None]
    known = [((slot + 0.5) / 100 * WIDTH, min(each), max(each)) for slot, each in sorted(slots.items()) if each]
    above = [f"{at:.1f},{y(high):.1f}" for at, _, high in known]
    below = [f"{at:.1f},{y(low):.1f}" for at, low, _ in reversed(known)]
    title = element("title", f"{len(shown)} workers, from the lowest to the highest value")
    line = element("polyline", class_="curve", points=" ".join([*above, *below, *above[:1]]))
    return element("g", title, element("path", class_="band", d=f"M{' L'.join([*above, *below])} Z"), line, class_="c0")


def _legend(shown: Sequence[Series]) -> Html:
    entries = [
        element("span", element("i", class_=f"c{min(index, COLOURS - 1)}"), f"{each.label}: {_last(each)}")
        for index, each in enumerate(shown)
    ]
    return element("div", entries, class_="legend")


def _last(series: Series) -> str:
    point = series.points[-1]
    return digits(point.last) if point.last is not None else "nan" if point.nan else "inf"


def timeline(report: Report) -> Html | None:
    """Return a chart with a row of tasks and stops for each worker; None if there are neither."""
    spans = [*report.timeline.tasks, *report.timeline.pauses]
    if not spans:
        return None
    start = min(min(span.start for span in spans), report.started)
    end = report.ended or report.written
    by_worker: dict[str, list[tuple[TimelineSpan, bool]]] = {}
    for each in report.timeline.tasks:
        by_worker.setdefault(each.worker, []).append((each, False))
    for each in report.timeline.pauses:
        by_worker.setdefault(each.worker, []).append((each, True))
    workers = {each.key: each for each in report.workers}
    drivers = [each.key for each in report.workers if each.kind == "driver"]
    keys = [key for key in dict.fromkeys([*drivers, *workers, *by_worker]) if key in by_worker]
    shown = keys[:MAX_ROWS]
    height = _TOP + len(shown) * _ROW + _BOTTOM
    left = 150.0
    x = _scale(start, max(end, start + 0.001), left, WIDTH - _RIGHT)
    bars = max(MAX_BARS // len(shown), 20)
    rows = [
        _row(_label(key, workers.get(key)), _thinned(by_worker[key], bars), _TOP + index * _ROW, x, end)
        for index, key in enumerate(shown)
    ]
    more = f"and {len(keys) - len(shown)} more workers are in the trace and in the JSON" if keys[MAX_ROWS:] else None
    picture = element(
        "svg",
        *_times(start, end, x, height),
        *rows,
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_label="timeline of the workers",
    )
    return joined(picture, element("p", more, class_="soft small") if more else None)


def _label(key: str, worker: WorkerRecord | None) -> str:
    return f"worker {key[:8]}" if worker is None else worker.label


def _thinned(spans: list[tuple[TimelineSpan, bool]], most: int) -> list[tuple[TimelineSpan, bool]]:
    """Return the `most` longest tasks and stops. The others would hardly be visible."""
    if len(spans) <= most:
        return spans
    return sorted(spans, key=lambda each: (each[0].end or float("inf")) - each[0].start)[-most:]


def _row(
    name: str, spans: Iterable[tuple[TimelineSpan, bool]], top: float, x: Callable[[float], float], end: float
) -> Html:
    bars = [_bar(span, is_pause, top, x, end) for span, is_pause in sorted(spans, key=lambda each: each[1])]
    line = element("line", class_="row", x1=0.0, x2=WIDTH, y1=top + _ROW, y2=top + _ROW)
    return element("g", element("text", shortened(name, 22), x=4.0, y=top + 13), bars, line)


def _bar(span: TimelineSpan, is_pause: bool, top: float, x: Callable[[float], float], end: float) -> Html:
    until = end if span.end is None else span.end
    width = max(x(until) - x(span.start), 2.0 if is_pause else 1.0)
    what = f"stopped ({span.name})" if is_pause else span.name
    title = f"{what}: {clock(span.start)}, {duration(max(until - span.start, 0))}"
    kind = "pause" if is_pause else "failed" if span.state == "FAILED" else "open" if span.end is None else "task"
    place = {"y": top + 2, "height": _ROW - 4} if is_pause else {"y": top + 4, "height": _ROW - 8}
    return element("g", element("title", title), element("rect", class_=kind, x=x(span.start), width=width, **place))


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    size = (high - low) or 1.0
    return lambda value: min(max(first + (value - low) / size * (last - first), min(first, last)), max(first, last))


def _tick(value: float, y: Callable[[float], float]) -> Html:
    at = y(value)
    line = element("line", class_="grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=at, y2=at)
    return joined(line, element("text", digits(value), x=_LEFT - 6, y=at + 4, text_anchor="end"))


def _times(start: float, end: float, x: Callable[[float], float], height: float) -> Iterator[Html]:
    for part in range(5):
        at = start + (end - start) * part / 4
        anchor = "start" if part == 0 else "end" if part == 4 else "middle"
        yield element("text", clock(at), x=x(at), y=height - 6, text_anchor=anchor)
