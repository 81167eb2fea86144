"""The findings at the top of the page: what the user should look at first, one line each."""

import math
from collections.abc import Iterator

from raydap.presentation.short_text import file_line, function_line, shortened
from raydap.protocol.stack_messages import FoldedVariable, StackNode
from raydap.report.page_elements import Html, count, element, joined
from raydap.report.records import LineRecord, Report, TraceRecord

MAX_FINDINGS = 20

MIN_ALIKE = 3
"""The number of workers that must have the same value before a different value is a finding."""


def of_report(report: Report) -> list[Html]:
    """Return the findings of a report, the most urgent first.

    If there are more than MAX_FINDINGS, a last line contains the number of the others.
    """
    found = [*_errors(report), *_workers(report), *_traces(report), *_lines(report), *_samples(report)]
    more = [joined(f"and {len(found) - MAX_FINDINGS} more below")] if len(found) > MAX_FINDINGS else []
    return [*found[:MAX_FINDINGS], *more]


def _link(to: str, text: str) -> Html:
    return element("a", text, href=f"#{to}")


def _errors(report: Report) -> Iterator[Html]:
    for index, error in enumerate(report.errors):
        if not error.passed:
            where = "" if error.location is None else f" ({file_line(error.location.path, error.location.line)})"
            times = f", {count(error.count, 'time')}" if error.count > 1 else ""
            yield joined(_link(f"error{index}", f"{error.type}{where}"), f" in {error.label or 'a worker'}{times}")


def _workers(report: Report) -> Iterator[Html]:
    for worker in report.workers:
        if worker.problem:
            yield joined(f"{worker.label}: {worker.problem}")


def _traces(report: Report) -> Iterator[Html]:
    for index, trace in enumerate(report.traces):
        bad = [each.label for each in trace.series if any(point.nan or point.inf for point in each.points)]
        if bad:
            named = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
            yield joined(_link(f"trace{index}", trace.expression), f" was not finite in {named}")
        yield from _of_line(trace, f"trace{index}")


def _lines(report: Report) -> Iterator[Html]:
    for index, line in enumerate(report.lines):
        yield from _of_line(line, f"line{index}")
        for name, text in _apart(line.tree):
            yield joined(_link(f"line{index}", name), f" {text}")


def _of_line(line: LineRecord | TraceRecord, anchor: str) -> Iterator[Html]:
    place = file_line(line.path, line.line)
    failed = [each for each in line.counts if each.failed]
    if failed:
        what = "expression" if isinstance(line, TraceRecord) else "condition"
        times = count(sum(each.failed for each in failed), "time")
        yield joined(_link(anchor, place), f": the {what} failed {times}: {failed[0].error}")
    elif not line.counts:
        reason = "no worker reached this line" if line.verified or not line.message else line.message
        yield joined(_link(anchor, place), f": {reason}")


def _apart(node: StackNode) -> Iterator[tuple[str, str]]:
    """Yield the name of each variable in which a few workers differ from most, and a text about it.

    Only variables of innermost frames are compared.
    """
    if not node.children and isinstance(node.locals, tuple):
        for variable in node.locals:
            text = _of_variable(variable, node.count)
            if text:
                yield variable.name, text
    for child in node.children:
        yield from _apart(child)


def _of_variable(variable: FoldedVariable, of: int) -> str:
    """Return which workers have another value than most of the `of` workers.

    Return "" unless at least 60 % of them, and at least MIN_ALIKE, have the same value.
    """
    *others, most = variable.groups
    if not others or most.count < max(MIN_ALIKE, math.ceil(of * 0.6)):
        return ""
    parts = [f"{shortened(each.value, 60)} in {each.label}" for each in others[:3]]
    return f"is {', '.join(parts)}, and {shortened(most.value, 60)} in the {most.count} others"


def _samples(report: Report) -> Iterator[Html]:
    for sample in report.samples[-1:]:
        for missing in sample.stacks.missing:
            where = function_line(missing.frame.name, missing.frame.path, missing.frame.line)
            others = f"where {missing.count} of {missing.of} are"
            yield joined(_link("samples", f"{missing.label} is not in {where}"), f", {others}")
