"""Stops at breakpoint(), Ray's set_trace and Ray's post mortem, in a process that raydap debugs through its agent.

Ray's own code opens a port for an adapter, which debugpy could not start here. pydevd installs hooks of its own when it
is imported. They ignore Ray, and stay when the debugger detaches, so breakpoint() would be skipped.
"""

from __future__ import annotations

import builtins
import os
import sys

from .light_start import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PLACES: tuple[tuple[Any, str], ...] = (
    (sys, "breakpointhook"),
    (sys, "__breakpointhook__"),
    (builtins, "breakpoint"),
)
"""The modules and names through which a program calls breakpoint()."""

PYDEVDS = ("debugpy", "pydevd", "_pydev", "pydev_")
"""The beginnings of the module names of debugpy and pydevd."""


class BreakpointHooks:
    """The original functions behind breakpoint(), and their replacements.

    This object must be made before pydevd is imported.
    """

    def __init__(self, debugger: Callable[[], Any]) -> None:
        self.debugger = debugger
        """Returns pydevd's debugger object while raydap debugs this process, else None."""
        self.original = [getattr(module, name) for module, name in PLACES]
        """The functions in PLACES before pydevd was imported."""
        self._replacements = [self._replacement(original) for original in self.original]

    def _replacement(self, original: Any) -> Callable[..., None]:
        """Return the function that replaces `original` while raydap debugs this process."""
        import functools

        @functools.wraps(original, (*functools.WRAPPER_ASSIGNMENTS, "__text_signature__"))
        def stop_here(*args: Any, **kwargs: Any) -> None:
            stop_at(self.debugger, sys._getframe(1))

        return stop_here

    def replace(self) -> None:
        """Replace the functions in PLACES, and Ray's breakpoint()."""
        for (module, name), replacement in zip(PLACES, self._replacements, strict=True):
            setattr(module, name, replacement)
        override_rays_breakpoint(self.debugger)

    def restore(self) -> None:
        """Restore what `replace` has replaced, and what pydevd has replaced when it was imported.

        Keep a hook that the program has set since then. Ray's override stays, too; it has no effect without a debugger.
        """
        for (module, name), original in zip(PLACES, self.original, strict=True):
            current = getattr(module, name)
            if current in self._replacements or str(getattr(current, "__module__", "")).startswith(PYDEVDS):
                setattr(module, name, original)


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
    original = getattr(ray_debugpy, "_try_import_debugpy", None)
    if original is None or (hasattr(original, "is_raydaps_agent") and call is None):
        return

    # `wraps` copies the mark of forked_children.py, if the original has it: neither is replaced again in the next
    # session.
    @wraps(original)
    def _try_import_debugpy(*args: Any, **named: Any) -> Any:
        caller: Any = sys._getframe(1)
        while caller.f_code.co_name == "_try_import_debugpy":
            # Skip the override of forked_children.py, which was added later.
            caller = caller.f_back
        if debugger() is None and call is not None and caller.f_code.co_name == "set_trace":
            call()
        if debugger() is None or caller.f_code.co_name != "set_trace":
            return original(*args, **named) if call is None else None
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

    vars(_try_import_debugpy)["is_raydaps_agent"] = True
    ray_debugpy._try_import_debugpy = _try_import_debugpy
