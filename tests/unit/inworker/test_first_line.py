"""The first line of a program, at which `stopOnEntry` stops."""

from pathlib import Path

import pytest

from raydap.inworker.first_line import first_line


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import ray\n", [1]),
        ('#!/usr/bin/env python3\n# coding: latin-1\n"""Text.\n\nMore.\n"""\n\nimport ray\n', [8]),
        ('"""Only text."""\n', []),
        ("# nothing\n", []),
        ("@decorator\ndef main(): ...\n", [2]),
    ],
)
def test_the_first_line_of_a_file(source: str, lines: list[int], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(source)
    assert first_line(str(path)) == lines


def test_a_file_that_is_no_program_raises(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises((SyntaxError, ValueError)):
        first_line(str(path))
