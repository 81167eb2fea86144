"""What a command waits for, said on the terminal when it takes long."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from raydap.terminal import screen

DELAY_S = 1.0
"""Seconds after which a user wonders."""


class Progress:
    """A line that is there only while something is waited for, from DELAY_S after the first wait began. Without a
    console, or on one that is no terminal, there is none. Nothing else may be written meanwhile."""

    def __init__(self, console: Console | None = None, delay_s: float = DELAY_S) -> None:
        can_redraw = console is not None and console.is_terminal and not console.is_dumb_terminal
        self._status = Status("", console=console) if can_redraw else None
        self._delay_s = delay_s
        self._show_at: float | None = None

    @contextmanager
    def during(self, text: str) -> Iterator[None]:
        """Says `text` while its block waits. Needs a running event loop."""
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
        """From now on something else is shown."""
        if self._status is not None:
            self._status.stop()
        self._status = None

    @staticmethod
    def of_command() -> "Progress":
        """On standard error, if that is a terminal: FORCE_COLOR makes none of a pipe."""
        return Progress(screen.console(stderr=True) if sys.stderr.isatty() else None)

    def _show(self, text: str) -> None:
        if self._status is not None:
            self._status.update(f"{text} ...")
            self._status.start()
