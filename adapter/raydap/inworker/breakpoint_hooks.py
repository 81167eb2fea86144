"""Stops at breakpoint(), Ray's set_trace and Ray's post mortem, in a process that raydap debugs through its agent.

Ray's own code opens a port for an adapter, which debugpy could not start here. pydevd installs hooks of its own when it
is imported. They ignore Ray, and stay when the debugger detaches, so breakpoint() would be skipped.
"""

from __future__ import annotations

import sys

from .own_stops import report_no_stop, stop_at
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
