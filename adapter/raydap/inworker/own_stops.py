"""Stops and steps that raydap begins itself, without a breakpoint or a command of the client; runs in the worker."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def stop_at(debugger: "Callable[[], Any]", frame: "Any", reason: int = 0) -> None:
    """Stop the calling thread at the current line of the frame. Raise only what the program's signal handlers raise.

    `debugger` returns pydevd's debugger object while raydap debugs this process, else None. `reason` is a command of
    pydevd, 0 for a breakpoint.

    debugpy's own breakpoint() stops at the next line, like a step, and so not at all after a program's last line.
    """
    current = debugger()
    if current is None:
        return  # raydap has just detached.
    try:
        _stop_at(current, debugger, frame, reason)
    except Exception as error:
        # A signal handler of the program may have raised it (delayed_signals.py).
        if id(error) == getattr(getattr(getattr(current, "raydap", None), "threads", None), "raised", 0):
            raise
        report_no_stop(repr(error))


def report_no_stop(reason: str) -> None:
    """Write to standard error why breakpoint() does not stop."""
    sys.stderr.write(f"raydap cannot stop at this breakpoint() of process {os.getpid()}: {reason}\n")
    sys.stderr.flush()


def _stop_at(current: "Any", debugger: "Callable[[], Any]", frame: "Any", reason: int) -> None:
    import threading

    from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
    from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK

    thread = threading.current_thread()
    set_additional_thread_info(thread)
    # After set_suspend, the thread stops at its next traced line. Without this, that would be a line of pydevd's own
    # wait.
    current.disable_tracing()
    try:
        current.set_suspend(thread, reason or CMD_SET_BREAK)
        current.do_wait_suspend(thread, frame, "line", None)
    finally:
        current.enable_tracing()
        if sys.version_info >= (3, 12):
            # The user may have begun a step where nothing was traced, and pydevd requests line events only while it
            # needs them.
            _request_events()
        elif debugger() is not current:
            # raydap has detached during the stop. It may have ended the tracing of all threads before this thread
            # enabled its own again.
            current.disable_tracing()


def step_over(debugger: "Any", frame: "Any") -> None:
    """Make the calling thread stop at the next line of the frame, as at the end of a step.

    Without a frame, end the step of the thread, so that it runs until something else stops it.
    """
    import threading

    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER

    _set_step(debugger, -1 if frame is None else CMD_STEP_OVER, frame)
    if frame is not None:
        debugger.set_trace_for_frame_and_parents(threading.get_ident(), frame)
        if sys.version_info >= (3, 12):
            _request_events()


def step_into(debugger: "Any") -> None:
    """Make the calling thread stop at the next line of any function of the program."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO

    _set_step(debugger, CMD_STEP_INTO, None)


def _set_step(debugger: "Any", command: int, frame: "Any") -> None:
    import threading

    info = debugger.set_additional_thread_info(threading.current_thread())
    info.pydev_original_step_cmd = info.pydev_step_cmd = command
    info.pydev_step_stop = frame
    if hasattr(info, "update_stepping_info"):  # debugpy before 1.8.6 keeps no list of the threads that step.
        info.update_stepping_info()


def _request_events() -> None:
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    pydevd_sys_monitoring.update_monitor_events()
    pydevd_sys_monitoring.restart_events()
