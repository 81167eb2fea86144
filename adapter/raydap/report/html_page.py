"""The HTML page of a report: one file that loads nothing from the network and needs no JavaScript."""

from collections.abc import Iterable, Iterator, Sequence

from raydap.presentation import folded_tables, stack_pictures
from raydap.presentation.durations import duration
from raydap.presentation.numbers import digits
from raydap.presentation.short_text import file_line
from raydap.protocol.value_messages import Statistics
from raydap.report import page_charts, page_findings, page_stacks
from raydap.report.page_elements import Html, clock, count, date, element, joined
from raydap.report.page_style import STYLE
from raydap.report.records import ErrorRecord, KindCount, LineRecord, Report, SampleRecord, TraceRecord

_OPEN = 3
"""The number of errors, and of lines, that are open when the page is loaded."""

_STATES = {
    "running": "running",
    "ended": "ended",
    "interrupted": "interrupted",
    "limit": "time limit",
    "failed": "failed",
}

_BADGES = {"running": "warn", "interrupted": "warn", "limit": "warn", "failed": "bad"}


def of_report(report: Report) -> str:
    """Return the page of a report."""
    body = joined(
        _header(report),
        _tiles(report),
        _first(report),
        _section("Errors", "errors", [_error(each, index, report) for index, each in enumerate(report.errors)]),
        _section("Stops", "stops", [_line(each, index, report) for index, each in enumerate(report.lines)]),
        _section("Values over time", "traces", [_trace(each, index) for index, each in enumerate(report.traces)]),
        _section("Stack samples", "samples", _samples(report)),
        _section("Timeline", "timeline", _timeline(report)),
        _section("Output", "output", _output(report)),
        _section("Workers", "workers", _workers(report)),
        _section("Messages", "notes", _notes(report)),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"raydap report: {report.title}"),
        element("style", Html(STYLE)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', body), lang='en')}\n"


def _section(title: str, anchor: str, children: Iterable[Html | None]) -> Html | None:
    shown = [each for each in children if each is not None]
    return joined(element("h2", title, id=anchor), shown) if shown else None


def _header(report: Report) -> Html:
    outcome = report.outcome
    if outcome.code is not None:
        badge = element("span", f"exit code {outcome.code}", class_=f"badge {'bad' if outcome.code else 'good'}")
    else:
        badge = element("span", _STATES[outcome.state], class_=f"badge {_BADGES.get(outcome.state, 'good')}")
    end = report.written if report.ended is None else report.ended
    facts = [
        f"began {date(report.started)}",
        f"{'has run for' if report.ended is None else 'took'} {duration(end - report.started)}",
        *([f"cluster {report.cluster}"] if report.cluster else []),
        f"raydap {report.raydap}",
    ]
    written = f" Page written at {clock(report.written)}." if report.ended is None else ""
    return joined(
        element("h1", report.title, " ", badge),
        element("div", " · ".join(facts), class_="soft small"),
        element("div", f"{outcome.text}{written}", class_="small"),
    )


def _tiles(report: Report) -> Html:
    own = [each for each in report.errors if not each.passed]
    hits = sum(each.hits for line in report.lines for each in line.counts)
    looked = sum(each.looked for line in report.lines for each in line.counts)
    traced = sum(series.hits for trace in report.traces for series in trace.series)
    paused, pauses = sum(each.paused for each in report.workers), sum(each.pauses for each in report.workers)
    longest = max((each.end - each.start for each in report.timeline.pauses if each.end is not None), default=0.0)
    tiles = [
        _tile("errors", len(own), "error", f"{sum(each.count for each in own)} in total", "bad" if own else ""),
        _tile("stops", hits, "hit", f"{count(looked, 'stack')} at {count(len(report.lines), 'line')}"),
        _tile("traces", traced, "value", f"of {count(len(report.traces), 'expression')}"),
        _tile("samples", len(report.samples), "sample", "of all stacks"),
        _tile("workers", len(report.workers), "worker", f"{count(pauses, 'pause')}, {duration(paused)} in total"),
    ]
    shown = [tile for tile, is_shown in zip(tiles, _shown(report, own), strict=True) if is_shown]
    note = f"Longest pause of a worker: {duration(longest)}." if longest else ""
    return joined(element("div", shown, class_="tiles"), element("div", note, class_="soft small") if note else None)


def _shown(report: Report, own: Sequence[ErrorRecord]) -> list[bool]:
    return [bool(own), bool(report.lines), bool(report.traces), bool(report.samples), True]


def _tile(anchor: str, size: int, one: str, detail: str, kind: str = "") -> Html:
    name = count(size, one)
    return element(
        "a",
        element("b", name),
        element("span", detail, class_="soft small"),
        href=f"#{anchor}",
        class_=f"tile {kind}".strip(),
    )


def _first(report: Report) -> Html:
    found = page_findings.of_report(report)
    if not found:
        return element("div", "Nothing stands out.", class_="first good")
    items = element("ul", [element("li", each) for each in found])
    return element("div", element("b", "Most urgent"), items, class_="first")


def _error(error: ErrorRecord, index: int, report: Report) -> Html:
    badge = element("span", f"{error.count} in {error.label}" if error.count > 1 else error.label, class_="badge")
    where = None if error.location is None else joined(" in ", page_stacks.place(error.location))
    first_line = error.text.strip().partition("\n")[0]
    title = joined(element("b", error.type), f": {first_line[:200]}" if first_line else "", where, " ", badge)
    inside = [
        element("p", "Ray passed this error on from a failed task or actor. See the error there.")
        if error.passed
        else None,
        element("pre", error.traceback) if error.traceback else None,
        page_stacks.tree(error.tree, {}) if error.tree.children else None,
        _single_looks(error.looks, report) if error.count > 1 else None,
    ]
    is_open = index < _OPEN and not error.passed
    return element(
        "details",
        element("summary", title),
        element("div", inside, class_="inside"),
        class_="error",
        id=f"error{index}",
        open=is_open,
    )


def _single_looks(looks: Sequence[object], report: Report) -> Html | None:
    shown = page_stacks.looks(looks, report.started)  # type: ignore[arg-type]
    title = element("summary", f"Single workers ({len(looks)})")
    return element("details", title, element("div", shown, class_="inside")) if looks else None


def _line(line: LineRecord, index: int, report: Report) -> Html:
    condition = joined(" if ", element("code", line.condition)) if line.condition else None
    what = " breakpoint() in the program" if line.call else None
    hits = sum(each.hits for each in line.counts)
    title = joined(_place(line), condition, what, " ", element("span", count(hits, "hit"), class_="badge"))
    inside = [
        _state(line),
        _counts(line.counts, "condition"),
        element("h3", "Last stop of each worker") if line.tree.children else None,
        page_stacks.tree(line.tree, line.statistics) if line.tree.children else None,
        _single_looks(line.looks, report),
    ]
    return element(
        "details",
        element("summary", title),
        element("div", inside, class_="inside"),
        id=f"line{index}",
        open=index < _OPEN,
    )


def _trace(trace: TraceRecord, index: int) -> Html:
    title = joined(element("code", trace.expression), " at ", _place(trace))
    kinds = list(dict.fromkeys(each.kind for each in trace.series))
    charts: list[Html | None] = []
    for kind in kinds:
        chart = page_charts.values([each for each in trace.series if each.kind == kind])
        charts += [element("h3", kind) if len(kinds) > 1 and chart is not None else None, chart]
    inside = [
        _state(trace),
        *charts,
        element("p", "Red marks: values that are not finite.", class_="soft small") if _has_bad(trace) else None,
        _statistics(trace),
        _texts(trace),
        _counts(trace.counts, "expression"),
    ]
    return element(
        "details", element("summary", title), element("div", inside, class_="inside"), id=f"trace{index}", open=True
    )


def _has_bad(trace: TraceRecord) -> bool:
    return any(point.nan or point.inf for series in trace.series for point in series.points)


def _place(line: LineRecord | TraceRecord) -> Html:
    where = element("b", file_line(line.path, line.line), title=f"{line.path}:{line.line}")
    return joined(where, [" ", element("code", line.source)] if line.source else None)


def _state(line: LineRecord | TraceRecord) -> Html | None:
    if line.counts:
        return None
    reason = "No worker reached this line." if line.verified or not line.message else line.message
    return element("p", reason, class_="soft")


def _counts(counts: Sequence[KindCount], what: str) -> Html | None:
    if not counts:
        return None
    has_looks, has_failed = any(each.looked for each in counts), any(each.failed for each in counts)
    heads = [("", ""), ("workers", "number"), ("hits", "number")]
    heads += [("inspected", "number")] if has_looks else []
    heads += [(f"the {what} failed", "number"), ("with", "")] if has_failed else []
    rows = [
        element(
            "tr",
            element("td", each.kind),
            _cell(each.workers),
            _cell(each.hits),
            _cell(each.looked) if has_looks else None,
            [_cell(each.failed), element("td", each.error, class_="value")] if has_failed else None,
        )
        for each in counts
    ]
    return element("table", element("thead", element("tr", _heads(heads))), element("tbody", rows))


def _heads(heads: Iterable[tuple[str, str]]) -> list[Html]:
    return [element("th", name, class_=kind or None) for name, kind in heads]


def _cell(value: int) -> Html:
    return element("td", f"{value:,}", class_="number")


def _statistics(trace: TraceRecord) -> Html | None:
    found = trace.statistics
    if not isinstance(found, Statistics):
        return None
    parts = [
        f"lowest {digits(found.min)} in {trace.lowest}" if found.min is not None else "",
        f"highest {digits(found.max)} in {trace.highest}" if found.max is not None else "",
        f"mean {digits(found.mean)}" if found.mean is not None else "",
        count(found.nan, "worker") + " with nan" if found.nan else "",
        count(found.inf, "worker") + " with inf" if found.inf else "",
    ]
    return element("p", f"Last values: {', '.join(part for part in parts if part)}.", class_="small")


def _texts(trace: TraceRecord) -> Html | None:
    if not trace.texts:
        return None
    rows = [
        element("tr", element("td", each.text, class_="value"), _cell(each.count), element("td", each.label))
        for each in trace.texts
    ]
    return joined(element("h3", "Last values"), element("table", element("tbody", rows)))


def _samples(report: Report) -> Iterator[Html]:
    for index, sample in enumerate(report.samples):
        root = sample.stacks.root
        title = joined(
            element("b", clock(sample.time)),
            f" (+{duration(max(sample.time - report.started, 0))}) ",
            element("span", root.label or "no workers", class_="badge"),
        )
        inside = element("div", _sample(sample), class_="inside")
        yield element("details", element("summary", title), inside, open=index == len(report.samples) - 1)


def _sample(sample: SampleRecord) -> Iterator[Html]:
    if sample.stacks.root.count:
        # `svg` escapes the texts of workers.
        yield element("div", Html(stack_pictures.svg(sample.stacks.root)), class_="scroll")
        yield element("pre", folded_tables.of_stacks(sample.stacks))
    rows = [element("tr", element("td", each.label), element("td", each.text)) for each in sample.places]
    if rows:
        title = element("summary", f"Each worker ({len(rows)})")
        yield element("details", title, element("div", element("table", element("tbody", rows)), class_="inside"))
    if sample.unread:
        yield element("p", f"{count(len(sample.unread), 'worker')} did not answer.", class_="soft small")


def _timeline(report: Report) -> Iterator[Html]:
    picture = page_charts.timeline(report)
    if picture is not None:
        yield picture
        text = "Blue: tasks, as listed by Ray. Red: stops; short stops are drawn wider so that they are visible."
        more = f" {report.timeline.more:,} more tasks and stops were not kept." if report.timeline.more else ""
        yield element("p", text + more, class_="soft small")


def _output(report: Report) -> Iterator[Html]:
    if report.output:
        is_bad = report.outcome.code != 0
        title = element("summary", f"The last {count(len(report.output), 'line')}")
        inside = element("div", element("pre", "\n".join(report.output)), class_="inside")
        yield element("details", title, inside, open=is_bad)


def _workers(report: Report) -> Iterator[Html]:
    if not report.workers:
        return
    heads = [("worker", ""), ("pid", "number"), ("node", ""), ("seen", ""), ("ended", ""), ("pauses", "number")]
    heads += [("paused", "number"), ("", "")]
    rows = [
        element(
            "tr",
            element("td", each.label),
            element("td", str(each.pid or ""), class_="number"),
            element("td", each.node),
            element("td", clock(each.seen)),
            element("td", "" if each.ended is None else clock(each.ended)),
            _cell(each.pauses),
            element("td", duration(each.paused) if each.pauses else "", class_="number"),
            element("td", each.problem),
        )
        for each in sorted(report.workers, key=lambda each: each.kind != "driver")
    ]
    table = element("table", element("thead", element("tr", _heads(heads))), element("tbody", rows))
    inside = element("div", element("div", table, class_="scroll"), class_="inside")
    yield element("details", element("summary", count(len(rows), "worker")), inside, open=len(rows) <= 20)


def _notes(report: Report) -> Iterator[Html]:
    rows = [
        element(
            "tr",
            element("td", clock(each.time), class_="soft"),
            element("td", each.text, f" ({each.count} times)" if each.count > 1 else ""),
        )
        for each in report.notes
    ]
    if rows:
        table = element("table", element("tbody", rows))
        yield element(
            "details", element("summary", count(len(rows), "message")), element("div", table, class_="inside")
        )
