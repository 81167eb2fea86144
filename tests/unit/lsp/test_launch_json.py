"""Variables in a launch.json, which has comments and may be half written."""

import pytest

from raydap.lsp.examination import examine_launch_json

TEXT = """\
{
  // RAY_DEBUGG in a comment
  "version": "0.2.0",
  "configurations": [
    {
      "name": "env",
      "env": { /* "RAY_DEBUGG": "1" */ "RAY_DEBUGG": "1", "RAY_DEBUG": "true", "OTHER": "true" },
      "RAY_DEBUGG": "elsewhere",
    },
    { "env": {"RAY_DEBUG_POST_MORTEM": 1, "PATH": "a // b"} },
    { "env": {"RAY_DEBUG": "legacy"} },
  ],
}
"""


def test_the_variables_under_env_are_looked_at() -> None:
    found = [(one.span.line, one.code) for one in examine_launch_json(TEXT)]
    assert found == [(7, "ray-debug-name"), (7, "ray-debug-value"), (10, "ray-debug-value"), (11, "ray-debug-legacy")]


def test_a_place_is_that_of_the_name_or_the_value() -> None:
    texts = []
    for finding in examine_launch_json(TEXT):
        texts.append(TEXT.splitlines()[finding.span.line - 1][finding.span.column : finding.span.end_column])
    assert texts == ['"RAY_DEBUGG"', '"true"', "1", '"legacy"']


def test_columns_are_bytes() -> None:
    (finding,) = examine_launch_json('{"env": {"ä😀": "x", "RAY_DEBUG": "on"}}')
    assert finding.span.column == len('{"env": {"ä😀": "x", "RAY_DEBUG": '.encode())


@pytest.mark.parametrize("text", ["", "}", "{", '{"env": {"RAY_DEBUG"', '{"env": {"RAY_DEBUG": ', '"\\', "[[[]", "/*"])
def test_half_of_a_file_is_no_fault(text: str) -> None:
    assert examine_launch_json(text) == []


def test_every_beginning_of_a_file_can_be_read() -> None:
    for length in range(len(TEXT)):
        examine_launch_json(TEXT[:length])
