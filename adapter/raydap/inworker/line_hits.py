"""Counts how often a process gets to a line, and tells seldom enough what it has seen there; runs in the worker.

`raydap report` sets breakpoints whose condition calls this, and logpoints whose message does (calls.py, `stops_at_hit`
and `hit_message`). A line may be hit a million times a second: each hit costs some microseconds, but only few stop the
thread or send a message.
"""

import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any

from .safe_values import value_text

PAUSE_S = 0.1
"""Seconds between two messages of a line, at least."""

MESSAGES = 500
"""In the time since the first hit about so many messages are told, so that a day costs little more than an hour."""

QUIET_S = 0.2
"""Seconds after the last hit of a line, after which what was not told is."""

FIRST_STOPS = 3
"""The first hits stop the thread; then those whose number is a power of two do: forty in a million million."""

_HIT_CLOCK = time.time() - time.monotonic()


def _hit_time() -> float:
    """Return the time of day without the jumps of the machine's clock: if it were set back by an hour, no message would
    come for an hour. Workers do not have steady_time.py, which does the same."""
    return _HIT_CLOCK + time.monotonic()


class _Line:
    """What has been seen since the last message. `hits` are all since the process is debugged; `last` is when the last
    one was, and `is_untold` whether a message has still to come."""

    def __init__(self, number: int, marker: str) -> None:
        self.number = number
        self.marker = marker
        self.hits = 0
        self.failed = 0
        self.first = self.last = self.told = 0.0
        self.forget()

    def forget(self) -> None:
        self.is_untold = False
        self.seen: dict[str, Any] = {"count": 0, "nan": 0, "inf": 0, "low": None, "high": None, "last": None}
        self.seen |= {"text": "", "error": ""}

    def told_now(self, at_once: bool = False) -> str:
        """The message, if one is due now: the first one always is."""
        now = _hit_time()
        self.last = now
        if self.first and not at_once and now - self.told < max(PAUSE_S, (now - self.first) / MESSAGES):
            self.is_untold = True
            return ""
        self.first = self.first or now
        return self.message(now)

    def add(self, value: Any) -> None:
        seen = self.seen
        seen["count"] += 1
        number = _number(value)
        seen["text"] = value_text(value) if number is None else ""
        seen["last"] = number if number is not None and math.isfinite(number) else None
        if number is None:
            return
        if math.isfinite(number):
            seen["low"] = number if seen["low"] is None else min(seen["low"], number)
            seen["high"] = number if seen["high"] is None else max(seen["high"], number)
        else:
            seen["nan" if number != number else "inf"] += 1

    def message(self, now: float) -> str:
        told = {"line": self.number, "hits": self.hits, "failed": self.failed, **self.seen}
        self.told = now
        self.forget()
        return self.marker + json.dumps(told) + self.marker


class LineHits:
    """`send` takes a message of a line that may stop. Lines are known by their numbers, which raydap gives them."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._lines: dict[int, _Line] = {}
        self._codes: dict[str, Any] = {}
        # Reentrant, because a signal handler may get to a line, too.
        self._lock = threading.RLock()
        self._has_thread = False

    def stops(self, number: int, marker: str, condition: str, names: Any, variables: Any) -> bool:
        """Whether this hit stops the thread. A condition that fails is not met, and is told."""
        error = ""
        try:
            if condition and not self._value(condition, names, variables):
                return False
        except Exception as failure:
            error = _one_line(failure)
        with self._lock:
            line = self._line(number, marker)
            if error:
                line.failed += 1
                line.seen["error"] = error
                is_stop = False
            else:
                line.hits += 1
                is_stop = line.hits <= FIRST_STOPS or line.hits & (line.hits - 1) == 0
            told = line.told_now(at_once=is_stop)
        if told:
            self._send(told)
        else:
            self._tell_later()
        return is_stop

    def message(self, number: int, marker: str, expression: str, names: Any, variables: Any) -> str:
        """What is to be told now of the expression's values, "" for nothing: debugpy sends no empty message."""
        value, error = None, ""
        try:
            value = self._value(expression, names, variables)
        except Exception as failure:
            error = _one_line(failure)
        with self._lock:
            line = self._line(number, marker)
            line.hits += 1
            if error:
                line.failed += 1
                line.seen["error"] = error
            else:
                line.add(value)
            told = line.told_now()
        if not told:
            self._tell_later()
        return told

    def tell_quiet(self) -> bool:
        """Tells what is untold of lines that nobody comes to any more. Returns whether there may be more."""
        now = _hit_time()
        with self._lock:
            untold = [line for line in self._lines.values() if line.is_untold]
            quiet = [line.message(now) for line in untold if now - line.last >= QUIET_S]
            self._has_thread = len(quiet) < len(untold)
        for each in quiet:
            self._send(each)
        return self._has_thread

    def _tell_later(self) -> None:
        """A thread that lives only while something is untold, and that neither debuggers nor the end of the process
        mind."""
        if self._has_thread:
            return
        self._has_thread = True
        thread: Any = threading.Thread(target=self._wait_quiet, name="raydap", daemon=True)
        thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
        try:
            thread.start()
        except RuntimeError:
            self._has_thread = False  # The process ends, or can have no more threads.

    def _wait_quiet(self) -> None:
        time.sleep(QUIET_S)
        while self.tell_quiet():
            time.sleep(QUIET_S)

    def _line(self, number: int, marker: str) -> _Line:
        line = self._lines.get(number)
        if line is None:
            line = self._lines[number] = _Line(number, marker)
        return line

    def _value(self, expression: str, names: Any, variables: Any) -> Any:
        code = self._codes.get(expression)
        if code is None:
            code = self._codes[expression] = compile("(" + expression.strip() + "\n)", "<raydap report>", "eval")
        return eval(code, names, variables)


def _number(value: Any) -> "float | None":
    """That of Python's numbers, and of those of numpy, torch and jax without dimensions; None for all else."""
    if isinstance(value, (int, float)) or (getattr(value, "shape", None) == () and hasattr(value, "__float__")):
        try:
            return float(value)
        except Exception:
            return None
    return None


def _one_line(failure: Exception) -> str:
    return (type(failure).__name__ + ": " + " ".join(str(failure).split()))[:200]


def line_hits(debugger: Any) -> LineHits:
    """Those of this process, for as long as this debugger object lives. A message goes the way of a logpoint's
    (_pydevd_sys_monitoring.py and pydevd_frame.py)."""

    def send(text: str) -> None:
        debugger.writer.add_command(debugger.cmd_factory.make_io_message(text + "\n", 1))

    debugger.raydap_hits = LineHits(send)
    return vars(debugger)["raydap_hits"]  # type: ignore[no-any-return]
