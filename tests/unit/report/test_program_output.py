"""The last lines of a program are kept, while all output is forwarded as it comes."""

from raydap.report.watched_run import MAX_LINE, MAX_LINES, ProgramOutput


def test_lines_are_put_together() -> None:
    echoed: list[tuple[str, str]] = []
    output = ProgramOutput(lambda *piece: echoed.append(piece))
    for piece in ("a", "b\nc", "\n", "rest"):
        output.take("stdout", piece)
    output.take("stderr", "error\n")
    assert echoed[:2] == [("stdout", "a"), ("stdout", "b\nc")]
    assert list(output.all()) == ["ab", "c", "error", "rest"]


def test_only_the_last_lines_are_kept() -> None:
    output = ProgramOutput(lambda *_: None)
    for number in range(1000):
        output.take("stdout", f"{number}\n")
    output.take("stdout", "x" * 10_000)
    output.take("stdout", "y" * 10_000)
    assert len(output.lines) == MAX_LINES
    *_, last, rest = output.all()
    assert (last, len(rest)) == ("999", MAX_LINE)
