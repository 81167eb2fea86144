"""One `Thread` object for each thread that Python did not start; runs in the worker, from Python 3.12 on.

Ray makes the threads of threaded actors and of concurrency groups in C++. `threading.current_thread()` makes a
`_DummyThread` for such a thread and stores it in `threading._active`. pydevd traces this call, too, and in the middle
of it calls `current_thread()` itself (_pydevd_sys_monitoring.py, _create_thread_info). That makes a second object,
which pydevd keeps for as long as the thread lives, and which the first call then replaces in `threading._active`.
pydevd looks for threads there, so it could neither read nor continue a stop of this thread.
"""

import sys
import threading
from types import CodeType
from typing import Any

from .replaced_functions import StandIn, install, original


def keep_one_thread_object() -> None:
    """Give pydevd a `threading` with another `current_thread`, where pydevd uses sys.monitoring."""
    for name in ("", "_cython"):
        path = f"_pydevd_sys_monitoring._pydevd_sys_monitoring{name}:threading"
        if original(path) is not None:
            install(path, StandIn(threading, current_thread=current_thread))


def current_thread() -> "threading.Thread | None":
    """Return the current thread's object, or None in the middle of the program's own `current_thread()`.

    After None, pydevd calls this again at the next function. Also return None in a thread of the agent that is just
    starting (agent_threads.py).
    """
    known: threading.Thread | None = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    agent = sys.modules.get("_raydap_agent.light_start")
    codes = [getattr(each, "__code__", None) for each in (threading.current_thread, getattr(agent, "_run", None))]
    return known if known is not None or _runs(codes) else threading.current_thread()


def register(thread: Any) -> None:
    """Store pydevd's object of the current thread in `threading._active`, where pydevd looks for it.

    Another object is stored there if the thread began before `keep_one_thread_object`. Do nothing if `thread` is not
    the current thread.
    """
    if thread.ident == threading.get_ident():
        with threading._active_limbo_lock:  # type: ignore[attr-defined]
            threading._active[thread.ident] = thread  # type: ignore[attr-defined]


def _runs(codes: "list[CodeType | None]") -> bool:
    """Return whether a function with one of these codes is on the stack of the current thread."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None
