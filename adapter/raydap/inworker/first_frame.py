"""Stops at uncaught exceptions in a program that is debugged from its first line, before Python 3.12; runs there.

pydevd notices an uncaught exception in the outermost frame of a thread. It looks for that frame at the first function
that it traces in the thread (pydevd_trace_dispatch_regular.py, fix_top_level_trace_and_get_trace_func). While Python
starts, that frame belongs to the module `site`, and ends before the program begins. From Python 3.12 on, pydevd does
not trace.
"""

import sys
from typing import Any

from .pydevd_lifetime import is_traced
from .thread_tracers import stack_of


def trace_program(debugger: Any) -> None:
    """Make pydevd treat the program's first frame as the outermost one.

    Call this in the main thread while Python starts. `debugger` is pydevd's debugger object, None without one.
    """
    if debugger is None or not is_traced():
        return
    import pydevd_tracing

    current: Any = sys.gettrace()

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if is_first_of_program(frame):
            debugger.enable_tracing(debugger.trace_dispatch)
            return debugger.trace_dispatch(frame, event, arg)
        traced = current(frame, event, arg)
        pydevd_tracing.SetTrace(trace)
        return traced

    # pydevd has set its own trace functions on these frames. At the next line they would replace the thread's function.
    for frame in stack_of(sys._getframe()):
        frame.f_trace = None
    pydevd_tracing.SetTrace(trace)


def is_first_of_program(frame: Any) -> bool:
    """Return whether Python begins the program in this frame: its file, or `python -m`.

    Source: Modules/main.c, pymain_run_python.
    """
    return frame.f_back is None and frame.f_globals.get("__name__") in ("__main__", "runpy")
