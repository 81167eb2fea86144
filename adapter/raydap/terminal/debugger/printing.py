"""What the debugger prints: lines of source, values and messages."""

from collections.abc import Collection, Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from raydap.presentation.safe_text import one_line

_CODE = Syntax("", "python", theme="ansi_dark")


class Output:
    """Writes to a console, above the line that the user types."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def text(self, text: str, style: str = "") -> None:
        """As it is, whatever characters it has."""
        self._console.print(Text(text, style), soft_wrap=True)

    def error(self, text: str) -> None:
        """As pdb writes errors."""
        self._sentence(Text(f"*** {text}", "red"))

    def note(self, text: str, is_important: bool = False) -> None:
        """Something that the user has not asked for."""
        self._sentence(Text(text, "yellow" if is_important else "dim"))

    def _sentence(self, text: Text) -> None:
        """A terminal would break the line within a word."""
        self._console.print(text, soft_wrap=not self._console.is_terminal)

    def rich(self, renderable: object) -> None:
        self._console.print(renderable)

    def place(self, label: str, place: str, line: str) -> None:
        """As pdb shows where it is, with the worker before it."""
        head = Text("> ")
        head.append(one_line(label), "bold cyan")
        head.append(f" {one_line(place)}\n-> ")
        # At once, or what the user types would come in between.
        self._console.print(head.append_text(highlighted(line.strip())), soft_wrap=True)

    def source(self, lines: Sequence[str], first: int, current: int, breakpoints: Collection[int]) -> None:
        """`lines` begin at the number `first`. The mark `->` is at `current`, and `B` at lines with breakpoints."""
        width = len(str(first + len(lines)))
        for number, line in enumerate(lines, first):
            mark = ("B" if number in breakpoints else " ") + ("->" if number == current else "  ")
            text = Text(f"{number:>{max(width, 3)}} ", "dim")
            text.append(f"{mark} ", "bold red" if number in breakpoints else "bold")
            self._console.print(text.append_text(highlighted(line)), soft_wrap=True)


def highlighted(line: str) -> Text:
    text = _CODE.highlight(line)
    text.rstrip()
    return text
