"""The lines of watched functions, reported by `sys.monitoring`; runs in the worker, from Python 3.12 on.

raydap's own monitoring tool gets the start of each function once. Python reports it again only for watched functions,
so other functions cost nothing. In a watched function it gets the lines that matter (watched_code.py); Python reports
each of the others once.
"""

import sys
import threading
from contextlib import suppress
from typing import Any

from .own_stops import step_over
from .watched_places import HAS_COPY, identity
from .watched_values import MISSING, PRIMITIVES

TOOLS = (4, 3, 5)
"""The ids of tools that may be used. raydap uses another of the first two for itself (resumed_frames.py)."""

NAME = "raydap watchpoints"


class WatchedEvents:
    """The monitoring tool of the watchpoints. Each code object of a watched function has local events."""

    def __init__(self, watchpoints: Any) -> None:
        self._watchpoints = watchpoints
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool = -1
        self._codes: dict[int, Any] = {}
        """The code objects with local events, by identity."""
        self._by_line: dict[int, tuple[Any, ...]] = {}
        """By line, of lines with one evaluation: the code, frames and record; then what Record.quick has."""
        self._busy: set[int] = set()
        """The idents of threads that evaluate an expression now. It can call a watched function."""
        self._steps: dict[int, tuple[Any, int]] = {}
        """pydevd's record of a thread and the step that pydevd must not see yet, by the thread's ident."""

    def begin(self) -> str:
        """Begin with the watchpoints of now. Return why that is not possible, "" if it is."""
        monitoring, events = self._monitoring, self._monitoring.events
        if self._tool < 0:
            free = [each for each in TOOLS if monitoring.get_tool(each) is None]
            if not free:
                return "Other tools use all of Python's monitoring (sys.monitoring) in this process."
            self._tool = free[0]
            monitoring.use_tool_id(self._tool, NAME)
            register = monitoring.register_callback
            register(self._tool, events.PY_START, self._start)
            register(self._tool, events.PY_RESUME, self._resume)
            register(self._tool, events.PY_THROW, self._throw)
            register(self._tool, events.LINE, self._quick_line())
            register(self._tool, events.PY_RETURN, self._return)
            register(self._tool, events.INSTRUCTION, self._instruction)
            monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME | events.PY_THROW)
        for code in self._codes.values():
            monitoring.set_local_events(self._tool, code, 0)
        self._codes.clear()
        self._by_line.clear()
        self.refresh()
        return ""

    def end(self) -> str:
        """End the tool. Return ""."""
        monitoring, tool = self._monitoring, self._tool
        if tool >= 0:
            events = monitoring.events
            self._tool = -1
            monitoring.set_events(tool, 0)
            for code in self._codes.values():
                monitoring.set_local_events(tool, code, 0)
            self._codes.clear()
            self._by_line.clear()
            for info, command in self._steps.values():
                info.pydev_step_cmd = command
            self._steps.clear()
            lines = (events.LINE, events.PY_RETURN, events.INSTRUCTION)
            for each in (events.PY_START, events.PY_RESUME, events.PY_THROW, *lines):
                monitoring.register_callback(tool, each, None)
            monitoring.free_tool_id(tool)
        return ""

    def refresh(self, record: Any = None) -> None:
        """Let Python report again what it has left out so far. The lines of the record have changed."""
        if record is not None:
            self._index(record)
        self._monitoring.restart_events()

    def _index(self, record: Any) -> None:
        for line in [each for each, quick in self._by_line.items() if quick[0] is record.code]:
            del self._by_line[line]
        for line, (watch, name, function, once, is_plain) in record.quick.items():
            # Another function can have the same line in another file; then only the first is quick.
            self._by_line.setdefault(line, (record.code, watch.frames, record, name, function, once, is_plain))

    def watch(self, record: Any, frame: Any) -> None:
        """Get the lines of a watched function."""
        if identity(record.code) not in self._codes and self._tool >= 0:
            self._codes[identity(record.code)] = record.code
            self._set_events(record.code)
            self._index(record)

    def _start(self, code: Any, offset: int) -> Any:
        record = self._watchpoints.record(code)
        if record is None:
            return self._monitoring.DISABLE
        frame = sys._getframe(1)
        self.watch(record, frame)
        self._call(self._watchpoints.enter, record, frame)
        return None

    def _resume(self, code: Any, offset: int) -> Any:
        record = self._watchpoints.record(code)
        if record is None:
            return self._monitoring.DISABLE
        frame = sys._getframe(1)
        self.watch(record, frame)
        self._call(self._watchpoints.resume, record, frame)
        return None

    def _throw(self, code: Any, offset: int, error: BaseException) -> None:
        self._resume(code, offset)

    def _quick_line(self) -> Any:
        """Return the callback for lines. It does the usual case itself, in about a microsecond: no change.

        It calls no function that Python audits, except for one: audits are slow in a process of Ray.
        """
        by_line, busy, primitives, has_copy = self._by_line, self._busy, PRIMITIVES, HAS_COPY
        getframe, get_ident, getrefcount = sys._getframe, threading.get_ident, sys.getrefcount

        def line(code: Any, number: int) -> Any:
            quick = by_line.get(number)
            if quick is None or quick[0] is not code:
                return self._line(code, number)
            frame = getframe(1)
            state = quick[1].get(hash(frame))
            if state is None:
                return self._line_in(quick[2], frame, number)
            if quick[5]:
                if number in state[3]:
                    return None
                state[3] = {*state[3], number}
            names = frame.f_locals
            name, function = quick[3], quick[4]
            try:
                if function is None:
                    value = names[name]
                elif quick[6]:
                    value = function(frame, names)
                else:
                    ident = get_ident()
                    if ident in busy:
                        return None
                    busy.add(ident)
                    try:
                        value = function(frame, names)
                    finally:
                        busy.discard(ident)
            except Exception:
                value = MISSING
            # As in drop_variables: a copy that only the frame uses keeps no value alive.
            if has_copy and frame.f_trace is None and getrefcount(names) == 3:
                names.clear()
            before = state[0]
            if value is before:
                return None
            kind = type(value)
            if kind is type(before) and kind in primitives and value == before:
                return None
            return self._line_in(quick[2], frame, number)

        return line

    def _line(self, code: Any, number: int) -> Any:
        record = self._watchpoints.records.get(identity(code))
        if record is None or number not in record.lines:
            return self._monitoring.DISABLE
        return self._line_in(record, sys._getframe(2), number)

    def _line_in(self, record: Any, frame: Any, number: int) -> None:
        if self._call(self._watchpoints.line, record, frame, number):
            self._hold_step(record.code)

    def _return(self, code: Any, offset: int, value: Any) -> Any:
        record = self._watchpoints.records.get(identity(code))
        if record is None:
            return self._monitoring.DISABLE
        frame = sys._getframe(1)
        if frame.f_lineno not in record.ends:
            return self._monitoring.DISABLE
        if self._call(self._watchpoints.leave, record, frame):
            self._step_to_caller(frame)
        return None

    def _call(self, method: Any, *args: Any) -> bool:
        ident = threading.get_ident()
        if ident in self._busy:
            return False
        self._busy.add(ident)
        try:
            return bool(method(*args))
        finally:
            self._busy.discard(ident)

    def _stepping(self) -> int:
        """Return pydevd's number of the step that the user has begun at the stop, -1 if there is none."""
        info = self._watchpoints.debugger.set_additional_thread_info(threading.current_thread())
        return int(info.pydev_step_cmd)

    def _hold_step(self, code: Any) -> None:
        """Hide a step that the user has begun at a stop from pydevd, until the thread executes the line.

        Python calls the tool with the highest id first. pydevd's tool gets the same line after this one, and would end
        the step there. It has no step to end if it begins at the first instruction.
        """
        info = self._watchpoints.debugger.set_additional_thread_info(threading.current_thread())
        if info.pydev_step_cmd != -1:
            self._steps[threading.get_ident()] = info, info.pydev_step_cmd
            info.pydev_step_cmd = -1
            self._set_events(code, self._monitoring.events.INSTRUCTION)

    def _instruction(self, code: Any, offset: int) -> None:
        """Begin the step that `_hold_step` has hidden."""
        info, command = self._steps.pop(threading.get_ident(), (None, 0))
        if info is not None:
            info.pydev_step_cmd = command
        if not self._steps:
            self._set_events(code)

    def _set_events(self, code: Any, more: int = 0) -> None:
        if self._tool >= 0 and identity(code) in self._codes:
            events = self._monitoring.events
            self._monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN | more)

    def _step_to_caller(self, frame: Any) -> None:
        """Let a step that the user has begun where a call returns end in the caller."""
        from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE

        if self._stepping() not in (-1, CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE) and frame.f_back is not None:
            with suppress(Exception):
                step_over(self._watchpoints.debugger, frame.f_back)
