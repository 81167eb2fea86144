"""A program in a real pseudo-terminal, whose screen is read as a user reads it."""

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
from pathlib import Path
from typing import Any

import pyte
from local_cluster import clean_environment


class _Screen(pyte.HistoryScreen):
    """Answers the program's questions where the cursor is, as terminals do."""

    def __init__(self, columns: int, lines: int, descriptor: int) -> None:
        super().__init__(columns, lines, history=10_000, ratio=0.5)
        self._descriptor = descriptor

    def write_process_input(self, data: str) -> None:
        os.write(self._descriptor, data.encode())


class Terminal:
    """Ends its program when it is left."""

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
        self._set_size(columns, lines)
        environment = clean_environment({"TERM": "xterm-256color", **(env or {})})
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
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
        """All that has been shown, also what is above the screen by now."""
        with self._lock:
            above = ["".join(line[column].data for column in range(self._screen.columns)) for line in self._history()]
            return "\n".join(line.rstrip() for line in [*above, *self._screen.display]).rstrip()

    @property
    def raw(self) -> bytes:
        return self._raw

    def _history(self) -> list[Any]:
        return list(self._screen.history.top)

    def send(self, text: str) -> None:
        os.write(self._main, text.encode())

    def line(self, text: str) -> None:
        """Types a line, and Enter."""
        self.send(f"{text}\r")

    def wait_for(self, pattern: str, after: int = 0, seconds: float = 60) -> re.Match[str]:
        """Waits until what is shown matches, behind the character `after` of `text`. Raises AssertionError with the
        screen."""
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
        """Presses keys at an empty prompt, `(NAME)`, for which it waits. Without a prompt the terminal shows keys as it
        likes, loses Ctrl-D, and sends a signal for Ctrl-C."""
        self.wait_for(r"^\([^()\n]*\)\Z")
        self.send(keys)

    def ask(self, text: str, pattern: str) -> re.Match[str]:
        """Types a line and waits for what matches behind it."""
        before = len(self.text)
        self.line(text)
        return self.wait_for(pattern, after=before)

    def resize(self, columns: int, lines: int) -> None:
        with self._lock:
            self._screen.resize(lines, columns)
        self._set_size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def wait(self, seconds: float = 60) -> int:
        """The exit code, when all that the program has written is shown."""
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
        """Until the program and all that it has started have closed the terminal."""
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
