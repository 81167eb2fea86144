"""The output of the debugger, character by character."""

import io

from rich.console import Console

from raydap.terminal.debugger.printing import Output, highlighted


def printed(width: int = 40, is_terminal: bool = False) -> tuple[Output, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, emoji=False, force_terminal=is_terminal, color_system=None)
    return Output(console), file


def test_values_are_printed_unchanged() -> None:
    output, file = printed()
    for text in ("[bold]x[/bold] :smile:", "x" * 90, "two\nlines  ", ""):
        output.text(text)
        assert file.getvalue() == f"{text}\n"
        file.seek(0)
        file.truncate()


def test_sentences_are_broken_between_words_in_a_terminal_only() -> None:
    words = "word " * 15
    output, file = printed(is_terminal=True)
    output.error(words)
    lines = file.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("*** word word")
    assert all(set(line.split()) <= {"***", "word"} for line in lines)
    output, file = printed()
    output.note(words, is_important=True)
    assert file.getvalue() == f"{words}\n"


def test_the_place_of_a_stop() -> None:
    output, file = printed()
    output.place("Trainer 1", "train.py(7)step()", "        loss = [x for x in y]  ")
    assert file.getvalue() == "> Trainer 1 train.py(7)step()\n-> loss = [x for x in y]\n"
    output, file = printed()
    output.place("prepare 4711", "a.py(1)<module>", "")
    assert file.getvalue() == "> prepare 4711 a.py(1)<module>\n-> \n"


def test_lines_have_numbers_and_marks() -> None:
    output, file = printed(width=10)
    output.source(["def step():", "    [x] = y" + " + 1" * 10, ""], 998, 999, {999, 1000})
    assert file.getvalue().splitlines() == [
        " 998     def step():",
        " 999 B->     [x] = y" + " + 1" * 10,
        "1000 B   ",
    ]


def test_highlighting_keeps_the_line() -> None:
    for line in ("    x = 'é' # ü", "def", "\tif x:", '"""', "\x00 $", ""):
        assert highlighted(line).plain in (line, line.expandtabs(4), line.rstrip())
