"""Where a command writes: tables for people, in the width and the colours of their terminal."""

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
"""Columns where no terminal limits them: what reads a pipe wants whole lines."""


class _Console(Console):
    """Lets no name or value move the cursor of a terminal, or type for the user. A pipe gets values unchanged."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            is_raw = segment.control or not self.is_terminal
            yield segment if is_raw else Segment(visible(segment.text), segment.style)


def console(stderr: bool = False, environ: Mapping[str, str] = os.environ) -> Console:
    """rich heeds NO_COLOR, FORCE_COLOR, COLUMNS and TERM. Nothing in a value is taken for rich's own markup."""
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if is_terminal or "COLUMNS" in environ else _WIDE
    return _Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal)


def print_json(value: object) -> None:
    """Print a value as JSON, for programs. A terminal shows the characters that could deceive as escapes."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    console().out(json_text(text), highlight=False)


READABLE = 24
"""The columns of a cell that is cut, and can still be read."""


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    width: int,
    cut: Sequence[str],
    drop: Sequence[str],
) -> Table:
    """Columns with two spaces between them. If that is more than `width`, the cells of `cut` are cut, the last column
    of these as far as needed. If they cannot be read then, the columns `drop` are left out, one after the other."""
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
