"""What the program prints: passed on as it comes, and its last lines kept."""

from collections import deque
from collections.abc import Callable, Iterator

MAX_LINES = 200

MAX_LINE = 2000
"""Characters of a line."""


class ProgramOutput:
    """`echo` gets each piece with its category, `stdout` or `stderr`. `lines` are the last ones that are complete."""

    def __init__(self, echo: Callable[[str, str], None]) -> None:
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        self._echo = echo
        self._rest = {"stdout": "", "stderr": ""}

    def take(self, category: str, text: str) -> None:
        self._echo(category, text)
        *complete, rest = (self._rest[category] + text).split("\n")
        self.lines.extend(line[:MAX_LINE] for line in complete)
        # A line that never ends takes no more memory than one that does.
        self._rest[category] = rest[:MAX_LINE]

    def all(self) -> Iterator[str]:
        yield from self.lines
        yield from (rest for rest in self._rest.values() if rest)
