"""The HTML page of a report: one file that loads nothing from the network and needs no JavaScript.

The templates and the style sheet are in `templates`. Each text that they insert loses its colours and the characters
that are not safe to show, and is escaped.
"""

import functools
import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from linecache import getline
from typing import TYPE_CHECKING, Any

from raydap.presentation import folded_tables, stack_pictures
from raydap.presentation.clock_times import clock, date
from raydap.presentation.durations import duration
from raydap.presentation.numbers import counted, statistics
from raydap.presentation.safe_text import visible
from raydap.presentation.short_text import file_line, first_line, shortened
from raydap.protocol.stack_messages import StackNode, StackVariable
from raydap.report import page_charts, page_findings
from raydap.report.records import Report

if TYPE_CHECKING:
    from jinja2 import Environment

OPEN = 3
"""The number of errors, and of lines, that are open when the page is loaded."""

SHOWN = 50
"""The number of errors, of workers in a sample, and of single stops for errors and at lines. The JSON contains all. A
browser opens a page of this size at once."""

FINDINGS = 20
"""The number of findings that the page lists. The others are counted."""

MAX_VARIABLES, MAX_VALUE = 8, 60
"""The number of variables in the summary line of a single stop, and of characters of each value."""

MANY, FEW = 6, 3
"""If each worker has a value of its own and there are more than MANY values, only FEW are listed."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""The escape sequences that programs print to colour a terminal."""

_FORMATS: Mapping[str, Callable[[Any], object]] = {
    "clock": lambda time: "" if time is None else clock(time),
    "count": lambda number: f"{number:,}",
    "duration": lambda seconds: duration(seconds) if seconds else "",
    "id": lambda number: number or "",
    "times": lambda number: f"({number} times)" if number > 1 else "",
}
"""The formats of the columns of tables."""


def of_report(report: Report) -> str:
    """Return the page of a report."""
    environment = templates()
    style = environment.get_template("report.css").render() + stack_pictures.STYLE
    pauses = [each.end - each.start for each in report.timeline.pauses if each.end is not None]
    style_hash = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        findings=list(page_findings.of_report(report)),
        longest_pause=max(pauses, default=0),
        # If a text were inserted unescaped by mistake, it still could not load anything or run a script.
        policy=f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'",
        report=report,
        style=style,
    )


@functools.cache
def templates() -> "Environment":
    """Return the environment of the templates: what they may use, and how values are inserted."""
    # Other commands need no jinja2.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from jinja2.ext import Extension

    class WithoutIndentation(Extension):
        """Removes the indentation of the templates from the page, of which it would be a third."""

        def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
            return re.sub(r"^ +", "", source, flags=re.MULTILINE)

    made = Environment(
        loader=PackageLoader("raydap.report"),
        extensions=[WithoutIndentation],
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_inserted,
        trim_blocks=True,
    )
    made.globals.update(OPEN=OPEN, SHOWN=SHOWN, FINDINGS=FINDINGS, MANY=MANY, FEW=FEW, charts=page_charts)
    made.filters.update(
        after=lambda time, started: f"+{duration(max(time - started, 0.0))}",
        clock=clock,
        counted=counted,
        date=date,
        duration=duration,
        file_line=file_line,
        first_line=first_line,
        formatted=lambda value, name="": _FORMATS[name](value) if name else value,
        grouped=_FORMATS["count"],
        picture=stack_pictures.svg,
        source_line=_source_line,
        stack_table=folded_tables.of_stacks,
        statistics=statistics,
        tree_rows=_tree_rows,
        variables=_variables_in_short,
    )
    return made


def _inserted(value: Any) -> Any:
    """Return what a template inserts for a value, which is then escaped unless it is HTML."""
    if isinstance(value, float):
        return f"{value:.5g}"
    # Text loses its colours, and each character that is not safe to show.
    return visible(_COLOURS.sub("", value)) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _tree_rows(root: StackNode) -> Iterator[tuple[StackNode, bool, int]]:
    """Yield the frames of merged stacks, callers first. The stacks branch where they differ.

    With each frame comes whether it begins a branch of the tree, and the number of branches that end after it.
    """
    # A stack of this function's own, because the merged stacks may be deep.
    waiting = [(child, len(root.children) > 1, 0) for child in reversed(root.children)]
    while waiting:
        node, is_fork, outer = waiting.pop()
        branches, forks = outer + is_fork, len(node.children) > 1
        waiting += [(child, forks, 0 if index else branches) for index, child in enumerate(reversed(node.children))]
        yield node, is_fork, 0 if node.children else branches


def _source_line(path: str, line: int) -> str:
    """Return the text of a line without its indentation; "" if this machine does not have the file."""
    # The path comes from a worker, so only files of Python are read.
    return getline(path, line).strip() if path.endswith(".py") else ""


def _variables_in_short(variables: Sequence[StackVariable]) -> str:
    """Return the first variables of a stopped frame and their values in one line."""
    shown = [each for each in variables if each.name != "self"][:MAX_VARIABLES]
    return ", ".join(f"{each.name} = {shortened(each.value, MAX_VALUE)}" for each in shown)
