"""The results of calls that a step has followed, and the stop where the caller takes one; runs in the caller."""

import contextlib
import inspect
import sys
import threading
from typing import Any

from .own_stops import step_over, stop_at
from .replaced_functions import install, original
from .submitting_lines import dap_id, send_event

GET = "ray._private.worker:Worker.get_objects"
"""Ray's method that `ray.get` calls."""

WRAP = ("asyncio:wrap_future", "asyncio.futures:wrap_future")
"""The names of the function that `await` calls for an object of Ray (ray/includes/object_ref.pxi, as_future). It is
pickled by the second."""

COROUTINES = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR
"""The flags of the code of coroutines and generators."""

LIBRARIES = ("ray", "asyncio", "threading", "concurrent", "uvloop", "_raydap_agent")
"""The packages whose frames are between Ray and the user's function."""


class RemoteResults:
    """The results of followed calls that the caller has not taken yet."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self._numbers: dict[str, int] = {}
        """The number of the step that has followed a call, by the hex id of the call's task."""
        self._stops: set[str] = set()
        """The tasks at whose result the caller stops."""

    def replace(self) -> None:
        """Replace the functions that take results."""
        rays = original(GET)
        if rays is not None:
            from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER

            def get_objects(worker: Any, object_refs: Any, *args: Any, **named: Any) -> Any:
                # An exception, such as a time-out, leaves the results where they are. Errors of tasks are values here.
                values = rays(worker, object_refs, *args, **named)
                if self._numbers and self._taken(object_refs):
                    stop_at(_debugger, users_frame(sys._getframe(1)), CMD_STEP_OVER)
                return values

            install(GET, get_objects)
        pythons = None
        for path in WRAP:
            pythons = original(path)
        if pythons is not None:

            def wrap_future(future: Any, *args: Any, **named: Any) -> Any:
                result = pythons(future, *args, **named)
                ref = getattr(future, "object_ref", None)
                if ref is not None and self._numbers:
                    self._awaits(ref, result, sys._getframe(1))
                return result

            for path in WRAP:
                install(path, wrap_future)

    def watch(self, task: str, number: int) -> None:
        """Watch for the result of a task until it is taken."""
        self._numbers[task] = number

    def stop_at(self, task: str) -> str:
        """Stop where the caller takes the result of a task. Return "" if it has taken it already."""
        if task not in self._numbers:
            return ""
        self._stops.add(task)
        return "watched"

    def forget(self, task: str) -> None:
        """Stop no longer where the caller takes the result of a task."""
        self._stops.discard(task)

    def _taken(self, refs: Any) -> bool:
        """Note that the caller takes these results. Return whether it stops now. Raise nothing."""
        try:
            taken = {ref.task_id().hex() for ref in refs}
            can_stop = users_frame(sys._getframe(2)) is not None
            return any([self._end(task, can_stop) for task in list(self._numbers) if task in taken])
        except Exception:
            return False  # Not references of Ray; Ray has raised an error.

    def _end(self, task: str, can_stop: bool) -> bool:
        """Report that the result of a task is taken; return whether the caller stops there."""
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        number = self._numbers.pop(task)
        is_stop = task in self._stops and can_stop
        self._stops.discard(task)
        key = get_current_thread_id(threading.current_thread())
        send_event(self.debugger, "raydapTaken", {"threadId": dap_id(key), "number": number, "stops": is_stop})
        return is_stop

    def _awaits(self, ref: Any, future: Any, frame: Any) -> None:
        """Wait until the future of a result is done. After that, asyncio resumes the user's coroutine.

        `frame` has called `wrap_future`, in a coroutine of the user's or in a task that asyncio has made for it.
        """
        asyncio: Any = sys.modules["asyncio"]
        task = str(ref.task_id().hex())
        if task not in self._numbers:
            return
        awaiting, inner = users_coroutine(frame), asyncio.current_task()

        def done(_: Any) -> None:
            with contextlib.suppress(Exception):  # asyncio would report it to the program.
                if task in self._numbers:
                    users = awaiting or frame_that_awaits(inner)
                    if self._end(task, users is not None):
                        step_over(self.debugger, users)

        future.add_done_callback(done)


def _debugger() -> Any:
    return getattr(sys.modules.get("pydevd"), "get_global_debugger", lambda: None)()


def users_frame(frame: Any) -> Any:
    """Return the innermost frame outside of libraries, from this one outwards; None if there is none."""
    while frame is not None and is_library(frame):
        frame = frame.f_back
    return frame


def users_coroutine(frame: Any) -> Any:
    """Return the innermost frame outside of libraries among the coroutines that run, from this frame outwards.

    Return None if there is none: the frames around the coroutines are those of the event loop, and of its caller.
    """
    while frame is not None and is_library(frame):
        if frame.f_back is not None and not frame.f_code.co_flags & COROUTINES and _package(frame) != "ray":
            return None
        frame = frame.f_back
    return frame if frame is not None and frame.f_code.co_flags & COROUTINES else None


def frame_that_awaits(future: Any, depth: int = 8) -> Any:
    """Return the frame of the user's coroutine that waits for this future of asyncio, None if there is none.

    `asyncio.gather`, `asyncio.wait` and others wait for futures by callbacks, which refer to another future, for which
    the coroutine waits (asyncio/tasks.py).
    """
    from .coroutines import coroutine_frames

    asyncio: Any = sys.modules["asyncio"]
    for callback, *_ in getattr(future, "_callbacks", None) or ():
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, asyncio.Task):
            frames = coroutine_frames(owner.get_coro())
            users = [frame for frame in frames if not is_library(frame)]
            found = users[0] if users else frame_that_awaits(owner, depth - 1) if depth else None
        else:
            parts = [each.cell_contents for each in getattr(callback, "__closure__", None) or ()]
            parts += getattr(callback, "args", None) or ()  # Of a functools.partial.
            others = [each for each in parts if asyncio.isfuture(each) and each is not future]
            found = next(filter(None, (frame_that_awaits(each, depth - 1) for each in others)), None) if depth else None
        if found is not None:
            return found
    return None


def is_library(frame: Any) -> bool:
    """Return whether a frame belongs to Ray, or to the part of Python between Ray and the user's function."""
    package = _package(frame)
    is_debugpys = package.startswith(("debugpy", "pydevd", "_pydev"))
    return is_debugpys or package in LIBRARIES or frame.f_code.co_filename.endswith("default_worker.py")


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def stopped_frame(debugger: Any, key: str) -> Any:
    """Return the innermost frame of the stopped thread with this id of pydevd; None if the thread runs."""
    return next(iter(debugger.suspended_frames_manager.get_frames_list(key) or ()), None)


def is_outermost(debugger: Any, thread: int) -> str:
    """Return "yes" if a stopped thread is in the outermost function of its task, else "no"."""
    control = debugger.raydap.threads
    outer = users_frame(stopped_frame(debugger, control._key(thread)))
    return "yes" if outer is not None and users_frame(outer.f_back) is None else "no"
