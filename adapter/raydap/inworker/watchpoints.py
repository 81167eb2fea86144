"""Watchpoints: stops at the line after which an expression has another value, or is true; runs in the worker.

A watchpoint belongs to a function. In each call of the function its expression is evaluated at the beginning, and after
the lines that may have changed it (watched_code.py). If the value differs, the thread stops before the next line. From
Python 3.12 on the lines are reported by `sys.monitoring`, for the code of the watched functions only
(watched_events.py), before that by a trace function in their frames (watched_frames.py).

The design is in docs/design/watchpoints.md.
"""

import json
import sys
import threading
from contextlib import suppress
from typing import Any

from .own_stops import stop_at
from .submitting_lines import dap_id, send_event
from .thread_frames import current_frames
from .watched_code import contains
from .watched_events import WatchedEvents
from .watched_frames import WatchedFrames
from .watched_functions import UNCHANGING, ProcessWatch, Record, normal_path
from .watched_places import identity, variables_of
from .watched_values import MISSING, is_same, mark_of, text_of, uncompared

MAX_FRAMES = 1000
"""The number of frames whose values a watchpoint keeps. A frame that an exception ends is not removed at once."""

COUNTERS = ("epoch", "global_step", "step", "iteration", "batch_idx", "batch", "it", "i")
"""The names of variables that count the steps of a program. A hit reports those that are numbers."""


