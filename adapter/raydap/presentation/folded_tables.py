"""Trees of stacks and groups of values as text with aligned columns, for clients without a view of their own."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from raydap.presentation.numbers import digits, statistics
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import function_line, in_one_line
from raydap.protocol.raydap_messages import SteppedThreads
from raydap.protocol.stack_messages import CodeLocation, FoldedVariable, MergedStacks, StackNode
from raydap.protocol.value_messages import (
    ArraySummary,
    Change,
    Comparison,
    ComparisonGroup,
    EvaluationGroup,
    Evaluations,
    Histogram,
    Share,
    Statistics,
)

_LONGEST = 60
"""The maximum number of characters of a value."""

_REPEATED = 4
"""A group of frames that is repeated at least this often is shown once, with the number of repetitions."""

_LONGEST_PERIOD = 4
"""The maximum number of frames in such a group: functions that call each other in turn."""

_BARS = " ▁▂▃▄▅▆▇█"


def of_stacks(stacks: MergedStacks) -> str:
    """Return a tree of stacks: one line for each frame, indented where stacks branch."""
    is_fork = len(stacks.root.children) > 1
    state = "threads" if stacks.root.running else "stopped"
    rows = [(f"{stacks.root.count} {state}", stacks.root.label), *_of_node(stacks.root, 0 if is_fork else 1)]
    lines = _aligned(rows)
    for each in stacks.missing:
        lines.append(one_line(f"{each.label} missing in {_place(each.frame)}, where {each.count} of {each.of} are"))
    return "\n".join([*lines, *_silent(len(stacks.silent) + len(stacks.unread))])


def _of_node(node: StackNode, depth: int) -> Iterator[tuple[str, str]]:
    is_fork = len(node.children) > 1
    for child in node.children:
        inner = depth + is_fork
        has_left = child.count < node.count
        label = child.label if is_fork or has_left else ""
        chain = [child]
        while len(chain[-1].children) == 1 and chain[-1].children[0].count == child.count:
            chain.append(chain[-1].children[0])
        for each, times in _repetitions(chain):
            assert each.frame is not None
            yield f"{'  ' * inner}{each.count} {_place(each.frame)}{f' ({times} times)' if times > 1 else ''}", label
            label = ""
        last = chain[-1]
        if isinstance(last.locals, tuple) and sum(each.count for each in last.children) < last.count:
            yield from _of_locals(last.locals, last.count, inner)
        yield from _of_node(last, inner)


def _repetitions(chain: Sequence[StackNode]) -> Iterator[tuple[StackNode, int]]:
    """Yield each node with the number of repetitions of its group of frames; recursion repeats one or a few frames."""
    frames = [node.frame for node in chain]
    at = 0
    while at < len(chain):
        size, times = 1, 1
        for period in range(1, _LONGEST_PERIOD + 1):
            found = 1
            while frames[at + found * period :][:period] == frames[at:][:period]:
                found += 1
            if found >= _REPEATED and found * period > size * times:
                size, times = period, found
        for node in chain[at : at + size]:
            yield node, times
        at += size * times


def _of_locals(variables: Sequence[FoldedVariable], count: int, depth: int) -> Iterator[tuple[str, str]]:
    """Yield a line for each value, with the names of its workers unless all `count` threads have this value."""
    for each in variables:
        for group in each.groups:
            value = _short(group.value)
            yield f"{'  ' * depth}    {each.name} = {value}", group.label if group.count < count else ""
        if each.more:
            yield f"{'  ' * depth}    {each.name} has {each.more} other values", ""


def of_step(answer: SteppedThreads) -> str:
    """Return one line for each place where threads have stopped after a step."""
    groups = () if answer.groups is UNSET else answer.groups
    running = () if answer.running is UNSET else answer.running
    rows = [
        (str(len(each.members)), "library code" if each.frame is None else _place(each.frame), each.label)
        for each in groups
    ]
    lines = _aligned(rows) if rows else ["No thread has reached another line."]
    return "\n".join([*lines, *([f"{len(running)} still running"] if running else [])])


def of_comparison(answer: Comparison) -> str:
    """Return one line for each group of equal values, then the statistics and the changes since the baseline."""
    if not answer.groups and not answer.silent:
        return "No thread is stopped."
    rows = [(_value(each), str(_count(each)), each.label, _apart(each)) for each in answer.groups]
    lines = _aligned(rows) if rows else []
    if isinstance(answer.statistics, Statistics):
        lines.append("  ".join(statistics(answer.statistics)))
    if isinstance(answer.histogram, Histogram):
        lines.append(_histogram(answer.histogram))
    if isinstance(answer.change, Change):
        lines += _change(answer.change)
    return "\n".join([*lines, *_silent(_unanswered(answer))])


def of_evaluations(answer: Evaluations) -> str:
    """Return one line for each group of equal answers, then the statistics."""
    if not answer.groups and not answer.silent and not answer.unread:
        return "No thread is stopped."
    rows = [
        (_short(each.error if isinstance(each.error, str) else each.value), str(_count(each)), each.label)
        for each in answer.groups
    ]
    lines = _aligned(rows) if rows else []
    if isinstance(answer.statistics, Statistics) and len(rows) > 1:
        lines.append("  ".join(statistics(answer.statistics)))
    return "\n".join([*lines, *_silent(_unanswered(answer))])


def _count(group: EvaluationGroup | ComparisonGroup | Share) -> int:
    return len(group.members) + (0 if group.running is UNSET else len(group.running))


def _unanswered(answer: Evaluations | Comparison) -> int:
    return len(answer.silent) + (0 if answer.unread is UNSET else len(answer.unread))


def _value(group: ComparisonGroup) -> str:
    # An array's numbers are at the end of its text, so leave more room for it.
    longest = 2 * _LONGEST if isinstance(group.array, ArraySummary) else _LONGEST
    return _short(group.error if isinstance(group.error, str) else group.value, longest)


def _short(text: object, longest: int = _LONGEST) -> str:
    return in_one_line(str(text), longest)


def _apart(group: ComparisonGroup) -> str:
    apart = [group.difference] if isinstance(group.difference, str) else []
    return ", ".join([*apart, *(["only partly compared"] if group.partial else [])])


def _histogram(found: Histogram) -> str:
    """Return one bar for each count, between the lowest and the highest number with the names of their workers."""
    most = max(found.counts)
    bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in found.counts)
    return one_line(f"{digits(found.low)} {found.lowest.label}  {bars}  {digits(found.high)} {found.highest.label}")


def _change(found: Change) -> list[str]:
    shares = [("changed", found.changed), ("unchanged", found.unchanged), ("unknown", found.unknown)]
    rows = [(name, str(count), share.label) for name, share in shares if (count := _count(share))]
    lines = _aligned(rows) if rows else []
    if isinstance(found.statistics, Statistics):
        lines.append(f"change: {'  '.join(statistics(found.statistics))}")
    return lines


def _silent(count: int) -> list[str]:
    return [f"{count} did not answer"] if count else []


def _place(frame: CodeLocation) -> str:
    return function_line(frame.name, frame.path, frame.line)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with aligned columns. The last cell of a row does not widen its column."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [
        max((len(row[column]) for row in rows if any(row[column + 1 :])), default=0) for column in range(len(rows[0]))
    ]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
