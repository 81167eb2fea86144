"""Prints text for the user. All that raydap prints passes through here or through the consoles of
`terminal/screen.py`, which show only `visible` text."""

import logging
import sys

from raydap.presentation.safe_text import visible


def line(text: str, error: bool = False) -> None:
    """Print visible text and a line break to standard output, or to standard error. Raises OSError."""
    piece(f"{visible(text)}\n", error)


def piece(text: str, error: bool = False) -> None:
    """Print text unchanged, and at once. Only for output of the user's own program, and for text made safe already.
    Raises OSError and ValueError."""
    stream = sys.stderr if error else sys.stdout
    stream.write(text)
    stream.flush()


class LogFormatter(logging.Formatter):
    """Formats a log that a terminal may show. Further lines of a record are indented, so none looks like a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        return visible(super().format(record)).replace("\n", "\n  ")
