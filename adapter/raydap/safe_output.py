"""Prints text for the user.

raydap prints only through this module and through the consoles of `terminal/screen.py`. Both make text `visible` first,
except for `piece`.
"""

import logging
import sys

from raydap.presentation.safe_text import visible


def line(text: str, error: bool = False) -> None:
    """Print `visible` text and a line break to standard output, or to standard error if `error`. Raises OSError."""
    piece(f"{visible(text)}\n", error)


def piece(text: str, error: bool = False) -> None:
    """Print text unchanged, and flush it. Raises OSError and ValueError.

    Use it only for output of the user's own program, and for text that is already safe.
    """
    stream = sys.stderr if error else sys.stdout
    stream.write(text)
    stream.flush()


class LogFormatter(logging.Formatter):
    """A format for logs that a terminal may show.

    Further lines of a record are indented, so that none looks like a record of its own.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as `visible` text."""
        return visible(super().format(record)).replace("\n", "\n  ")
