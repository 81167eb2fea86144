"""The text of an answer: the state of the session, what the tool has found, new output, and the next call."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence

from raydap import safe_files
from raydap.presentation.short_text import shortened

USUAL_BYTES = 2048
"""The most bytes of an answer; what is longer goes into a file."""

LONGEST_LINE = 400
"""The most characters of a line. One long value must not displace all other lines."""

OUTPUT_LINES = 20
"""The most lines of new output in an answer."""


class Folder:
    """A private folder for answers that are too long. It is made when it is needed, and must be closed."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._count = 0

    def write(self, text: str) -> str:
        """Write a whole answer, and return the path of the file. Raises OSError."""
        self._path = self._path or tempfile.mkdtemp(prefix="raydap-answers-")
        self._count += 1
        path = os.path.join(self._path, f"{self._count}.txt")
        safe_files.replace(path, text.encode(errors="replace"), 0o600)
        return path

    def close(self) -> None:
        """Remove the folder."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)


def compose(
    state: str, body: Sequence[str], output: Sequence[str], dropped: int, following: str, write: Callable[[str], str]
) -> str:
    """Return an answer of at most USUAL_BYTES bytes.

    `output` are the newest lines of the program's output; `dropped` is the number of older ones. `following` is the
    next call. If lines do not fit, `write` gets the whole answer and returns the path of the file.
    """
    body = [line for text in body for line in text.splitlines()]
    older = [f"({dropped} older lines of output are left out)"] if dropped else []
    tail = [*(["output:"] if output else []), *older, *output]
    last = f"Next: {following}"
    short = [shortened(line, LONGEST_LINE) for line in body]
    tail = [shortened(line, LONGEST_LINE // 2) for line in tail]
    whole = "\n".join([state, *short, *tail, last])
    if _size(whole) <= USUAL_BYTES and short == body:
        return whole
    where = _written("\n".join([state, *body, *tail, last]), write)
    room = USUAL_BYTES - _size("\n".join([state, where, last])) - 40
    kept_tail = _fitting(tail[::-1], room // 2)[::-1]
    kept = _fitting(short, room - sum(_size(line) + 1 for line in kept_tail))
    missing = len(short) - len(kept)
    more = [f"{missing} more lines; all of them: {where}" if missing else f"The whole answer: {where}"]
    return "\n".join([state, *kept, *more, *kept_tail, last])


def _written(text: str, write: Callable[[str], str]) -> str:
    try:
        return write(text)
    except OSError as error:
        return f"no file can be written ({error.strerror})"


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines that have at most `room` bytes together."""
    kept = []
    for line in lines:
        room -= _size(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
