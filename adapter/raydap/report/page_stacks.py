"""The rows of stacks and variables on the page, which templates/parts.html shows."""

from collections.abc import Iterator, Mapping, Sequence
from linecache import getline
from typing import NamedTuple

from raydap.presentation.numbers import statistics
from raydap.presentation.short_text import shortened
from raydap.protocol.stack_messages import FoldedVariable, StackNode, StackVariable, ValueGroup
from raydap.protocol.value_messages import Statistics

MAX_VARIABLES, MAX_VALUE = 8, 60
"""The number of variables in the summary line of a single stop, and of characters of each value."""

MANY, FEW = 6, 3
"""If each worker has a value of its own and there are more than MANY values, only FEW are listed."""


class ValueRow(NamedTuple):
    """One value of a variable, or the number of values that are not listed."""

    name: str
    """The name of the variable in its first row; "" in the others."""
    group: ValueGroup | None
    """The value; None in the row with the number of the other values."""
    workers: str = ""
    """The workers with the value; "" if all workers have it."""
    numbers: str = ""
    """The statistics of the variable in its first row; otherwise ""."""
    is_apart: bool = False
    """Whether most workers have another value."""
    more: int = 0
    """The number of values that are not listed."""


class FrameRow(NamedTuple):
    """A frame of merged stacks. The stacks branch where they differ."""

    node: StackNode
    """The frame."""
    is_fork: bool
    """Whether the frame begins a branch of the tree."""
    closed: int
    """The number of branches that end after the frame."""
    workers: str
    """The workers in the frame; "" if they are those of the frame's caller."""
    source: str
    """The text of the line without its indentation; "" if this machine does not have the file."""
    values: Sequence[ValueRow]
    """The values of the frame's variables."""


def tree_rows(root: StackNode, found: Mapping[str, Statistics]) -> Iterator[FrameRow]:
    """Yield the frames of merged stacks, callers first.

    `found` contains the statistics of the variables of the innermost frames, by name.
    """
    # A stack of this function's own, because the merged stacks may be deep.
    waiting = [(child, len(root.children) > 1, 0) for child in reversed(root.children)]
    while waiting:
        node, is_fork, outer = waiting.pop()
        branches, is_last, forks = outer + is_fork, not node.children, len(node.children) > 1
        waiting += [(child, forks, 0 if index else branches) for index, child in enumerate(reversed(node.children))]
        frame, variables = node.frame, node.locals if isinstance(node.locals, tuple) else ()
        assert frame is not None
        # The path comes from a worker, so only files of Python are read.
        source = getline(frame.path, frame.line).strip() if frame.path.endswith(".py") else ""
        workers = _workers(node) if is_fork or node.count < root.count or is_last else ""
        rows = [row for each in variables for row in _rows(each, node.count, found.get(each.name) if is_last else None)]
        yield FrameRow(node, is_fork, branches if is_last else 0, workers, source, rows)


def _rows(variable: FoldedVariable, of: int, found: Statistics | None) -> Iterator[ValueRow]:
    """Yield a row for each value. If more than half of the workers agree, the rows of the other values stand out."""
    largest = max((group.count for group in variable.groups), default=0)
    numbers = ", ".join(statistics(found)) if found is not None and len(variable.groups) > 1 else ""
    # If each worker has another number, a few of them and their range are enough.
    are_many = bool(numbers) and largest == 1 and len(variable.groups) > MANY
    groups = variable.groups[:FEW] if are_many else variable.groups
    for index, group in enumerate(groups):
        first = ("", "") if index else (variable.name, numbers)
        is_apart = largest > of / 2 and group.count < largest
        yield ValueRow(first[0], group, "" if group.count == of else _workers(group), first[1], is_apart)
    if more := variable.more + len(variable.groups) - len(groups):
        yield ValueRow("", None, more=more)


def _workers(group: ValueGroup | StackNode) -> str:
    return group.label if group.count == 1 else f"{group.count} · {group.label}"


def variables_in_short(variables: Sequence[StackVariable]) -> str:
    """Return the first variables of a stopped frame and their values in one line."""
    shown = [each for each in variables if each.name != "self"][:MAX_VARIABLES]
    return ", ".join(f"{each.name} = {shortened(each.value, MAX_VALUE)}" for each in shown)
