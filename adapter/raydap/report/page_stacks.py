"""Stacks with the variables of their frames, as HTML: the merged stack of many workers, and single stacks."""

from collections.abc import Iterator, Mapping, Sequence
from linecache import getline

from raydap.presentation.durations import duration
from raydap.presentation.numbers import statistics
from raydap.presentation.short_text import file_line, shortened
from raydap.protocol.stack_messages import CodeLocation, FoldedVariable, StackNode, StackVariable, ValueGroup
from raydap.protocol.value_messages import Statistics
from raydap.report.page_elements import Html, clock, count, element, joined
from raydap.report.records import FrameRecord, LookRecord

MAX_VARIABLES = 8
"""The number of variables in the summary line of a single stop."""

MANY, FEW = 6, 3
"""If each worker has a value of its own and there are more than MANY values, only FEW are listed."""

MAX_VALUE = 60
"""The number of characters of each value in the summary line of a single stop."""


def source_line(path: str, line: int) -> str:
    """Return the text of a line of Python without its indentation; "" if this machine does not have the file.

    Only names of Python files are accepted, because the path comes from a worker.
    """
    return getline(path, line).strip() if path.endswith(".py") else ""


def place(location: CodeLocation) -> Html:
    """Return the name of a function with its file and line. The tooltip contains the whole path."""
    where = file_line(location.path, location.line)
    return joined(location.name, " ", element("span", where, class_="soft", title=f"{location.path}:{location.line}"))


def tree(root: StackNode, statistics: Mapping[str, Statistics]) -> Html:
    """Return merged stacks. They branch where the stacks differ, and the innermost frames are open.

    `statistics` are those of the variables of the innermost frames, by name.
    """
    return joined(_nodes(root, root.count, statistics))


def _nodes(node: StackNode, of: int, statistics: Mapping[str, Statistics]) -> Iterator[Html]:
    is_fork = len(node.children) > 1
    for child in node.children:
        shown = joined(_frame(child, of, is_fork, statistics), _nodes(child, of, statistics))
        yield element("ul", element("li", shown), class_="tree") if is_fork else shown


def _frame(node: StackNode, of: int, is_fork: bool, statistics: Mapping[str, Statistics]) -> Html:
    assert node.frame is not None
    is_last = not node.children
    who = node.label if is_fork or node.count < of or is_last else ""
    source = source_line(node.frame.path, node.frame.line)
    title = joined(
        place(node.frame),
        [" ", element("code", source)] if source else None,
        [" ", element("span", f"{node.count} · {who}" if node.count > 1 else who, class_="badge")] if who else None,
    )
    folded = node.locals if isinstance(node.locals, tuple) else ()
    table = _folded(folded, node.count, statistics if is_last else {})
    inside = element("div", table if folded else "No variables.", class_="inside")
    return element("details", element("summary", title), inside, class_="frame", open=is_last)


def _folded(variables: Sequence[FoldedVariable], of: int, found: Mapping[str, Statistics]) -> Html:
    rows = [row for each in variables for row in _variable(each, of, found.get(each.name))]
    return element("table", element("tbody", rows))


def _variable(variable: FoldedVariable, of: int, found: Statistics | None) -> Iterator[Html]:
    """Yield a row for each value. If more than half of the workers agree, the rows of the other values stand out."""
    largest = max((group.count for group in variable.groups), default=0)
    are_apart = largest > of / 2
    numbers = f" {', '.join(statistics(found))}" if found is not None and len(variable.groups) > 1 else ""
    # If each worker has another number, a few of them and their range are enough.
    are_many = bool(numbers) and largest == 1 and len(variable.groups) > MANY
    groups = variable.groups[:FEW] if are_many else variable.groups
    more = variable.more + len(variable.groups) - len(groups)
    for index, group in enumerate(groups):
        who = "" if group.count == of else _who(group)
        yield element(
            "tr",
            element("td", variable.name if index == 0 else "", class_="name"),
            element("td", group.value, class_="value", title=group.type),
            element("td", who, element("span", numbers, class_="soft") if index == 0 and numbers else None),
            class_="apart" if are_apart and group.count < largest else None,
        )
    if more:
        yield element("tr", element("td"), element("td", f"and {count(more, 'other value')}", class_="soft"))


def _who(group: ValueGroup) -> str:
    return group.label if group.count == 1 else f"{group.count} · {group.label}"


def looks(found: Sequence[LookRecord], started: float) -> Html:
    """Return single stops: each is a line that opens to the whole stack. `started` is when the run began."""
    return joined(_look(each, started) for each in found)


def _look(look: LookRecord, started: float) -> Html:
    short = _short(look.frames[-1].variables) if look.frames else look.problem or "no frames"
    title = joined(
        element("span", f"{clock(look.time)} (+{duration(max(look.time - started, 0))})", class_="soft small"),
        " ",
        element("b", look.label),
        " ",
        element("span", f"stopped for {duration(look.paused)}", class_="soft small"),
        " ",
        element("code", short),
    )
    inside = element("div", [_single(each) for each in reversed(look.frames)], class_="inside")
    return element("details", element("summary", title), inside)


def _single(frame: FrameRecord) -> Html:
    rows = [
        element(
            "tr",
            element("td", each.name, class_="name"),
            element("td", each.value, class_="value"),
            element("td", each.type, class_="soft"),
        )
        for each in frame.variables
    ]
    return joined(element("h3", place(frame.location)), element("table", element("tbody", rows)) if rows else None)


def _short(variables: Sequence[StackVariable]) -> str:
    shown = [each for each in variables if each.name != "self"][:MAX_VARIABLES]
    return ", ".join(f"{each.name} = {shortened(each.value, MAX_VALUE)}" for each in shown)
