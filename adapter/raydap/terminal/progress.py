"""A line in the terminal with what a command waits for, if that takes long."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from raydap.terminal import screen

DELAY_S = 1.0
"""Seconds of waiting after which the line appears."""


class Progress:
    """A line that is shown only during waits, from DELAY_S after the first wait began.

    Without a console, or if the console is not a terminal, there is no line. During a wait, the command must not write
    anything else to the terminal.
    """

    def __init__(self, console: Console | None = None, delay_s: float = DELAY_S) -> None:
        can_redraw = console is not None and console.is_terminal and not console.is_dumb_terminal
        self._status = Status("", console=console) if can_redraw else None
        self._delay_s = delay_s
        self._show_at: float | None = None

    @contextmanager
    def during(self, text: str) -> Iterator[None]:
        """Show `text` while the block of the `with` statement waits. Needs a running event loop."""
        status = self._status
        if status is None:
            yield
            return
        loop = asyncio.get_running_loop()
        if self._show_at is None:
            self._show_at = loop.time() + self._delay_s
        timer = loop.call_at(self._show_at, self._show, text)
        try:
            yield
        finally:
            timer.cancel()
            status.stop()

    def end(self) -> None:
        """Show no line from now on, because the command shows something else."""
        if self._status is not None:
            self._status.stop()
        self._status = None

    @staticmethod
    def of_command() -> "Progress":
        """Return a Progress on standard error, which shows a line only if that is a terminal.

        rich alone would take a pipe for a terminal if FORCE_COLOR is set.
        """
        return Progress(screen.console(stderr=True) if sys.stderr.isatty() else None)

    def _show(self, text: str) -> None:
        if self._status is not None:
            self._status.update(f"{text} ...")
            self._status.start()
