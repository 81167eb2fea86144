"""Tracing of the threads of threaded actors, so that breakpoints stop them; runs in workers before Python 3.12.

Before Python 3.12 each thread has to enable its own tracing. pydevd does that in the threads that it finds running
Python code, and in the threads that Python starts. Ray creates the threads of a threaded actor in C++, and they are
idle between calls, so pydevd never sees them. Therefore each call of an actor's method enables tracing in its own
thread while raydap debugs the worker.
"""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .replaced_functions import install, is_installed


def trace_actor_threads() -> None:
    """Enable tracing in each call of an actor's method while raydap debugs this process.

    Do nothing if this process is no Ray worker, or if the override is already in place. While raydap does not debug the
    process, the override only ends tracing that an earlier session has left enabled.

    Source: ray/_private/function_manager.py, which makes an executor of each method when the actor's class is loaded.
    """
    function_manager: Any = sys.modules.get("ray._private.function_manager")
    if sys.version_info >= (3, 12) or function_manager is None:
        return
    manager: Any = function_manager.FunctionActorManager
    original: Any = manager._make_actor_method_executor
    if is_installed(original):
        return
    traced: set[int] = set()

    def traced_executor(execute: Any) -> Any:
        def actor_method_executor(*args: Any, **kwargs: Any) -> Any:
            with suppress(Exception):
                trace_thread(traced)
            return execute(*args, **kwargs)

        # Ray reads the attribute `method`, to distinguish coroutines from other methods.
        vars(actor_method_executor).update(vars(execute))
        return actor_method_executor

    path = "ray._private.function_manager:FunctionActorManager._make_actor_method_executor"
    install(path, lambda *args, **kwargs: traced_executor(original(*args, **kwargs)))
    replace_executors(traced_executor)


def trace_thread(traced: set[int]) -> None:
    """Begin or end the tracing of this thread. `traced` are the idents of the threads whose tracing has begun."""
    current = raydaps_debugger()
    if current is not None:
        traced.add(threading.get_ident())
        # pydevd traces only threads that `threading` lists. This call lists the current one.
        threading.current_thread()
        current.enable_tracing()
    elif threading.get_ident() in traced:
        # The thread was idle when the debugger detached, so it is still traced.
        traced.discard(threading.get_ident())
        # Keep a trace function of the program.
        if type(sys.gettrace()).__module__.startswith(("_pydevd", "_raydap")):
            sys.settrace(None)


def raydaps_debugger() -> Any:
    """Return pydevd's debugger object while raydap debugs this process (changes.py), else None."""
    current = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
    return current if hasattr(current, "raydap") else None


def replace_executors(traced_executor: Callable[[Any], Any]) -> None:
    """Wrap the executors in Ray's two tables, for an actor class that is already loaded."""
    manager: Any = sys.modules["ray"]._private.worker.global_worker.function_actor_manager
    for table in (getattr(manager, name, {}) for name in ("_function_execution_info", "execution_infos")):
        for key, info in list(table.items()):
            # Only executors of methods have this attribute.
            if hasattr(getattr(info, "function", None), "method"):
                table[key] = info._replace(function=traced_executor(info.function))
