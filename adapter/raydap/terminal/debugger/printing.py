"""The output of the debugger: lines of source, values and messages."""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from raydap.presentation.safe_text import one_line

_CODE = Syntax("", "python", theme="ansi_dark")


class Output:
    """Prints to a console, above the prompt."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def text(self, text: str, style: str = "") -> None:
        """Print text unchanged: rich neither wraps it nor interprets markup in it."""
        self._console.print(Text(text, style), soft_wrap=True)

    def error(self, text: str) -> None:
        """Print an error as pdb does, after `***`."""
        self._sentence(Text(f"*** {text}", "red"))

    def note(self, text: str, is_important: bool = False) -> None:
        """Print a message that no command has requested."""
        self._sentence(Text(text, "yellow" if is_important else "dim"))

    def _sentence(self, text: Text) -> None:
        """Print a sentence, which rich wraps between words on a terminal: the terminal would break it within a word."""
        self._console.print(text, soft_wrap=not self._console.is_terminal)

    def rich(self, renderable: object) -> None:
        """Print an object that rich can render, such as a table."""
        self._console.print(renderable)

    def place(self, label: str, place: str, line: str) -> None:
        """Print a place and its line of source as pdb does, with the worker's name before them."""
        head = Text("> ")
        head.append(one_line(label), "bold cyan")
        head.append(f" {one_line(place)}\n-> ")
        # Print both lines at once, or the line that the user types could come between them.
        self._console.print(head.append_text(highlighted(line.strip())), soft_wrap=True)

    def source(self, lines: Sequence[str], first: int, current: int, breakpoints: Collection[int]) -> None:
        """Print lines of source with their numbers, `->` at the line `current`, and `B` at the lines `breakpoints`.

        `first` is the number of the first of `lines`.
        """
        width = len(str(first + len(lines)))
        for number, line in enumerate(lines, first):
            mark = ("B" if number in breakpoints else " ") + ("->" if number == current else "  ")
            text = Text(f"{number:>{max(width, 3)}} ", "dim")
            text.append(f"{mark} ", "bold red" if number in breakpoints else "bold")
            self._console.print(text.append_text(highlighted(line)), soft_wrap=True)


def highlighted(line: str) -> Text:
    """Return a line of Python in colours, without white space at its end."""
    text = _CODE.highlight(line)
    text.rstrip()
    return text
