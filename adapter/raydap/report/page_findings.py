"""The findings at the top of the page: what the user should look at first, one line each."""

import math
from collections.abc import Iterator

from raydap.presentation.numbers import counted
from raydap.presentation.short_text import file_line, function_line, shortened
from raydap.protocol.stack_messages import StackNode
from raydap.report.records import Report, WatchedRecord

MIN_ALIKE = 3
"""The number of workers that must have the same value before a different value is a finding."""

Finding = tuple[str, str, str]
"""A line of text that begins with a link: the id of the element to which the link leads, the text of the link, and the
text after the link. The first two are "" in a line without a link."""


def of_report(report: Report) -> Iterator[Finding]:
    """Yield the findings of a report, the most urgent first."""
    for index, error in enumerate(report.errors):
        if not error.passed:
            where = "" if error.location is None else f" ({file_line(error.location.path, error.location.line)})"
            times = f", {counted(error.count, 'time')}" if error.count > 1 else ""
            yield f"error{index}", f"{error.type}{where}", f" in {error.label or 'a worker'}{times}"
    yield from (("", "", f"{each.label}: {each.problem}") for each in report.workers if each.problem)
    for index, watch in enumerate(report.watches):
        if watch.hits:
            first = watch.hits[0]
            place = file_line(watch.path, first.line) if first.line else "the beginning of a call"
            what = f"changed from {first.before} to {first.after}" if first.before else "became true"
            step = f" ({first.step})" if first.step else ""
            yield f"watch{index}", watch.expression, f" first {what} in {first.label}, after {place}{step}"
        elif not watch.verified:
            yield f"watch{index}", watch.expression, f": {watch.reason}"
    for index, trace in enumerate(report.traces):
        bad = [each.label for each in trace.series if any(point.nan or point.inf for point in each.points)]
        if bad:
            named = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
            yield f"trace{index}", trace.expression, f" was not finite in {named}"
        yield from _of_line(trace, f"trace{index}", "expression")
    for index, line in enumerate(report.lines):
        yield from _of_line(line, f"line{index}", "condition")
        yield from _apart(line.tree, f"line{index}")
    for missing in (missing for sample in report.samples[-1:] for missing in sample.stacks.missing):
        where = function_line(missing.frame.name, missing.frame.path, missing.frame.line)
        others = f", where {missing.count} of {missing.of} are"
        yield "samples", f"{missing.label} is not in {where}", others


def _of_line(line: WatchedRecord, anchor: str, what: str) -> Iterator[Finding]:
    place = file_line(line.path, line.line)
    failed = [each for each in line.counts if each.failed]
    if failed:
        times = counted(sum(each.failed for each in failed), "time")
        yield anchor, place, f": the {what} failed {times}: {failed[0].error}"
    elif not line.counts:
        yield anchor, place, f": {line.reason}"


def _apart(node: StackNode, anchor: str) -> Iterator[Finding]:
    """Yield a finding for each variable of an innermost frame in which a few workers differ from most.

    Most are at least 60 % of the workers in the frame, and at least MIN_ALIKE.
    """
    for variable in node.locals if isinstance(node.locals, tuple) and not node.children else ():
        *others, most = variable.groups
        if others and most.count >= max(MIN_ALIKE, math.ceil(node.count * 0.6)):
            parts = ", ".join(f"{shortened(each.value, 60)} in {each.label}" for each in others[:3])
            yield anchor, variable.name, f" is {parts}, and {shortened(most.value, 60)} in the {most.count} others"
    for child in node.children:
        yield from _apart(child, anchor)
