"""The lines of watched functions, traced together with pydevd; runs in the worker, before Python 3.12.

pydevd has a trace function in each thread. As long as there are watchpoints, each thread has one that calls pydevd's
and traces the frames of watched functions, too. So all calls in the process take a little longer than with pydevd
alone, but only the lines of watched functions do.
"""

import threading
from contextlib import suppress
from typing import Any

from .own_stops import step_over
from .replaced_functions import install, original, put_back
from .thread_frames import current_frames

CHOOSES = "debugger:fix_top_level_trace_and_get_trace_func"
"""pydevd's function that chooses the trace function of a thread."""


class WatchedFrames:
    """The trace functions of the watchpoints."""

    def __init__(self, watchpoints: Any) -> None:
        self._watchpoints = watchpoints
        self._debugger: Any = watchpoints.debugger
        self._begun = False

    def begin(self) -> str:
        """Begin with the watchpoints of now. Return ""."""
        if not self._begun:
            self._begun = True
            pydevds = original(CHOOSES, self._debugger)

            def fix_top_level_trace_and_get_trace_func(*args: Any, **named: Any) -> Any:
                tracer, applies = pydevds(*args, **named)
                return (tracer if tracer is None else self._tracing(tracer)), applies

            install(CHOOSES, fix_top_level_trace_and_get_trace_func, self._debugger)
            self._trace_again()
        return ""

    def end(self) -> str:
        """Give the threads pydevd's own trace functions again. Return ""."""
        if self._begun:
            self._begun = False
            put_back(CHOOSES, self._debugger)
            self._trace_again()
            for innermost in current_frames().values():
                frame: Any = innermost
                while frame is not None:
                    tracer = frame.f_trace
                    if isinstance(tracer, (WatchedFrame, Handover)):
                        tracer.ended = True
                        frame.f_trace = tracer.pydevds
                    frame = frame.f_back
        return ""

    def refresh(self, record: Any = None) -> None:
        """Do nothing: every line is reported."""

    def watch(self, record: Any, frame: Any) -> None:
        """Trace a frame that is executed now."""
        tracer = frame.f_trace
        if isinstance(tracer, (WatchedFrame, Handover)):
            tracer.ended = True
            tracer = tracer.pydevds
        frame.f_trace = Handover(self._watchpoints, record, frame, tracer)

    def _trace_again(self) -> None:
        """Let each thread choose its trace function again at its next call."""
        if not self._debugger.pydb_disposed:
            self._debugger.enable_tracing(self._debugger.trace_dispatch, apply_to_all_threads=True)

    def _tracing(self, pydevds: Any) -> Any:
        """Return the trace function of a thread, from that of pydevd."""
        record_of, watchpoints = self._watchpoints.record, self._watchpoints

        def trace(frame: Any, event: str, arg: Any) -> Any:
            record = record_of(frame.f_code) if self._begun else None
            if record is None:
                return pydevds(frame, event, arg)
            watched = WatchedFrame(watchpoints, record, pydevds)
            if event != "call":
                # pydevd has just begun to trace the frame, for a step or a breakpoint.
                frame.f_trace = watched
                return watched(frame, event, arg)
            watched.pydevds = pydevds(frame, event, arg)
            # A generator or coroutine that is resumed is reported as a call, too.
            is_new = frame.f_lasti < 0 or frame.f_lineno == frame.f_code.co_firstlineno
            (watchpoints.enter if is_new else watchpoints.resume)(record, frame)
            return watched

        trace.pydevds = pydevds  # type: ignore[attr-defined]
        return trace


class WatchedFrame:
    """The trace function of one frame."""

    def __init__(self, watchpoints: Any, record: Any, pydevds: Any) -> None:
        self._watchpoints = watchpoints
        self._record = record
        self.pydevds = pydevds
        """pydevd's trace function of the frame, None if pydevd does not trace it."""
        self.ended = False
        """Whether the watchpoints have been changed, so that another object or none traces the frame."""

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        """Examine the watchpoints at a line and at the end, and call pydevd's trace function."""
        if self.ended:
            return self.pydevds and self.pydevds(frame, event, arg)
        frame.f_trace = self
        stopped = False
        if event == "line":
            stopped = self._watchpoints.line(self._record, frame, frame.f_lineno)
        elif event == "return":
            stopped = self._watchpoints.leave(self._record, frame)
            if stopped:
                self._step_to_caller(frame)
        if frame.f_trace is not self and not self.ended:
            # The user has begun a step, so pydevd traces the frame from now on.
            self.pydevds = frame.f_trace
        # The user steps from here, so pydevd must not end the step at the same line.
        if self.pydevds is not None and not (stopped and self._is_stepping()):
            self.pydevds = self._of_thread(self.pydevds)(frame, event, arg) or self.pydevds
        return self._remains(frame)

    def _remains(self, frame: Any) -> Any:
        if self.ended:
            frame.f_trace = self.pydevds
            return self.pydevds
        return self

    def _of_thread(self, tracer: Any) -> Any:
        """Return pydevd's trace function of the thread for the one that chooses it, which would lead back to here."""
        if tracer is self._watchpoints.debugger.trace_dispatch:
            tracer = self._watchpoints.debugger.get_thread_local_trace_func()
        return getattr(tracer, "pydevds", tracer)

    def _is_stepping(self) -> bool:
        info = self._watchpoints.debugger.set_additional_thread_info(threading.current_thread())
        return bool(info.pydev_step_cmd != -1)

    def _step_to_caller(self, frame: Any) -> None:
        """Let a step that the user has begun where a call returns end in the caller."""
        if self._is_stepping() and frame.f_back is not None:
            with suppress(Exception):
                step_over(self._watchpoints.debugger, frame.f_back)


class Handover:
    """The trace function of a frame that is executed while a watchpoint is set, until its next line.

    A thread that is stopped is in pydevd's trace function of its innermost frame. When that returns, Python replaces
    the frame's trace function by the result, and so deletes this object, which then puts another one in its place.
    """

    def __init__(self, watchpoints: Any, record: Any, frame: Any, pydevds: Any) -> None:
        self._watchpoints = watchpoints
        self._record = record
        self._frame = frame
        self.pydevds = pydevds
        """pydevd's trace function of the frame, None if pydevd does not trace it."""
        self.ended = False
        """Whether nothing has to be put in its place."""

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        """Let a WatchedFrame trace the frame from now on."""
        self._frame = None
        watched = WatchedFrame(self._watchpoints, self._record, self.pydevds)
        watched.ended = self.ended
        return watched(frame, event, arg)

    def __del__(self) -> None:
        frame, self._frame = self._frame, None
        if frame is not None and not self.ended and self._watchpoints.watches:
            frame.f_trace = Handover(self._watchpoints, self._record, frame, frame.f_trace)
