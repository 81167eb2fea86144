"""Lets `breakpoint()` stop in the forked children of a Ray worker; runs in the worker, and in its children.

Ray's `breakpoint()` asks the cluster for the worker's debug port (ray/util/debugpy.py,
_ensure_debugger_port_open_thread_safe). A forked child has Ray's modules, but none of the threads that would answer, so
it waits until Ray aborts it. It needs no port: pydevd has connected it to its parent's adapter while it was forked.

So the first function that Ray's `breakpoint()` calls is overridden. In a child it stops the caller if a client is
attached to the child, and sends Ray's function back. In the worker it does what it did before. It is never undone,
because a child that begins after the client has left must not wait for ever either.
"""

import os
import sys
from typing import Any

complained_in = 0
"""The pid of the process that has written that its breakpoint() does nothing."""


def stop_in_forked_children() -> None:
    """Does nothing in a process that is no Ray worker, or whose parent has seen to it."""
    ray_debugpy: Any = sys.modules.get("ray.util.debugpy")
    in_worker = getattr(ray_debugpy, "_try_import_debugpy", None)
    if in_worker is None or hasattr(in_worker, "is_raydaps"):
        return
    ray_worker = sys.modules["ray"]._private.worker.global_worker
    pid, core_worker = os.getpid(), getattr(ray_worker, "core_worker", None)

    def _try_import_debugpy(*args: Any, **named: Any) -> Any:
        # A child can join a cluster of its own.
        if os.getpid() == pid or getattr(ray_worker, "core_worker", None) is not core_worker:
            return in_worker(*args, **named)
        stop_caller(("ray.util.debugpy", "ray.util.rpdb"))
        return None

    # With the mark of breakpoint_hooks.py, if that is there: neither is to come again in the next session.
    vars(_try_import_debugpy).update(vars(in_worker), is_raydaps=True)
    ray_debugpy._try_import_debugpy = _try_import_debugpy


def stop_caller(modules: tuple[str, ...]) -> None:
    """Stop this thread in the function that has called these modules. If no client is attached, write once in a process
    that breakpoint() does nothing."""
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
