"""Where a command writes: tables for people, in the width and the colours of their terminal."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDE = 100_000
"""Columns where no terminal limits them: what reads a pipe wants whole lines."""


def console(stderr: bool = False, environ: Mapping[str, str] = os.environ) -> Console:
    """rich heeds NO_COLOR, FORCE_COLOR, COLUMNS and TERM. Nothing in a value is taken for rich's own markup."""
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if is_terminal or "COLUMNS" in environ else _WIDE
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False, soft_wrap=not is_terminal)


def table(columns: Sequence[str], rows: Sequence[Sequence[str | Text]], cut: Collection[str] = ()) -> Table:
    """Columns with two spaces between them. What is too long for the terminal is cut in the columns of `cut`, and in
    the others only if these are used up."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        widest = max([len(column), *(cell_len(str(row[number])) for row in rows)])
        made.add_column(column, no_wrap=True, overflow="ellipsis", min_width=None if column in cut else widest)
    for row in rows:
        made.add_row(*row)
    return made
