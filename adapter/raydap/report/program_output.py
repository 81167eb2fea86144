"""The output of the program: it is passed on immediately, and its last lines are kept for the report."""

from collections import deque
from collections.abc import Callable, Iterator

MAX_LINES = 200
"""The number of complete lines that are kept."""

MAX_LINE = 2000
"""The number of characters of each line that are kept."""


class ProgramOutput:
    """The output of one program. `echo` is called with the category and the text of each piece."""

    def __init__(self, echo: Callable[[str, str], None]) -> None:
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        """The last complete lines."""
        self._echo = echo
        self._rest = {"stdout": "", "stderr": ""}
        """The incomplete last line of each stream."""

    def take(self, category: str, text: str) -> None:
        """Pass on a piece of output, and keep its lines. `category` is `stdout` or `stderr`."""
        self._echo(category, text)
        *complete, rest = (self._rest[category] + text).split("\n")
        self.lines.extend(line[:MAX_LINE] for line in complete)
        # Bound the memory for a program that never ends its line.
        self._rest[category] = rest[:MAX_LINE]

    def all(self) -> Iterator[str]:
        """Yield the complete lines, then the incomplete last line of each stream."""
        yield from self.lines
        yield from (rest for rest in self._rest.values() if rest)
