"""A program in a real pseudo-terminal, whose screen a test reads like a user."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyte
from local_cluster import clean_environment

from support import fork_server
from support.raydap_command import RAYDAP


class Run(NamedTuple):
    """Characters of one row of the screen that look alike."""

    text: str
    """The characters."""
    colour: str
    """A name of pyte, such as `red` or `default`, or six hexadecimal digits."""
    is_bold: bool
    """Whether they are bold."""


class _Screen(pyte.HistoryScreen):
    """A screen that answers the program's queries of the cursor position, as terminals do."""

    def __init__(self, columns: int, lines: int, descriptor: int) -> None:
        super().__init__(columns, lines, history=10_000, ratio=0.5)
        self._descriptor = descriptor

    def write_process_input(self, data: str) -> None:
        os.write(self._descriptor, data.encode())


class Terminal:
    """A program in a pseudo-terminal. Leaving the context ends the program.

    The command `raydap` is forked from a process that has imported it (fork_server).
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        columns: int = 100,
        lines: int = 40,
        cwd: Path | None = None,
    ) -> None:
        self._main, theirs = pty.openpty()
        self._lock = threading.Lock()
        self._screen = _Screen(columns, lines, self._main)
        self._stream = pyte.ByteStream(self._screen)
        self._raw = b""
        #: The text of the screen; None after a change. It takes milliseconds, and `wait_for` reads it repeatedly.
        self._text: str | None = None
        self._set_size(columns, lines)
        environment = clean_environment({"TERM": "xterm-256color", **(env or {})})
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
        self.process: subprocess.Popen[bytes] | fork_server.Forked
        if tuple(command[: len(RAYDAP)]) == RAYDAP:
            self.process = fork_server.RAYDAP.fork(command[len(RAYDAP) :], (theirs, theirs, theirs), environment, cwd)
        else:
            self.process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=cwd,
                start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )  # fmt: skip
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def text(self) -> str:
        """Return everything that has been shown, including what has scrolled off the screen."""
        with self._lock:
            if self._text is None:
                columns = range(self._screen.columns)
                above = ["".join(line[column].data for column in columns) for line in self._history()]
                self._text = "\n".join(line.rstrip() for line in [*above, *self._screen.display]).rstrip()
            return self._text

    def rows(self) -> tuple[tuple[Run, ...], ...]:
        """Return the rows that the screen shows now, without spaces at their ends. An empty row is ()."""
        with self._lock:
            shown = [
                [self._screen.buffer[line][column] for column in range(self._screen.columns)]
                for line in range(self._screen.lines)
            ]
        rows = []
        for cells in shown:
            width = len("".join(cell.data for cell in cells).rstrip())
            looks = groupby(cells[:width], lambda cell: (cell.fg, cell.bold))
            rows.append(tuple(Run("".join(cell.data for cell in run), *look) for look, run in looks))
        return tuple(rows)

    @property
    def raw(self) -> bytes:
        return self._raw

    def _history(self) -> list[Any]:
        return list(self._screen.history.top)

    def send(self, text: str) -> None:
        os.write(self._main, text.encode())

    def line(self, text: str) -> None:
        """Type a line and press Enter."""
        self.send(f"{text}\r")

    def wait_for(self, pattern: str, after: int = 0, seconds: float = 60) -> re.Match[str]:
        """Wait until the text matches after its character number `after`. Raises AssertionError with the screen."""
        deadline = time.monotonic() + seconds
        while True:
            ended = not self._reader.is_alive()
            shown = self.text
            if found := re.compile(pattern, re.MULTILINE).search(shown, after):
                return found
            assert not ended, f"the program has ended, awaited {pattern!r}:\n{shown}"
            assert time.monotonic() < deadline, f"awaited {pattern!r}:\n{shown}"
            time.sleep(0.02)

    def press(self, keys: str) -> None:
        """Wait for an empty prompt, `(NAME)`, and press keys.

        Without a prompt, the terminal itself echoes the keys, loses Ctrl-D, and turns Ctrl-C into a signal.
        """
        self.wait_for(r"^\([^()\n]*\)\Z")
        self.send(keys)

    def ask(self, text: str, pattern: str) -> re.Match[str]:
        """Type a line and wait for a match after it."""
        before = len(self.text)
        self.line(text)
        return self.wait_for(pattern, after=before)

    def resize(self, columns: int, lines: int) -> None:
        with self._lock:
            self._screen.resize(lines, columns)
            self._text = None
        self._set_size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def wait(self, seconds: float = 60) -> int:
        """Wait until the program has ended and all its output is shown; return the exit code."""
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(5)
        with suppress(OSError):
            os.close(self._main)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _read(self) -> None:
        """Read until the program and all processes that it has started have closed the terminal."""
        while True:
            try:
                if not select.select([self._main], [], [], 1)[0]:
                    if self.process.poll() is not None:
                        return
                    continue
                data = os.read(self._main, 65536)
            except (OSError, ValueError):
                return
            if not data:
                return
            self._raw += data
            with self._lock:
                self._stream.feed(data)
                self._text = None
