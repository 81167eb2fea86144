"""`breakpoint()` in the forked children of a Ray worker; runs in the worker, and in its children.

Ray's `breakpoint()` requests the worker's debug port from the cluster (ray/util/debugpy.py,
_ensure_debugger_port_open_thread_safe). A forked child has Ray's modules, but none of the threads that would receive
the answer, so it waits until Ray aborts it. It needs no port, because pydevd has connected it to its parent's adapter
at the fork.

So the first function that Ray's `breakpoint()` calls is overridden. In a child the override stops the caller, if a
client is attached to the child, and then Ray's function returns. In the worker the override calls the original. It
stays, because a child that begins after the client has detached must not hang either. A process with an agent does not
need it (breakpoint_hooks.py).

The design is in docs/design/forked-children.md.
"""

import os
import sys
from typing import Any

from .replaced_functions import install, is_installed

complained_in = 0
"""The pid of the process that has reported that its breakpoint() does nothing."""


def stop_in_forked_children() -> None:
    """Override Ray's `breakpoint()`, unless this is no Ray worker, or the child of one with the override."""
    in_worker = getattr(sys.modules.get("ray.util.debugpy"), "_try_import_debugpy", None)
    if in_worker is None or is_installed(in_worker):
        return
    ray_worker = sys.modules["ray"]._private.worker.global_worker
    pid, core_worker = os.getpid(), getattr(ray_worker, "core_worker", None)

    def _try_import_debugpy(*args: Any, **named: Any) -> Any:
        # A child that has joined a cluster of its own can use Ray's function.
        if os.getpid() == pid or getattr(ray_worker, "core_worker", None) is not core_worker:
            return in_worker(*args, **named)
        stop_caller(("ray.util.debugpy", "ray.util.rpdb"))
        return None

    install("ray.util.debugpy:_try_import_debugpy", _try_import_debugpy)


def stop_caller(modules: tuple[str, ...]) -> None:
    """Stop this thread in the function that has called these modules.

    If no client is attached, write to standard error that breakpoint() does nothing, once in each process.
    """
    import pydevd

    global complained_in

    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in modules:
        frame = frame.f_back
    if pydevd._is_attached():
        pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)
    elif complained_in != os.getpid():
        complained_in = os.getpid()
        number = str(complained_in)
        reason = "no raydap is attached to this forked child"
        sys.stderr.write("raydap cannot stop at this breakpoint() of process " + number + ": " + reason + "\n")
        sys.stderr.flush()
