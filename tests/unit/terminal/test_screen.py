"""Tables at every width of a terminal."""

import io
import re
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from raydap.terminal import screen

COLUMNS = ["STATE", "WORKER", "NODE", "PID", "WHERE"]
CUT, DROP = ("WORKER", "WHERE"), ("NODE", "PID")


def lines(rows: Sequence[Sequence[str | Text]], width: int) -> list[str]:
    """Return the lines of the table as shown, without trailing spaces."""
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, emoji=False, highlight=False)
    console.print(screen.table(COLUMNS, rows, width, CUT, DROP))
    shown = file.getvalue().split("\n")
    assert all(cell_len(line) <= width for line in shown)
    return [line.rstrip() for line in shown[:-1]]


ROWS = [
    ["stopped", "Trainer 0 · step", "10.0.0.1", "4711", "in step (train.py:42) ValueError: " + "x" * 20],
    ["alive", "Rollout", "10.0.0.12", "5", ""],
]


def test_what_fits_is_shown_whole() -> None:
    assert lines(ROWS, 200) == [
        "STATE    WORKER            NODE       PID   WHERE",
        "stopped  Trainer 0 · step  10.0.0.1   4711  in step (train.py:42) ValueError: xxxxxxxxxxxxxxxxxxxx",
        "alive    Rollout           10.0.0.12  5",
    ]


def test_the_last_column_is_cut_first() -> None:
    shown = lines(ROWS, 70)
    assert shown[0] == "STATE    WORKER            NODE       PID   WHERE"
    assert shown[1] == "stopped  Trainer 0 · step  10.0.0.1   4711  in step (train.py:42) Val…"


def test_columns_are_left_out_when_it_could_not_be_read() -> None:
    assert lines(ROWS, 60)[:2] == [
        "STATE    WORKER            PID   WHERE",
        "stopped  Trainer 0 · step  4711  in step (train.py:42) Valu…",
    ]
    assert lines(ROWS, 50)[1] == "stopped  Trainer 0 · step  in step (train.py:42) …"


def test_a_long_name_is_cut_to_what_can_be_read() -> None:
    rows = [["alive", "prepare_" * 10, "10.0.0.1", "1", "in f (a.py:1)"]]
    assert lines(rows, 80)[1] == f"alive  {('prepare_' * 10)[: screen.READABLE - 1]}…  10.0.0.1  1    in f (a.py:1)"


def test_wide_characters_take_two_columns() -> None:
    rows = [["alive", "訓練", "10.0.0.1", "1", "停止中" * 10], ["alive", "Rollout", "10.0.0.1", "2", "here"]]
    shown = lines(rows, 56)
    assert [line.find("10.0.0.1") for line in shown[1:]] == [14, 16]
    assert all(cell_len(line[: line.find("10.0.0.1")]) == 16 for line in shown[1:])
    assert shown[1].endswith("  停止中停止中停止中停止中…")


def test_no_rows() -> None:
    assert lines([], 80) == ["STATE  WORKER  NODE  PID  WHERE"]


def test_nothing_in_a_cell_is_markup() -> None:
    rows: list[list[str | Text]] = [["alive", "[red]x[/red]", ":smile:", "1", Text("[0]", "bold")]]
    assert lines(rows, 80)[1] == "alive  [red]x[/red]  :smile:  1    [0]"


@pytest.mark.parametrize("width", range(1, 30))
def test_tiny_widths(width: int) -> None:
    assert len(lines(ROWS, width)) == 3


@given(
    st.lists(st.lists(st.text("a訓e\u0301 [é👩\u200d🚀", max_size=60), min_size=5, max_size=5), max_size=3),
    st.integers(1, 120),
)
def test_no_line_is_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    assert len(lines(rows, width)) == 1 + len(rows)


@pytest.mark.parametrize("cell", ["\u200d\u200d[[[", "a\u200d[b", "訓\u200d訓", "👩\u200d🚀", "👩\u200d"])
def test_a_joiner_hides_no_character(cell: str) -> None:
    for width in range(14, 24):
        assert len(lines([["", "", "", "", cell]], width)) == 2


def test_a_pipe_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest captures the output, so it is not a terminal."""
    assert screen.console(environ={}).width > 10_000
    monkeypatch.setenv("COLUMNS", "33")
    assert screen.console().width == 33


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("show", ["text", "table", "out"])
def test_a_worker_cannot_move_the_cursor(monkeypatch: pytest.MonkeyPatch, show: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    bad = "a\x1b]0;title\x07b\x9b2Jc\rd\u00a0e"

    def written(file: io.StringIO) -> str:
        monkeypatch.setattr(sys, "stdout", file)
        console = screen.console()
        if show == "table":
            console.print(screen.table(["NAME"], [[bad]], 80, ("NAME",), ()))
        elif show == "text":
            console.print(Text(bad, "red"))
        else:
            console.out(bad, highlight=False)
        return file.getvalue()

    # rich's own bold header does not come from a worker.
    on_terminal = re.sub(r"\x1b\[[01]m", "", written(_Tty()))
    assert "]0;title" in on_terminal
    assert "d\u00a0e" in on_terminal
    assert not set(on_terminal) & {"\x1b", "\x07", "\x9b", "\r"}
    # A pipe gets the unchanged text, except in a table, which is for people.
    assert ("\x1b]0;title" in written(io.StringIO())) == (show != "table")
