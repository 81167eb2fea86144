"""Breakpoints and pauses in coroutines and generators that started earlier; runs in the worker.

From Python 3.12 on, pydevd requests the line events of a function when the function is called. When a breakpoint is
set, it requests those of the functions that threads are executing. A waiting coroutine is in neither case: it was
called earlier, and no thread executes it. Python reports when it is resumed (`sys.monitoring`, PY_RESUME and PY_THROW),
but pydevd does not listen (_pydevd_sys_monitoring.py, update_monitor_events). So raydap listens with a monitoring tool
of its own, and makes pydevd treat the resumed frame as one that a thread executes.
"""

import contextlib
import sys
import threading
from typing import Any

_TOOLS = (4, 3)
"""Tool ids for which Python defines no purpose. A tool of the program may use one of them."""

_NAME = "raydap"


def trace_resumed_frames() -> None:
    """Make pydevd trace resumed frames, until `trace_resumed_frames_no_more`.

    Do nothing where pydevd does not use sys.monitoring.
    """
    from _pydevd_bundle import pydevd_constants

    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None or not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        return
    from _pydevd_bundle import pydevd_additional_thread_info
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    trace_resumed_frames_no_more()
    tool = next((tool for tool in _TOOLS if monitoring.get_tool(tool) is None), None)
    if tool is None:
        sys.stderr.write(
            "raydap cannot stop coroutines that already wait in this process: other tools use sys.monitoring.\n"
        )
        return
    enable = pydevd_sys_monitoring.enable_code_tracing
    # debugpy before 1.8.6 lacks this function.
    any_thread_steps = getattr(pydevd_additional_thread_info, "any_thread_stepping", lambda: False)

    def trace_frame(code: Any, frame: Any) -> None:
        # An exception here would be raised in the user's code.
        with contextlib.suppress(Exception):
            ident = threading.get_ident()
            if not getattr(threading._active.get(ident), "is_pydev_daemon_thread", False):  # type: ignore[attr-defined]
                enable(ident, code, frame)

    def resumed(code: Any, offset: int) -> Any:
        """Trace a coroutine or generator that is resumed.

        Python calls this each time at the same place, until it returns DISABLE. pydevd reverts that when breakpoints
        change, and when a thread is to pause.
        """
        trace_frame(code, sys._getframe(1))
        return None if any_thread_steps() else monitoring.DISABLE

    def thrown(code: Any, offset: int, exception: BaseException) -> None:
        """Trace a frame that is resumed by an exception: what it awaits has failed, or it is cancelled."""
        trace_frame(code, sys._getframe(1))

    events = monitoring.events
    monitoring.use_tool_id(tool, _NAME)
    monitoring.register_callback(tool, events.PY_RESUME, resumed)
    monitoring.register_callback(tool, events.PY_THROW, thrown)
    monitoring.set_events(tool, events.PY_RESUME | events.PY_THROW)


def trace_resumed_frames_no_more() -> None:
    """Undo `trace_resumed_frames`."""
    monitoring: Any = getattr(sys, "monitoring", None)
    for tool in _TOOLS if monitoring is not None else ():
        if monitoring.get_tool(tool) == _NAME:
            monitoring.set_events(tool, 0)
            for event in (monitoring.events.PY_RESUME, monitoring.events.PY_THROW):
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)
