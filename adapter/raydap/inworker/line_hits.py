"""Counts of how often a process reaches a line, and the values that it has there; runs in the worker.

`raydap report` sets breakpoints whose condition calls this, and logpoints whose message calls it (calls.py,
`stops_at_hit` and `hit_message`). A line may be hit a million times a second. Each hit costs some microseconds, but
only few of them stop the thread or send a message.
"""

import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any

from .safe_values import value_text

PAUSE_S = 0.1
"""Minimum time between two messages of a line, in seconds."""

MESSAGES = 500
"""The time between two messages is at least the time since the first hit, divided by this number. So a day costs little
more than an hour."""

QUIET_S = 0.2
"""Seconds after the last hit of a line until its unsent results are sent."""

FIRST_STOPS = 3
"""The first hits stop the thread, and later each hit whose number is a power of two: forty in a million million."""

_HIT_CLOCK = time.time() - time.monotonic()


def _hit_time() -> float:
    """Return the time of day without the jumps of the machine's clock.

    If the clock were set back by an hour, no message would be sent for an hour. Workers do not have steady_time.py,
    which does the same.
    """
    return _HIT_CLOCK + time.monotonic()


class _Line:
    """The results of one line since its last message."""

    def __init__(self, number: int, marker: str) -> None:
        self.number = number
        """raydap's number of the line."""
        self.marker = marker
        """The text before and after each message."""
        self.hits = 0
        """All hits since raydap has begun to debug the process."""
        self.failed = 0
        """All hits where the user's condition or expression has failed."""
        self.first = self.last = self.sent_at = 0.0
        """The times of the first hit, the last hit, and the last message; 0 before the first."""
        self.forget()

    def forget(self) -> None:
        self.is_untold = False
        """Whether there are results that no message contains yet."""
        self.seen: dict[str, Any] = {"count": 0, "nan": 0, "inf": 0, "low": None, "high": None, "last": None}
        self.seen |= {"text": "", "error": ""}

    def message_if_due(self, at_once: bool = False) -> str:
        """Return the message if one is due now, else "". With `at_once`, and at the first hit, it is due."""
        now = _hit_time()
        self.last = now
        if self.first and not at_once and now - self.sent_at < max(PAUSE_S, (now - self.first) / MESSAGES):
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
        message = {"line": self.number, "hits": self.hits, "failed": self.failed, **self.seen}
        self.sent_at = now
        self.forget()
        return self.marker + json.dumps(message) + self.marker


class LineHits:
    """The watched lines of a process, by raydap's numbers of the lines."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        """Sends a message of a line with a condition, or a late message of any line."""
        self._lines: dict[int, _Line] = {}
        self._codes: dict[str, Any] = {}
        # Reentrant, because a signal handler may hit a line, too.
        self._lock = threading.RLock()
        self._has_thread = False

    def stops(self, number: int, marker: str, condition: str, names: Any, variables: Any) -> bool:
        """Return whether this hit stops the thread. A condition that fails is not met, and its error is reported."""
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
            message = line.message_if_due(at_once=is_stop)
        if message:
            self._send(message)
        else:
            self._flush_later()
        return is_stop

    def message(self, number: int, marker: str, expression: str, names: Any, variables: Any) -> str:
        """Return the message about the expression's values that is due now, or "".

        debugpy sends no empty message.
        """
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
            message = line.message_if_due()
        if not message:
            self._flush_later()
        return message

    def flush_idle(self) -> bool:
        """Send the unsent results of lines that are no longer hit; return whether other lines have unsent results."""
        now = _hit_time()
        with self._lock:
            untold = [line for line in self._lines.values() if line.is_untold]
            quiet = [line.message(now) for line in untold if now - line.last >= QUIET_S]
            self._has_thread = len(quiet) < len(untold)
        for each in quiet:
            self._send(each)
        return self._has_thread

    def _flush_later(self) -> None:
        """Start a thread that sends results later, unless there is one.

        It lives only while there are unsent results. Debuggers ignore it, and the process does not wait for it at its
        end.
        """
        if self._has_thread:
            return
        self._has_thread = True
        thread: Any = threading.Thread(target=self._wait_quiet, name="raydap", daemon=True)
        thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
        try:
            thread.start()
        except RuntimeError:
            self._has_thread = False  # The process is ending, or can start no more threads.

    def _wait_quiet(self) -> None:
        time.sleep(QUIET_S)
        while self.flush_idle():
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
    """Return the float of a Python number, or of a numpy, torch or jax value without dimensions; else None."""
    if isinstance(value, (int, float)) or (getattr(value, "shape", None) == () and hasattr(value, "__float__")):
        try:
            return float(value)
        except Exception:
            return None
    return None


def _one_line(failure: Exception) -> str:
    return (type(failure).__name__ + ": " + " ".join(str(failure).split()))[:200]


def line_hits(debugger: Any) -> LineHits:
    """Return the new LineHits of this process, which exist as long as this debugger object.

    A message is sent like that of a logpoint (_pydevd_sys_monitoring.py and pydevd_frame.py).
    """

    def send(text: str) -> None:
        debugger.writer.add_command(debugger.cmd_factory.make_io_message(text + "\n", 1))

    debugger.raydap_hits = LineHits(send)
    return vars(debugger)["raydap_hits"]  # type: ignore[no-any-return]
