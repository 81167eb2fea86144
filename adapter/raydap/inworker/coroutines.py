"""The coroutines that wait, with their frames; runs in the worker.

No thread executes these coroutines: the thread of their event loop serves others in the meantime, or sleeps, so its
stack does not contain them. No code of the user's runs.
"""

import sys
import threading
from typing import Any

_TRIES = 10
"""How often reading the set of tasks is tried. It fails if another thread adds a task."""

_FRAME = ("cr_frame", "gi_frame", "ag_frame")
"""The attributes with the frame of a coroutine, a generator and an asynchronous generator."""
_AWAITED = ("cr_await", "gi_yieldfrom", "ag_await")
"""The attributes with what each of these awaits (Python's documentation of `inspect`)."""

_WRAPPERS = ("coroutine_wrapper", "async_generator_asend")
"""Python's own types through which a coroutine awaits another, and which have no such attribute. Ray's coroutine, which
is compiled and has no frame, awaits a method of an actor through them."""


_RAYS_THREAD = "AsyncIO Thread"
"""The beginning of the name of a thread of an asynchronous actor (Ray's _raylet.pyx)."""


def waiting_coroutines() -> list[tuple[Any, str, int, list[Any]]]:
    """Return the asyncio tasks that wait, in the order in which asyncio numbers them.

    Each comes with its name, the ident of its event loop's thread (0 if it is unknown), and its frames, innermost
    first.
    """
    found = []
    # asyncio's loops contain the ident of their thread (asyncio/base_events.py, run_forever), uvloop's do not. Ray runs
    # one loop in a thread for each concurrency group of an actor.
    rays = [thread.ident or 0 for thread in threading.enumerate() if thread.name.startswith(_RAYS_THREAD)]
    unknown = rays[0] if len(rays) == 1 else 0
    for task, name, loop, awaited in _tasks():
        frames = coroutine_frames(awaited)
        # A coroutine that runs at this moment is part of its thread's stack, so its outermost frame has a caller.
        if frames and frames[-1].f_back is None:
            found.append((task, name, getattr(loop, "_thread_id", unknown) or 0, frames))
    # Names end with the number of the task, so longer names are later.
    return sorted(found, key=lambda each: (len(each[1]), each[1]))


def coroutine_frames(awaited: Any) -> list[Any]:
    """Return the frames of a coroutine and of the coroutines that it waits for, innermost first."""
    frames: list[Any] = []
    while awaited is not None and _is_pythons(type(awaited)):
        frame = _attribute(awaited, _FRAME)
        if frame is not None:
            frames.insert(0, frame)
        awaited = _attribute(awaited, _AWAITED) or _wrapped(awaited)
    return frames


def _is_pythons(kind: type) -> bool:
    """Return whether an object of this type has no code of the user's, so that its attributes can be read."""
    return str(kind.__module__).startswith(("builtins", "_cython"))


def _attribute(awaited: Any, names: tuple[str, ...]) -> Any:
    return next((getattr(awaited, name) for name in names if hasattr(awaited, name)), None)


def _wrapped(awaited: Any) -> Any:
    if type(awaited).__name__ not in _WRAPPERS:
        return None
    import gc

    inner = (each for each in gc.get_referents(awaited) if _is_pythons(type(each)))
    return next((each for each in inner if _attribute(each, _FRAME) is not None), None)


def _tasks() -> list[tuple[Any, str, Any, Any]]:
    """Return asyncio's tasks of all threads, with their names, event loops and coroutines.

    Python's own all_tasks (asyncio/tasks.py) returns the tasks of one event loop only.
    """
    tasks = sys.modules.get("asyncio.tasks")
    if tasks is None:
        return []
    kind = tasks.Task
    found: list[Any] = []
    if sys.version_info >= (3, 14):
        # The tasks are in lists of the C code, one for each thread.
        import gc

        found = gc.get_objects()
    # Before Python 3.12 `_scheduled_tasks` is called `_all_tasks`, and `_eager_tasks` does not exist.
    for name in ("_scheduled_tasks", "_all_tasks", "_eager_tasks"):
        for _ in range(_TRIES):
            try:
                found += list(getattr(tasks, name, ()))
                break
            except RuntimeError:
                continue
    # Call the methods of Task itself, because a class of the user's may override them.
    found = [each for each in found if issubclass(type(each), kind)]
    return [(each, str(kind.get_name(each)), kind.get_loop(each), kind.get_coro(each)) for each in found]
