"""The objects of Ray that a coroutine waits for, and the Ray task for which it runs; runs in the worker.

An asyncio task waits for a future. A future for an object of Ray refers to that object, so that the object is not freed
earlier (ray/includes/object_ref.pxi, ObjectRef.future). No code of the user's runs.
"""

import os
import sys
import types
from typing import Any

from .coroutines import coroutine_frames
from .frame_locals import local_variables
from .object_waits import object_wait

_ASYNCIO = os.path.join("asyncio", "tasks.py")

_FUTURES = 5000
"""Maximum number of futures that are inspected for one coroutine."""


def ray_task(task: Any) -> str:
    """Return the hex id of the Ray task for which an asyncio task runs, "" if it runs for none.

    Source: Ray's _raylet.pyx, async_task_id.
    """
    variable = getattr(sys.modules.get("ray._raylet"), "async_task_id", None)
    if variable is None:
        return ""
    import contextvars
    import gc

    # Before Python 3.12 a task has no method for its context. It is the first one that the task refers to.
    contexts = (each for each in gc.get_referents(task) if type(each) is contextvars.Context)
    context = next(contexts, None)
    found = None if context is None else context.get(variable)
    return "" if found is None else str(found.hex())


def coroutine_wait(task: Any, frames: list[Any]) -> dict[str, Any] | None:
    """Return what a coroutine waits for, as Waits.of_coroutine does; None if it is no object of Ray.

    `frames` are those of the coroutine, innermost first.
    """
    refs: list[Any] = []
    futures, needed, ends = _awaited(task, frames)
    is_complete = all([_collect(each, refs, {}) for each in futures])
    return object_wait(refs, needed, ends or (needed > 0 and not is_complete)) if refs else None


def _awaited(task: Any, frames: list[Any]) -> tuple[list[Any], int, bool]:
    """Return the futures that a coroutine waits for, how many suffice (0 for all), and whether time ends the wait.

    A coroutine that sleeps waits for no future.
    """
    waiter = object.__getattribute__(task, "_fut_waiter")
    futures, needed, ends = [] if waiter is None else [waiter], 0, False
    for frame in frames:
        code = frame.f_code
        if not code.co_filename.endswith(_ASYNCIO):
            break
        names = local_variables(frame)
        ends = ends or names.get("timeout") is not None
        if code.co_name == "sleep":
            return [], 0, True
        if code.co_name == "_wait":
            futures = list(names["fs"])
            needed = 1 if names["return_when"] == "FIRST_COMPLETED" else 0
        elif code.co_name == "wait_for" and "fut" in names:
            futures = [names["fut"]]
    return futures, needed, ends


def _collect(future: Any, refs: list[Any], seen: dict[int, None]) -> bool:
    """Add the Ray objects that a future waits for; return whether it waits for all of them and nothing else."""
    if id(future) in seen or len(seen) > _FUTURES:
        return id(future) in seen
    seen[id(future)] = None
    tasks = sys.modules["asyncio.tasks"]
    kind = type(future)
    if issubclass(kind, tasks.Task):
        futures, needed, ends = _awaited(future, coroutine_frames(tasks.Task.get_coro(future)))
        if needed or ends:
            return False
        return bool(futures) and all([_collect(each, refs, seen) for each in futures])
    if kind is tasks._GatheringFuture:
        return all([_collect(each, refs, seen) for each in future._children if each._state == "PENDING"])
    if not str(kind.__module__).startswith(("_asyncio", "asyncio", "builtins")):
        return False
    for callback, _ in future._callbacks or ():
        for cell in getattr(callback, "__closure__", None) or () if type(callback) is types.FunctionType else ():
            source = cell.cell_contents
            if str(type(source).__module__) == "concurrent.futures._base":
                ref = source.__dict__.get("object_ref")
                if ref is not None:
                    refs.append(ref)
                    return True
    return False
