"""Ray's post mortem, seen from the frame that raised; runs in the worker.

Ray reports the exception of a task to pydevd from its own code (ray/util/debugpy.py, _debugpy_excepthook), where the
thread is traced like any other. Four things go wrong there, and one override of the debugger object mends them:

**Another stop comes first.** The thread is marked as suspended, and stops at the next event of any code that is not
pydevd's own: of contextlib, which pydevd uses, or of the exception's `__str__`. That stop shows Ray's hook, and the
right one is over before it is seen. Python 3.12 and newer have such events (sys.monitoring) as soon as any code has to
be traced, as after a `breakpoint()`. So the thread is not traced while it is shown. debugpy's own
trigger_exception_handler does the same.

**pydevd may have stopped already.** It takes an exception for unhandled that leaves the last Python frame of a thread,
as in a threaded actor, or in an async one after its first post mortem. Right after that Ray reports the same exception,
in the same thread, and the thread is not stopped once more. Only the identity of the exception is kept until then: a
mark on it would reach the driver, and a reference would keep the locals of all its frames alive.

**Coroutines are taken for threads.** uvloop, which Ray uses for async actors if it is installed, runs a coroutine
without a Python frame below it. pydevd takes the coroutine then for the last frame of the thread, and what it raises
for unhandled. It is not: the coroutine's task keeps it, and raises it again where somebody awaits the task. So pydevd
does not stop there. If nobody handles the exception, Ray reports it later, from another thread.

**Libraries are left out.** Under justMyCode pydevd ignores an exception if all its frames are in libraries, like that
of an actor whose import has failed. Then nothing was shown of a worker that had waited for a debugger. So those frames
count as the user's, as long as the thread is stopped.
"""

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of code whose exceptions its caller keeps, as asyncio.Task does (Python's reference, "inspect")."""

_FILTERS = ("apply_files_filter", "exclude_exception_by_filter", "in_project_scope")
"""Methods of pydevd's debugger that say whether a frame, or that of a traceback, is left out."""


class LastStop(threading.local):
    """What the running thread has stopped for, if Ray has not reported it yet."""

    exception: int | None = None
    """Its `id`."""

    ray_reports = False
    """Whether this thread is in Ray's report of an exception."""


class PostMortem:
    """The post-mortem stops of one debugger object of pydevd."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.lock = threading.Lock()
        self.last = LastStop()
        self.shown: list[FrameType] = []
        """The frames of libraries that count as the user's."""

    def override(self) -> None:
        self.debugger.stop_on_unhandled_exception = self._stop
        self.debugger.do_stop_on_unhandled_exception = self._do_stop

    def restore(self) -> None:
        from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

        vars(self.debugger).pop("do_stop_on_unhandled_exception", None)
        # This one is no method in pydevd either, but an attribute of the object.
        self.debugger.stop_on_unhandled_exception = stop_on_unhandled_exception

    def _stop(self, debugger: Any, thread: Any, info: Any, error: Any) -> None:
        """Takes the place of pydevd's function, which stops the thread if a filter for exceptions wants that."""
        from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

        if sys._getframe(1).f_globals.get("__name__") != "ray.util.debugpy":
            stop_on_unhandled_exception(debugger, thread, info, error)
            return
        if self.last.exception != id(error[1]):
            self.last.ray_reports = True
            try:
                with untraced(), self._libraries_shown(error):
                    stop_on_unhandled_exception(debugger, thread, info, error)
            finally:
                self.last.ray_reports = False
        # The next exception can have the same identity: it may lie where this one was, or be this one, raised again.
        self.last.exception = None

    def _do_stop(self, thread: Any, frame: Any, frames: Any, error: Any) -> None:
        """Takes the place of pydevd's method, in which every thread waits that has stopped for such an exception."""
        # The first frame of a traceback is the one that the exception leaves just now.
        if not self.last.ray_reports and error[2] is not None and error[2].tb_frame.f_code.co_flags & _COROUTINE:
            return
        self.last.exception = id(error[1])
        type(self.debugger).do_stop_on_unhandled_exception(self.debugger, thread, frame, frames, error)

    @contextmanager
    def _libraries_shown(self, error: Any) -> Iterator[None]:
        """Does nothing if any frame of the exception is the user's own."""
        frames = [step.tb_frame for step in _steps(error[2])]
        if any(self.debugger.in_project_scope(frame) for frame in frames):
            yield
            return
        with self.lock:
            self.shown += frames
            self._override_filters()
        try:
            yield
        finally:
            with self.lock:
                for frame in frames:
                    self.shown.remove(frame)
                if not self.shown:
                    for name in _FILTERS:
                        vars(self.debugger).pop(name, None)

    def _override_filters(self) -> None:
        debugger, shown = self.debugger, self.shown

        def apply_files_filter(frame: Any, *args: Any) -> Any:
            return frame not in shown and type(debugger).apply_files_filter(debugger, frame, *args)

        def exclude_exception_by_filter(wanted: Any, step: Any) -> Any:
            if step is not None and step.tb_frame in shown:
                return False
            return type(debugger).exclude_exception_by_filter(debugger, wanted, step)

        def in_project_scope(frame: Any, *args: Any) -> Any:
            return frame in shown or type(debugger).in_project_scope(debugger, frame, *args)

        debugger.apply_files_filter = apply_files_filter
        debugger.exclude_exception_by_filter = exclude_exception_by_filter
        debugger.in_project_scope = in_project_scope


def keep_exceptions_picklable() -> None:
    """Lets the driver unpickle the exceptions of an attached worker.

    From Python 3.12 on pydevd puts a tag on each exception that leaves a frame (_pydevd_sys_monitoring.py,
    _get_unhandled_exception_frame). Ray pickles the exception with it, and the driver, which does not have the tag's
    module, gets ray.exceptions.UnserializableException instead of the user's. Now the tag is pickled as an `object()`.
    """
    for name, module in list(sys.modules.items()):
        tag = vars(module).get("UnhandledExceptionTag") if "pydevd_sys_monitoring" in name else None
        if tag is not None:
            tag.__reduce__ = lambda self: (object, ())


def _steps(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


@contextmanager
def untraced() -> Iterator[None]:
    """Keeps this thread from stopping at events of sys.monitoring; nothing on older Pythons, where Ray sees to it."""
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
