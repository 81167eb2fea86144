"""The findings at the top of the page: what the user should look at first, one line each."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from raydap.presentation.numbers import counted
from raydap.presentation.short_text import file_line, function_line, shortened
from raydap.protocol.stack_messages import FoldedVariable, StackNode
from raydap.report.records import Report, WatchedRecord

MAX_FINDINGS = 20
"""The number of findings that the page lists. The others are counted."""

MIN_ALIKE = 3
"""The number of workers that must have the same value before a different value is a finding."""


class PageFinding(NamedTuple):
    """A line of text that begins with a link."""

    anchor: str
    """The id of the element to which the link leads; "" for a text without a link."""
    link: str
    """The text of the link."""
    text: str
    """The text after the link."""


def of_report(report: Report) -> list[PageFinding]:
    """Return the findings of a report, the most urgent first.

    If there are more than MAX_FINDINGS, a last line contains the number of the others.
    """
    problems = [PageFinding("", "", f"{each.label}: {each.problem}") for each in report.workers if each.problem]
    found = [*_errors(report), *problems, *_traces(report), *_lines(report), *_samples(report)]
    more = [PageFinding("", "", f"and {len(found) - MAX_FINDINGS} more below")] if len(found) > MAX_FINDINGS else []
    return [*found[:MAX_FINDINGS], *more]


def _errors(report: Report) -> Iterator[PageFinding]:
    for index, error in enumerate(report.errors):
        if not error.passed:
            where = "" if error.location is None else f" ({file_line(error.location.path, error.location.line)})"
            times = f", {counted(error.count, 'time')}" if error.count > 1 else ""
            yield PageFinding(f"error{index}", f"{error.type}{where}", f" in {error.label or 'a worker'}{times}")


def _traces(report: Report) -> Iterator[PageFinding]:
    for index, trace in enumerate(report.traces):
        bad = [each.label for each in trace.series if any(point.nan or point.inf for point in each.points)]
        if bad:
            named = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
            yield PageFinding(f"trace{index}", trace.expression, f" was not finite in {named}")
        yield from _of_line(trace, f"trace{index}", "expression")


def _lines(report: Report) -> Iterator[PageFinding]:
    for index, line in enumerate(report.lines):
        yield from _of_line(line, f"line{index}", "condition")
        for name, text in _apart(line.tree):
            yield PageFinding(f"line{index}", name, f" {text}")


def _of_line(line: WatchedRecord, anchor: str, what: str) -> Iterator[PageFinding]:
    place = file_line(line.path, line.line)
    failed = [each for each in line.counts if each.failed]
    if failed:
        times = counted(sum(each.failed for each in failed), "time")
        yield PageFinding(anchor, place, f": the {what} failed {times}: {failed[0].error}")
    elif not line.counts:
        yield PageFinding(anchor, place, f": {line.reason}")


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


def _samples(report: Report) -> Iterator[PageFinding]:
    for sample in report.samples[-1:]:
        for missing in sample.stacks.missing:
            where = function_line(missing.frame.name, missing.frame.path, missing.frame.line)
            others = f", where {missing.count} of {missing.of} are"
            yield PageFinding("samples", f"{missing.label} is not in {where}", others)
