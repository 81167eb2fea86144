"""Stops at breakpoint(), Ray's set_trace and Ray's post mortem, in a process that raydap debugs through its agent.

Ray's own code opens a port for an adapter, which debugpy could not start here. pydevd installs hooks of its own when it
is imported. They ignore Ray, and stay when the debugger detaches, so breakpoint() would be skipped.
"""

from __future__ import annotations

import os
import sys

from .replaced_functions import install, original

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def replace_breakpoints(debugger: Callable[[], Any]) -> None:
    """Replace the functions through which a program calls breakpoint(), and Ray's breakpoint().

    `debugger` returns pydevd's debugger object while raydap debugs this process, else None.
    """
    made: dict[int, Any] = {}
    for path in ("sys:breakpointhook", "sys:__breakpointhook__", "builtins:breakpoint"):
        # Functions of Python are pickled by their names, so two names of one function must keep leading to one.
        hook = made.setdefault(id(original(path)), lambda *_, **__: stop_at(debugger, sys._getframe(1)))
        install(path, hook)
    override_rays_breakpoint(debugger)


RAYS = "ray.util.debugpy:_try_import_debugpy"
"""The function that Ray's breakpoint() and post mortem call first. It returns None if debugpy is not installed."""


def global_debugger() -> Any:
    """Return pydevd's debugger object, None without one."""
    return getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()


def stop_at(debugger: Callable[[], Any], frame: Any) -> None:
    """Stop the calling thread at the current line of the frame. Raise only what the program's signal handlers raise.

    debugpy's own breakpoint() stops at the next line, like a step, and so not at all after a program's last line.
    """
    current = debugger()
    if current is None:
        return  # raydap has just detached.
    try:
        _stop_at(current, debugger, frame)
    except Exception as error:
        # A signal handler of the program may have raised it (delayed_signals.py).
        if id(error) == getattr(getattr(getattr(current, "raydap", None), "threads", None), "raised", 0):
            raise
        report_no_stop(repr(error))


def report_no_stop(reason: str) -> None:
    """Write to standard error why breakpoint() does not stop."""
    sys.stderr.write(f"raydap cannot stop at this breakpoint() of process {os.getpid()}: {reason}\n")
    sys.stderr.flush()


def _stop_at(current: Any, debugger: Callable[[], Any], frame: Any) -> None:
    import threading

    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK

    thread = threading.current_thread()
    set_additional_thread_info(thread)
    # After set_suspend, the thread stops at its next traced line. Without this, that would be a line of pydevd's own
    # wait.
    current.disable_tracing()
    try:
        current.set_suspend(thread, CMD_SET_BREAK)
        current.do_wait_suspend(thread, frame, "line", None)
    finally:
        current.enable_tracing()
        if sys.version_info >= (3, 12):
            # The user may have begun a step where nothing was traced, and pydevd requests line events only while it
            # needs them.
            from _pydevd_sys_monitoring import pydevd_sys_monitoring

            pydevd_sys_monitoring.update_monitor_events()
            pydevd_sys_monitoring.restart_events()
        elif debugger() is not current:
            # raydap has detached during the stop. It may have ended the tracing of all threads before this thread
            # enabled its own again.
            current.disable_tracing()


def override_rays_breakpoint(debugger: Callable[[], Any], call: Callable[[], None] | None = None) -> None:
    """Override the function that Ray's breakpoint() calls first, so that it stops through raydap's agent.

    `call` is for a forked child, where Ray's own breakpoint() sends a request to the cluster and hangs
    (forked_children.py). It is called at a breakpoint() of a child without a debugger; raydap may attach then.

    Source: ray/util/debugpy.py; `set_trace` calls `_try_import_debugpy` first, and returns if the result is None.
    """
    ray_debugpy: Any = sys.modules.get("ray.util.debugpy")
    rays = original(RAYS)
    if rays is None:
        return

    def _try_import_debugpy(*args: Any, **named: Any) -> Any:
        caller: Any = sys._getframe(1)
        if debugger() is None and call is not None and caller.f_code.co_name == "set_trace":
            call()
        if debugger() is None or caller.f_code.co_name != "set_trace":
            return rays(*args, **named) if call is None else None
        if caller.f_locals.get("breakpoint_uuid") is not None:
            # Ray sets it only for its post mortem.
            try:
                ray_debugpy._debugpy_excepthook()
            except Exception as error:
                report_no_stop(repr(error))
        else:
            while caller is not None and caller.f_globals.get("__name__") in ("ray.util.debugpy", "ray.util.rpdb"):
                caller = caller.f_back
            stop_at(debugger, caller)
        return None

    install(RAYS, _try_import_debugpy)
