"""Lets breakpoints stop the threads of a threaded actor, before Python 3.12; runs in the worker.

Before Python 3.12 a thread has to ask to be traced. pydevd does that for the threads that it finds at work and for
those that Python starts. Those of a threaded actor are Ray's own, made in C++, and idle between calls: pydevd never
sees them. So each call of an actor's method asks for its own thread, while raydap debugs the worker.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any


def trace_actor_threads() -> None:
    """Do so whenever raydap debugs this process. Do nothing in a process that is no Ray worker, and the second time.

    The override is never undone; while raydap does not debug the process it only ends what is traced still.

    Source: ray/_private/function_manager.py, which makes an executor of each method when the actor's class is loaded.
    """
    function_manager: Any = sys.modules.get("ray._private.function_manager")
    if sys.version_info >= (3, 12) or function_manager is None:
        return
    manager: Any = function_manager.FunctionActorManager
    original: Any = manager._make_actor_method_executor
    if hasattr(original, "is_raydaps"):
        return
    traced: set[int] = set()

    def traced_executor(execute: Any) -> Any:
        def actor_method_executor(*args: Any, **kwargs: Any) -> Any:
            current = raydaps_debugger()
            if current is not None:
                traced.add(threading.get_ident())
                # pydevd traces no thread that the module `threading` does not list; this lists it.
                threading.current_thread()
                current.enable_tracing()
            elif threading.get_ident() in traced:
                # The thread was idle when the debugger left.
                traced.discard(threading.get_ident())
                # The program may have its own trace function there.
                if type(sys.gettrace()).__module__.startswith("_pydevd"):
                    sys.settrace(None)
            return execute(*args, **kwargs)

        # Ray looks at the method, to tell coroutines from others.
        vars(actor_method_executor).update(vars(execute))
        return actor_method_executor

    def _make_actor_method_executor(*args: Any, **kwargs: Any) -> Any:
        return traced_executor(original(*args, **kwargs))

    vars(_make_actor_method_executor)["is_raydaps"] = True
    manager._make_actor_method_executor = _make_actor_method_executor
    replace_executors(traced_executor)


def raydaps_debugger() -> Any:
    """Return pydevd's debugger object while raydap debugs this process (changes.py), else None."""
    current = getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()
    return current if hasattr(current, "raydap") else None


def replace_executors(traced_executor: Callable[[Any], Any]) -> None:
    """In a worker whose actor's class is loaded already: its methods have their executors, in two tables of Ray."""
    manager: Any = sys.modules["ray"]._private.worker.global_worker.function_actor_manager
    for table in (getattr(manager, name, {}) for name in ("_function_execution_info", "execution_infos")):
        for key, info in list(table.items()):
            # Only the executors of methods have this.
            if hasattr(getattr(info, "function", None), "method"):
                table[key] = info._replace(function=traced_executor(info.function))
