"""Output of commands: JSON for programs, and tables for people in the width and colours of their terminal."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from raydap.presentation.safe_text import json_text, one_line, visible

_WIDE = 100_000
"""The width in columns without a terminal: a program that reads a pipe needs whole lines."""


class _Console(Console):
    """A console on which no name or value can move the cursor of the terminal, or type for the user.

    A pipe gets values unchanged.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            is_raw = segment.control or not self.is_terminal
            yield segment if is_raw else Segment(visible(segment.text), segment.style)


def console(stderr: bool = False, environ: Mapping[str, str] = os.environ) -> Console:
    """Return a console for standard output, or for standard error.

    rich obeys NO_COLOR, FORCE_COLOR, COLUMNS and TERM. Values can contain rich's markup, which has no effect.
    """
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if is_terminal or "COLUMNS" in environ else _WIDE
    return _Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal)


def silent_console() -> Console:
    """Return a console that prints nothing, for a program whose standard output carries a protocol."""
    return Console(quiet=True)


def print_json(value: object) -> None:
    """Print a value as JSON, for programs. Characters that could deceive the user of a terminal are escaped."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    console().out(json_text(text), highlight=False)


READABLE = 24
"""The minimum width, in columns, at which a shortened cell can still be read."""


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    width: int,
    cut: Sequence[str],
    drop: Sequence[str],
) -> Table:
    """Return a table with two spaces between its columns, fitted to `width` columns of the terminal.

    If it is too wide, the cells of the columns `cut` are shortened to READABLE, those of the last of these as far as
    needed. Before that last column gets shorter than READABLE, the columns `drop` are left out, one after the other.
    """
    shown = list(columns)
    cells = [[Text(one_line(str(cell)), cell.style if isinstance(cell, Text) else "") for cell in row] for row in rows]
    widths = {
        column: max([len(column), *(cell_len(row[number].plain) for row in cells)])
        for number, column in enumerate(columns)
    }

    def excess() -> int:
        return sum(widths[column] + 2 for column in shown) - 2 - width

    if excess() > 0:
        last = cut[-1]
        widths.update({column: min(widths[column], READABLE) for column in cut if column != last})
        for column in drop:
            if widths[last] - excess() < min(widths[last], READABLE):
                shown.remove(column)
        widths[last] = max(1, widths[last] - max(0, excess()))
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in shown:
        made.add_column(column, no_wrap=True, overflow="ellipsis", width=widths[column])
    for row in cells:
        made.add_row(*(cell for column, cell in zip(columns, row, strict=True) if column in shown))
    return made
