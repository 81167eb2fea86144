"""The results of rules: findings, their places in a file, and fixes."""

import ast
from dataclasses import dataclass
from typing import NamedTuple


class TextSpan(NamedTuple):
    """A part of a file, as in Python's syntax trees: lines count from 1, and columns from 0 in bytes of UTF-8."""

    line: int
    """The line of the first character."""
    column: int
    """The column of the first character."""
    end_line: int
    """The line of the last character."""
    end_column: int
    """The column after the last character."""


def span(node: ast.expr | ast.stmt | ast.keyword) -> TextSpan:
    """Return the span of a node, which must come from `ast.parse`."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return TextSpan(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a part of a file by `text`."""

    span: TextSpan
    """The part that is replaced; an empty one inserts."""
    text: str
    """The text that replaces it."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that the editor offers for a finding."""

    title: str
    """A text for the user, which begins with a verb."""
    edits: tuple[Edit, ...]
    """The replacements, which do not overlap."""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A problem that a rule has found in a file."""

    code: str
    """The code of the rule, such as `local-mode`."""
    span: TextSpan
    """The part of the file that the editor underlines."""
    message: str
    """One or two sentences for the user."""
    fixes: tuple[Fix, ...] = ()
    """The preferred fix comes first."""
