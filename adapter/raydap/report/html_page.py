"""The HTML page of a report: one file that loads nothing from the network and needs no JavaScript.

The templates and the style sheet are in `templates`. Each text that they insert loses its colours and the characters
that are not safe to show, and is escaped.
"""

import functools
import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raydap.presentation import folded_tables, stack_pictures
from raydap.presentation.clock_times import clock, date
from raydap.presentation.durations import duration
from raydap.presentation.numbers import counted, statistics
from raydap.presentation.safe_text import visible
from raydap.presentation.short_text import file_line, first_line
from raydap.report import page_charts, page_findings, page_stacks
from raydap.report.records import Report

if TYPE_CHECKING:
    from jinja2 import Environment

OPEN = 3
"""The number of errors, and of lines, that are open when the page is loaded."""

SHOWN = 50
"""The number of errors, of workers in a sample, and of single stops for errors and at lines. The JSON contains all. A
browser opens a page of this size at once."""

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
        findings=page_findings.of_report(report),
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
    made.globals.update(OPEN=OPEN, SHOWN=SHOWN, charts=page_charts)
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
        stack_table=folded_tables.of_stacks,
        statistics=statistics,
        tree_rows=page_stacks.tree_rows,
        variables=page_stacks.variables_in_short,
    )
    return made


def _inserted(value: Any) -> Any:
    """Return what a template inserts for a value, which is then escaped unless it is HTML."""
    if isinstance(value, float):
        return f"{value:.5g}"
    # Text loses its colours, and each character that is not safe to show.
    return visible(_COLOURS.sub("", value)) if isinstance(value, str) and not hasattr(value, "__html__") else value