class Watchpoints:
    """The watchpoints of this process, as long as one debugger object of pydevd exists."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.watches: dict[int, ProcessWatch] = {}
        self.records: dict[int, Record] = {}
        """By the identity of a code object that is kept alive by its record."""
        self._files: dict[str, list[ProcessWatch]] = {}
        """The watchpoints of each file, by `co_filename`."""
        is_monitored = sys.version_info >= (3, 12)
        self._events: Any = WatchedEvents(self) if is_monitored else WatchedFrames(self)
        self._by_line = is_monitored
        self._replaced: list[tuple[Any, str, Any]] = []

    def set(self, specs: "list[dict[str, Any]]") -> str:
        """Make these the watchpoints of the process, and return JSON of an answer for each."""
        before, self.watches = self.watches, {}
        problems: dict[int, str] = {}
        for spec in specs:
            number = spec["number"]
            kept = before.get(number)
            try:
                self.watches[number] = kept if kept is not None and kept.spec == spec else ProcessWatch(spec)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                problems[number] = f"{spec['expression']} is not a valid Python expression: {error}."
        self._files.clear()
        self.records.clear()
        self._follow_end()
        problem = self._events.begin() if self.watches else self._events.end()
        running = self._find_running() if self.watches and not problem else {}
        if not self.watches:
            self.clear()
        return json.dumps([self._answer(each, problems, problem, running) for each in specs])

    def clear(self) -> None:
        """Remove all watchpoints, with everything that they have changed in the process."""
        self.watches.clear()
        self._events.end()
        self.records.clear()
        self._files.clear()
        for owner, name, ours in self._replaced:
            if vars(owner).get(name) is ours[0]:
                if ours[1] is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, ours[1])
        self._replaced.clear()
        vars(self.debugger).pop("raydap_watchpoints", None)

    def _follow_end(self) -> None:
        """Remove the watchpoints when raydap detaches, and when the debugger's connection is lost."""
        if self._replaced:
            return
        for owner, name in ((self.debugger.raydap, "leave"), (self.debugger, "dispose_and_kill_all_pydevd_threads")):
            before = getattr(owner, name)

            def ended(*args: Any, call: Any = before, **named: Any) -> Any:
                with suppress(Exception):
                    self.clear()
                return call(*args, **named)

            self._replaced.append((owner, name, (ended, vars(owner).get(name))))
            setattr(owner, name, ended)

    def _find_running(self) -> "dict[int, int]":
        """Begin with the frames that threads execute now. Return the number of them for each watchpoint."""
        found: dict[int, int] = {}
        for innermost in current_frames().values():
            frame: Any = innermost
            while frame is not None:
                record = self.record(frame.f_code)
                if record is not None:
                    self._events.watch(record, frame)
                    for watch in record.watches:
                        found[watch.number] = found.get(watch.number, 0) + 1
                        if identity(frame) not in watch.frames:
                            self._begin(watch, frame)
                frame = frame.f_back
        return found

    def _answer(
        self, spec: "dict[str, Any]", problems: "dict[int, str]", problem: str, running: "dict[int, int]"
    ) -> "dict[str, Any]":
        number = spec["number"]
        text = problems.get(number) or problem
        if not text and spec["function"] == "<module>" and not running.get(number):
            text = "The top level of this file is not running, and does not run again in this process."
        watch = self.watches.get(number)
        note = "" if watch is None else watch.note
        return {"number": number, "verified": not text, "message": text or note, "running": running.get(number, 0)}

    def record(self, code: Any) -> "Record | None":
        """Return the record of a code object, a new one if it is that of a watched function; None if it is not."""
        found = self.records.get(identity(code))
        if found is not None and found.code is code:
            return found
        file = code.co_filename
        watches = self._files.get(file)
        if watches is None:
            path = normal_path(file)
            watches = self._files[file] = [each for each in self.watches.values() if path in each.paths]
        if not watches:
            return None
        watches = [each for each in watches if contains(code, each.spec["line"], each.spec["function"])]
        if not watches:
            return None
        found = self.records[identity(code)] = Record(code, watches, self._by_line)
        return found

    def enter(self, record: Record, frame: Any) -> bool:
        """Begin with the frame of a new call. Return whether the thread has stopped."""
        record.calls += 1
        stopped = False
        for watch in record.watches:
            if watch.number in record.unset:
                watch.frames[identity(frame)] = [MISSING, None, 0, frozenset()]
                continue
            was_true = watch.is_true
            value = self._begin(watch, frame)
            if watch.becomes_true and watch.is_true and not was_true:
                stopped |= self._hit(watch, record, frame, "", text_of(value), 0)
        return self._stop(stopped, frame)

    def resume(self, record: Record, frame: Any) -> None:
        """Begin with the frame of a coroutine or generator that was suspended when the watchpoint was set."""
        for watch in record.watches:
            if identity(frame) not in watch.frames:
                self._begin(watch, frame)

    def _begin(self, watch: ProcessWatch, frame: Any) -> Any:
        value = watch.read(frame)
        if len(watch.frames) >= MAX_FRAMES:
            watch.frames.clear()
        watch.frames[identity(frame)] = [*self._marked(watch, value), 0, frozenset()]
        return value

    def _marked(self, watch: ProcessWatch, value: Any) -> "tuple[Any, str | None]":
        if watch.becomes_true:
            try:
                watch.is_true = value is not MISSING and bool(value)
            except Exception as error:
                watch.is_true = False
                self._report(watch, f"The truth of {watch.spec['expression']} cannot be found out: {error}")
            return watch.is_true, None
        if value is MISSING or type(value) in UNCHANGING:
            return mark_of(value) if value is not MISSING else value, None
        self._report(watch, uncompared(value))
        return mark_of(value), text_of(value)

    def _report(self, watch: ProcessWatch, note: str) -> None:
        """Report once that a value cannot be compared."""
        if note and not watch.note:
            watch.note = " ".join(note.split())
            send_event(self.debugger, "raydapWatchNote", {"number": watch.number, "message": watch.note})

    def line(self, record: Record, frame: Any, line: int) -> bool:
        """Examine the watchpoints before a line. Return whether the thread has stopped."""
        stopped = False
        for watch, use in record.at(line) or ():
            state = watch.frames.get(identity(frame))
            if use.evaluates:
                value = watch.read(frame)
                if state is None:
                    self._begin(watch, frame)
                elif value is not state[0]:
                    stopped |= self._compare(watch, record, frame, state, value, use.only or state[2])
            if use.notes and state is not None:
                state[2] = line
        return self._stop(stopped, frame)

    def leave(self, record: Record, frame: Any) -> bool:
        """Examine the watchpoints where a call returns, and forget its frame. Return whether the thread has stopped."""
        stopped = False
        for watch in record.watches:
            state = watch.frames.pop(identity(frame), None)
            if state is not None:
                stopped |= self._compare(watch, record, frame, state, watch.read(frame), frame.f_lineno)
        return self._stop(stopped, frame)

    def _compare(
        self, watch: ProcessWatch, record: Record, frame: Any, state: "list[Any]", value: Any, line: int
    ) -> bool:
        if watch.number in record.plain and not watch.is_known(value, frame):
            record.plain.discard(watch.number)
            record.sort_lines()
            self._events.refresh(record)
        before, text = state[0], state[1]
        mark, after_text = self._marked(watch, value)
        if value is MISSING and not watch.becomes_true:
            return False  # The value before stays the one to compare with.
        state[0], state[1] = mark, after_text
        if is_same(before, mark) or (before is MISSING and not watch.becomes_true):
            return False
        if watch.becomes_true or (watch.is_call and type(value) is bool):
            if not mark:
                return False
            return self._hit(watch, record, frame, "", text_of(value), line)
        return self._hit(watch, record, frame, text or text_of(before), text_of(value), line)

    def _hit(self, watch: ProcessWatch, record: Record, frame: Any, before: str, after: str, line: int) -> bool:
        """Report a change. Return whether the thread stops for it: not if a condition or hit count is against it."""
        thread: Any = threading.current_thread()
        info = self.debugger.set_additional_thread_info(thread)
        if info.pydev_state == 2 or getattr(thread, "is_pydev_daemon_thread", False):
            return False  # The user evaluates an expression that calls the function. 2 is pydevd's STATE_SUSPEND.
        if watch.condition is not None and not _is_true(watch.condition, frame):
            return False
        watch.hits += 1
        if not is_wanted(watch.spec["hits"], watch.hits):
            return False
        names = variables_of(frame)
        counts = [f"{name} {names[name]}" for name in COUNTERS if name in names and type(names[name]) is int]
        where = {"line": line, "function": record.code.co_name, "hits": watch.hits, "calls": record.calls}
        body = {"number": watch.number, "before": before, "after": after, **where, "counts": ", ".join(counts)}
        if watch.spec["log"]:
            send_event(self.debugger, "raydapWatched", {**body, "stops": False})
            return False
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        body["threadId"] = dap_id(get_current_thread_id(thread))
        send_event(self.debugger, "raydapWatched", {**body, "stops": True})
        return True

    def _stop(self, stops: bool, frame: Any) -> bool:
        """Stop the thread once if any watchpoint stops it. Return whether that is so."""
        if stops:
            stop_at(lambda: self.debugger, frame)
        return stops


def is_wanted(hits: str, count: int) -> bool:
    """Return whether a hit with this number stops, by a hit condition as debugpy reads it: `3`, `>= 3`, `% 3`."""
    text = hits.strip()
    if not text:
        return True
    sign = text.rstrip("0123456789").strip()
    number = int(text[len(text.rstrip("0123456789")) :])
    compared = {"": count == number, "==": count == number, ">": count > number, ">=": count >= number}
    compared |= {"<": count < number, "<=": count <= number, "%": number > 0 and count % number == 0}
    return compared.get(sign, True)


def _is_true(code: Any, frame: Any) -> bool:
    try:
        return bool(eval(code, frame.f_globals, variables_of(frame)))
    except Exception:
        return True  # Like debugpy, stop where a condition cannot be evaluated.


def watchpoints(debugger: Any) -> Watchpoints:
    """Return the Watchpoints of this debugger object."""
    if "raydap_watchpoints" not in vars(debugger):
        debugger.raydap_watchpoints = Watchpoints(debugger)
    return vars(debugger)["raydap_watchpoints"]  # type: ignore[no-any-return]
