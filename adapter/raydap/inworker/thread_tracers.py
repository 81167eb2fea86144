"""The program's trace functions, kept while pydevd traces, before Python 3.12; runs in the worker.

Before Python 3.12 pydevd sets its own trace function in all threads. When pydevd ends, each thread gets its earlier
trace function back, even if the thread is waiting at that moment. Python has no function that reads or sets the trace
function of another thread. So this module uses the thread states of CPython, whose layout is fixed in 3.10 and 3.11.
"""

import sys
import threading
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, chain, compress, repeat, takewhile, tee
from operator import attrgetter, eq
from types import BuiltinFunctionType, MethodType
from typing import Any

from .light_start import get_ident
from .thread_frames import current_frames, without_collections


class ThreadStates:
    """The thread states of this interpreter. Raises RuntimeError in a Python with an unknown layout.

    A thread state is freed when its thread ends. So each state is found and used while C code keeps the GIL: `next`,
    `list` or `max` reads it from iterators that run no Python code.
    """

    def __init__(self) -> None:
        import ctypes

        pointer = ctypes.c_void_p
        is_310 = sys.version_info < (3, 11)

        class TraceObject(ctypes.Union):
            _fields_ = (("address", pointer), ("object", ctypes.py_object))

        class ThreadState(ctypes.Structure):
            """PyThreadState (Include/cpython/pystate.h), up to the number of the thread."""

            _fields_ = (
                ("links", pointer * (4 if is_310 else 3)),
                ("counts", ctypes.c_int * (4 if is_310 else 7)),
                ("c_frame", pointer),
                ("profile_function", pointer),
                ("trace_function", pointer),
                ("profile_object", pointer),
                ("trace", TraceObject),
                ("errors_and_dict", pointer * (9 if is_310 else 5)),
                ("gilstate_counter", ctypes.c_int),
                ("async_exception", pointer),
                ("ident", ctypes.c_ulong),
                ("native_id", ctypes.c_ulong * (0 if is_310 else 1)),
                ("trash_nesting", ctypes.c_int),
                ("trash_and_end", pointer * 3),
                ("origin_depth", ctypes.c_int),
                ("generators_and_context", pointer * 3),
                ("context_version", ctypes.c_uint64),
                ("number", ctypes.c_uint64),
            )

        def function(name: str, result: Any, *arguments: Any) -> Any:
            return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))

        self._at = ThreadState.from_address
        self._first = function("PyInterpreterState_ThreadHead", pointer, pointer)
        self._next = function("PyThreadState_Next", pointer, pointer)
        self._set = function("_PyEval_SetTrace", ctypes.c_int, ctypes.POINTER(ThreadState), pointer, ctypes.py_object)
        self._interpreter = function("PyInterpreterState_Get", pointer)()
        self._nothing = ctypes.py_object()
        self._get_own = function("PyThreadState_Get", pointer)
        own = self._at(self._get_own())
        number = function("PyThreadState_GetID", ctypes.c_uint64, pointer)(self._get_own())
        tracer = sys.gettrace()
        known = (number, get_ident(), None if tracer is None else id(tracer))
        if (own.number, own.ident, own.trace.address) != known:
            raise RuntimeError("raydap cannot debug this Python: its thread states have an unknown layout")

    def _all(self) -> Iterator[Any]:
        # accumulate gives PyThreadState_Next a second argument, which it ignores.
        addresses = accumulate(chain(map(self._first, [self._interpreter]), repeat(None)), self._next)
        return map(self._at, takewhile(bool, addresses))

    def newest(self) -> int:
        """Return the number of the newest thread. Each thread gets a higher number than all earlier ones."""
        with without_collections():
            newest: int = max(map(attrgetter("number"), self._all()))
        return newest

    def tracers(self) -> "list[tuple[int, int, int, Any]]":
        """Return each traced thread's number and ident, its trace function in C, and the object for that function."""
        traced = filter(attrgetter("trace.address"), self._all())
        with without_collections():
            return list(map(attrgetter("number", "ident", "trace_function", "trace.object"), traced))

    def set_tracer(self, number: int, function: "int | None", tracer: Any) -> None:
        """Set the trace function of the thread with this number, if the thread still runs.

        None as `function` ends the tracing of the thread.
        """
        states, others = tee(self._all())
        found = compress(states, map(eq, map(attrgetter("number"), others), repeat(number)))
        with without_collections():
            next(map(self._set, found, [function], [self._nothing if function is None else tracer]), None)

    def settrace_function(self) -> int:
        """Return the address of the C function that sys.settrace sets.

        Call this in a thread that the program does not trace.
        """
        sys.settrace(lambda *_: None)
        function: int = self._at(self._get_own()).trace_function
        sys.settrace(None)
        return function


class ProgramTracers:
    """The program's trace functions at the moment when pydevd starts. No frame is kept alive."""

    def __init__(self) -> None:
        self._states = ThreadStates()
        self._newest = self._states.newest()
        self._hook = threading.gettrace()
        self._threads = {number: (function, tracer) for number, _, function, tracer in self._states.tracers()}
        stacks = {ident: stack_of(frame) for ident, frame in current_frames().items()}
        self._frames = {
            ident: [(id(frame), frame.f_code, frame.f_trace) for frame in reversed(stack)]
            for ident, stack in stacks.items()
            if any(frame.f_trace is not None for frame in stack)
        }

    def put_back(self) -> None:
        """Replace pydevd's trace functions with the program's.

        Keep those that the program has set during the session.
        """
        if is_of_debugger(threading.gettrace()):
            threading.settrace(self._hook)
        for number, ident, _, tracer in self._states.tracers():
            if is_of_debugger(tracer):
                self._states.set_tracer(number, *self._tracer(number, ident))
        self._put_back_in_frames(get_ident(), sys._getframe())
        for ident, frame in current_frames().items():
            self._put_back_in_frames(ident, frame)

    def _tracer(self, number: int, ident: int) -> "tuple[int | None, Any]":
        """Return the trace function in C, and its object, that a thread had before pydevd.

        Return those of new threads if the thread has begun since.
        """
        if number > self._newest and self._hook is not None and is_pythons(ident):
            return self._states.settrace_function(), self._hook
        return self._threads.get(number, (None, None))

    def _put_back_in_frames(self, ident: int, innermost: Any) -> None:
        """Put the trace functions back in the frames of a thread.

        A frame that existed when pydevd started has the same address and the same callers as then.
        """
        remains = True
        before = chain(self._frames.get(ident, ()), repeat((0, None, None)))
        for frame, (address, code, tracer) in zip(reversed(stack_of(innermost)), before, strict=False):
            remains = remains and address == id(frame) and code is frame.f_code
            if is_of_debugger(frame.f_trace) or (remains and frame.f_trace is None and tracer is not None):
                frame.f_trace = tracer if remains else None


def is_of_debugger(tracer: Any) -> bool:
    """Return whether pydevd or raydap has set this trace function."""
    function = tracer.func if isinstance(tracer, partial) else tracer
    owner = function.__self__ if isinstance(function, (MethodType, BuiltinFunctionType)) else None
    modules = (getattr(function, "__module__", ""), type(function).__module__, type(owner).__module__)
    return any(str(each).startswith(("pydevd", "_pydevd", "_raydap")) for each in modules)


def is_pythons(ident: int) -> bool:
    """Return whether Python has started this thread: threading.settrace affects only such threads."""
    thread = threading._active.get(ident)  # type: ignore[attr-defined]
    return thread is not None and not isinstance(thread, threading._DummyThread)


def stack_of(frame: Any) -> "list[Any]":
    """Return the frame and its callers, the innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
