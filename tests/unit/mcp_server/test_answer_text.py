"""The size and the order of an answer."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.mcp_server.answer_text import LONGEST_LINE, USUAL_BYTES, Folder, compose


def test_a_short_answer_is_whole() -> None:
    text = compose("1 stopped", ["a", "b\nc"], ["step 1"], 3, "look()", lambda text: pytest.fail(text))
    assert text.splitlines() == [
        "1 stopped",
        "a",
        "b",
        "c",
        "output:",
        "(3 older lines of output are left out)",
        "step 1",
        "Next: look()",
    ]


def test_what_does_not_fit_is_in_a_file() -> None:
    written: list[str] = []
    body = [f"line {number}" for number in range(1000)]

    def write(text: str) -> str:
        written.append(text)
        return "/tmp/answer"

    text = compose("1 stopped", body, ["out"] * 20, 0, "look()", write)
    assert len(text.encode()) <= USUAL_BYTES
    lines = text.splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("1 stopped", "line 0", "Next: look()")
    assert any("more lines; all of them: /tmp/answer" in line for line in lines)
    assert "line 999" in written[0]


def test_a_long_line_does_not_displace_the_others() -> None:
    text = compose("1 stopped", ["x" * 10_000, "y"], [], 0, "look()", lambda text: "/tmp/answer")
    assert text.splitlines()[2:] == ["y", "The whole answer: /tmp/answer", "Next: look()"]
    assert len(text.splitlines()[1]) == LONGEST_LINE


def test_a_full_disk_costs_only_the_file() -> None:
    def fail(text: str) -> str:
        raise OSError(28, "No space left on device")

    text = compose("1 stopped", ["x" * 10_000], [], 0, "look()", fail)
    assert "no file can be written (No space left on device)" in text


@given(st.lists(st.text(max_size=2000), max_size=60), st.lists(st.text(max_size=500), max_size=20))
def test_no_answer_is_larger_than_the_limit(body: list[str], output: list[str]) -> None:
    text = compose("1 stopped, 3 running", body, output, 7, "wait()", lambda text: "/tmp/raydap-answers-x/1.txt")
    assert len(text.encode(errors="replace")) <= USUAL_BYTES
    assert text.startswith("1 stopped, 3 running\n")
    assert text.endswith("\nNext: wait()")


def test_files_are_private_and_removed_at_the_end() -> None:
    folder = Folder()
    folder.close()
    path = Path(folder.write("whole"))
    assert (path.read_text(), path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (
        "whole",
        0o700,
        0o600,
    )
    folder.close()
    assert not path.parent.exists()
