"""What a rule says about a place in a file."""

import ast
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A part of a file as Python's syntax trees give it: lines from 1, columns from 0 in bytes of UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int


def span(node: ast.expr | ast.stmt | ast.keyword) -> Span:
    """Where a node is. `ast.parse` sets the ends of all nodes."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts `text` in the place of a part of the file."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What a click can mend. `title` says what it does, beginning with a verb."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` names the rule that speaks; `message` is one or two sentences for the user."""

    code: str
    span: Span
    message: str
    fixes: tuple[Fix, ...] = ()
