"""The places where a stopped function uses its variables."""

import pytest

from raydap.lsp.analysis.variables import Blocks

TEXT = """\
rate = 1

def train(batch, *rest, scale=rate):
    löss = batch * scale + batch
    def inner(x):
        y = x
        return y
    return [löss for _ in rest]

class Model:
    size = rate
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (4, ["3 batch", "3 rest", "3 rate", "3 scale", "4 löss", "4 batch", "4 scale", "8 löss", "8 _", "8 rest"]),
        (6, ["5 x", "6 y", "6 x", "7 y"]),
        (1, ["1 rate"]),
        (99, ["1 rate"]),
    ],
)
def test_the_uses_around_a_line(line: int, expected: list[str]) -> None:
    uses = Blocks(TEXT).around(line).uses
    assert sorted(f"{use.span.line} {use.name}" for use in uses) == sorted(expected)
    for use in uses:
        source = TEXT.splitlines()[use.span.line - 1].encode()
        assert source[use.span.column : use.span.end_column].decode() == use.name


def test_functions_on_the_same_line_of_a_block_are_one() -> None:
    blocks = Blocks(TEXT)
    assert blocks.around(4) is blocks.around(8)
    assert blocks.around(4) is not blocks.around(6)


@pytest.mark.parametrize("text", ["", "def (", "\0", "(" * 5000])
def test_a_text_that_cannot_be_parsed_has_no_uses(text: str) -> None:
    assert Blocks(text).around(1).uses == []
