"""Ray's post mortem, shown at the frame that raised; runs in the worker.

Ray reports the exception of a task to pydevd from its own code (ray/util/debugpy.py, _debugpy_excepthook), where the
thread is traced like any other. Four things go wrong there. Overrides on pydevd's debugger object correct them:

**Another stop comes first.** pydevd marks the thread as suspended, so the thread stops at the next event in any code
that is not pydevd's own: in contextlib, which pydevd uses, or in the exception's `__str__`. That stop shows Ray's hook,
and the intended stop is over before a client sees it. Python 3.12 and newer have such events (sys.monitoring) as soon
as any code is traced, as after a `breakpoint()`. So the thread is not traced while the exception is shown. debugpy's
own trigger_exception_handler does the same.

**pydevd may have stopped already.** pydevd treats an exception as unhandled if it leaves the last Python frame of a
thread. That happens in a threaded actor, and in an async actor after its first post mortem. Right after that, Ray
reports the same exception in the same thread, and the thread must not stop again. Only the identity of the exception is
kept until then: a mark on the exception would reach the driver, and a reference would keep the locals of all its frames
alive.

**Coroutines are mistaken for threads.** uvloop, which Ray uses for async actors if it is installed, runs a coroutine
without a Python frame below it. So pydevd mistakes the coroutine for the last frame of the thread, and treats its
exception as unhandled. But the coroutine's task keeps the exception, and raises it again where the task is awaited. So
pydevd does not stop there. If no code handles the exception, Ray reports it later, from another thread.

**Libraries are left out.** Under justMyCode pydevd ignores an exception if all its frames are in libraries, such as the
exception of an actor whose import failed. A worker that had waited for a debugger then showed nothing. So those frames
count as the user's while the thread is stopped.

The design is in docs/design/ray-stops.md.
"""

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from .replaced_functions import install, original

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of code whose exceptions its caller keeps, as asyncio.Task does (Python's reference, "inspect")."""


class LastStop(threading.local):
    """State of the current thread between pydevd's stop for an exception and Ray's report of it."""

    exception: int | None = None
    """The `id` of the exception for which this thread last stopped, until Ray reports an exception; else None."""

    ray_reports = False
    """Whether Ray is reporting an exception in this thread."""


class PostMortem:
    """The post-mortem stops of one debugger object of pydevd."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.last = LastStop()
        self.shown: list[FrameType] = []
        """The frames in libraries that count as the user's (traced_files.py)."""

    def override(self) -> None:
        """Replace pydevd's functions that stop a thread for an unhandled exception."""
        install("debugger:stop_on_unhandled_exception", self._stop, self.debugger)
        install("debugger:do_stop_on_unhandled_exception", self._do_stop, self.debugger)

    def _stop(self, py_db: Any, thread: Any, additional_info: Any, arg: Any) -> None:
        """Stop the thread if a filter for exceptions requests it; replaces pydevd's function.

        Do not stop for an exception that Ray reports if the thread has stopped for it already.
        """
        from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

        if sys._getframe(1).f_globals.get("__name__") != "ray.util.debugpy":
            stop_on_unhandled_exception(py_db, thread, additional_info, arg)
            return
        if self.last.exception != id(arg[1]):
            self.last.ray_reports = True
            try:
                with untraced(), self._libraries_shown(arg):
                    stop_on_unhandled_exception(py_db, thread, additional_info, arg)
            finally:
                self.last.ray_reports = False
        # A later exception can have the same `id`: it may reuse this one's memory, or be this one, raised again.
        self.last.exception = None

    def _do_stop(self, thread: Any, frame: Any, frames_byid: Any, arg: Any) -> None:
        """Hold a thread that has stopped for an unhandled exception; overrides pydevd's method.

        Return at once if the exception leaves a coroutine and Ray is not reporting it.
        """
        # The first frame of the traceback is the one that the exception is leaving.
        if not self.last.ray_reports and arg[2] is not None and arg[2].tb_frame.f_code.co_flags & _COROUTINE:
            return
        self.last.exception = id(arg[1])
        type(self.debugger).do_stop_on_unhandled_exception(self.debugger, thread, frame, frames_byid, arg)

    @contextmanager
    def _libraries_shown(self, error: Any) -> Iterator[None]:
        """Count all frames of the exception as the user's within the `with` block.

        Do nothing if any of them is the user's own.
        """
        frames = [step.tb_frame for step in _steps(error[2])]
        if any(self.debugger.in_project_scope(frame) for frame in frames):
            yield
            return
        self.shown += frames
        try:
            yield
        finally:
            for frame in frames:
                self.shown.remove(frame)


def keep_exceptions_picklable() -> None:
    """Let the driver unpickle the exceptions of an attached worker.

    From Python 3.12 on pydevd puts a tag on each exception that leaves a frame (_pydevd_sys_monitoring.py,
    _get_unhandled_exception_frame). Ray pickles the exception with its tag. The driver lacks the tag's module, so it
    would get ray.exceptions.UnserializableException instead of the user's exception. This function makes the tag be
    pickled as an `object()`.
    """
    for name in ("", "_cython"):
        path = f"_pydevd_sys_monitoring._pydevd_sys_monitoring{name}:UnhandledExceptionTag.__reduce__"
        if original(path) is not None:
            install(path, lambda self: (object, ()))


def _steps(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


@contextmanager
def untraced() -> Iterator[None]:
    """Keep this thread from stopping at events of sys.monitoring within the `with` block.

    Do nothing where pydevd does not use sys.monitoring, as on older Pythons: there Ray itself prevents such stops.
    """
    from _pydevd_bundle import pydevd_constants

    if not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        yield
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    pydevd_sys_monitoring.stop_monitoring()
    try:
        yield
    finally:
        pydevd_sys_monitoring.start_monitoring()
