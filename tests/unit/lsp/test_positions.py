"""Positions in the units that the client counts in."""

import pytest

from raydap.lsp.analysis.findings import TextSpan
from raydap.lsp.positions import Positions

TEXT = "a\r\nö😀x\rlast \u2028 line\n"


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_columns(encoding: str, column: int) -> None:
    found = Positions(TEXT, encoding).range(TextSpan(2, 0, 2, len("ö😀".encode())))
    assert (found.start.line, found.start.character) == (1, 0)
    assert (found.end.line, found.end.character) == (1, column)


def test_a_line_ends_where_lsp_says() -> None:
    found = Positions(TEXT, "utf-16").range(TextSpan(3, 0, 3, len("last \u2028".encode())))
    assert (found.end.line, found.end.character) == (2, 6)


def test_a_lone_surrogate_is_one_unit() -> None:
    found = Positions("x\ud800y", "utf-16").range(TextSpan(1, 0, 1, 4))
    assert found.end.character == 2
