"""Where this process has submitted its calls to Ray; runs in the process of the caller.

In a client, the stack of a task continues with the frames of its caller (core/requests/caller_frames.py). Ray keeps no
record of them. So the methods of Ray that submit calls are replaced by some that record the frames of each call. A
record has code and positions only, so it keeps no values of the program alive.

A thread that is about to stop reports the task that it runs.

The design is in docs/design/remote-steps.md.
"""

import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .replaced_functions import install, original
from .submitting_lines import dap_id, send_event

SUBMITTING = {
    "ray.remote_function:RemoteFunction._remote": "task",
    "ray.actor:ActorHandle._actor_method_call": "method",
    "ray.actor:ActorClass._remote": "actor",
}
"""Ray's methods that submit a call, with the kind of the call."""

RECORDED_TIMEOUT_S = 0.5
"""Seconds for which a question waits for threads that submit calls."""

CHECK_S = 0.01
"""Seconds between two checks whether they have recorded their calls."""

KEPT_CALLS = 2_000
"""The most calls that are recorded; a new one replaces the oldest."""

KEPT_FRAMES = 16
"""The most frames of a call that are recorded, innermost first."""

Follow = Callable[[str, Any, Any, Any], "Callable[[Callable[[], Any]], Any] | None"]
"""Gets the kind of a call, its object, its arguments and the frame that calls the replaced method. Returns None, or a
function that makes the call in a step (followed_calls.py)."""


class CallSites:
    """The calls that this process has submitted, as long as one debugger object of pydevd exists."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.follow: Follow | None = None
        """The function for a step that follows the next call, if there is one."""
        self.calls: OrderedDict[str, tuple[int, str, tuple[Any, ...]]] = OrderedDict()
        """The recorded calls, the oldest first, by the hex id of the task.

        Each has the ident of the thread, the hex id of the task that the thread ran, and for each frame its code and
        the position in the code."""
        self._submitters: set[int] = set()
        """The idents of the threads that submit a call now."""
        self._is_replaced = False
        self._is_reported = False
        """Whether raydap knows that this process submits calls."""
        self._tasks: dict[str, str] = {}
        """The task that each thread has last reported, by pydevd's id of the thread."""

    def replace(self) -> bool:
        """Replace the methods that submit calls; return whether Ray is there."""
        if "ray.remote_function" not in sys.modules or "ray.actor" not in sys.modules:
            return False
        if not self._is_replaced:
            self._is_replaced = True
            for path, kind in SUBMITTING.items():
                rays = original(path)
                if rays is not None:
                    install(path, self._submitting(rays, kind))
        return True

    def _submitting(self, rays: Any, kind: str) -> Any:
        def submit(owner: Any, *args: Any, **named: Any) -> Any:
            follow, ident = self.follow, threading.get_ident()
            self._report_caller()
            self._submitters.add(ident)
            try:
                step = None if follow is None else follow(kind, owner, args, sys._getframe(1))
                result = rays(owner, *args, **named) if step is None else step(lambda: rays(owner, *args, **named))
                with suppress(Exception):  # Another version of Ray returns something else.
                    self._record(result, sys._getframe(1))
            finally:
                self._submitters.discard(ident)
            return result

        return submit

    def _record(self, result: Any, frame: Any) -> None:
        task = task_of(result)
        if not task:
            return
        # One flat tuple, whose parts contain no other objects, costs the garbage collector nothing.
        frames: list[Any] = []
        for _ in range(KEPT_FRAMES):
            frames += (frame.f_code, frame.f_lasti)
            frame = frame.f_back
            if frame is None:
                break
        self.calls[task] = (threading.get_ident(), current_task() if is_worker() else "", tuple(frames))
        if len(self.calls) > KEPT_CALLS:
            self.calls.popitem(last=False)

    def _report_caller(self) -> None:
        """Report, before the first call, that this process submits calls: the task may stop at once."""
        if not self._is_reported:
            self._is_reported = True
            with suppress(Exception):  # raydap has just detached.
                send_event(self.debugger, "raydapCaller", {})

    def find(self, task: str) -> "tuple[int, str, tuple[Any, ...]] | None":
        """Return the recorded call of a task, None if there is none.

        A task may begin before the thread that has submitted it has recorded the call, so wait for such threads.
        """
        until = time.monotonic() + RECORDED_TIMEOUT_S
        while task not in self.calls and self._submitters and time.monotonic() < until:
            time.sleep(CHECK_S)
        return self.calls.get(task)

    def report_task(self, thread: Any) -> None:
        """Report the task of the calling thread, if it runs another one than at its last stop."""
        from _pydevd_bundle.pydevd_constants import get_thread_id

        key = get_thread_id(thread)
        task = current_task() if is_worker() else ""
        if task != self._tasks.get(key, ""):
            self._tasks[key] = task
            send_event(self.debugger, "raydapTask", {"threadId": dap_id(key), "task": task})


def is_worker() -> bool:
    """Return whether this process is a worker of Ray. A driver has a task id, too, but nothing has called it."""
    worker: Any = sys.modules.get("ray._private.worker")
    return worker is not None and worker.global_worker.mode == worker.WORKER_MODE


def task_of(result: Any) -> str:
    """Return the hex id of the task that was submitted, by what `.remote()` returns; "" if that contains no id."""
    kind = sys.modules["ray"].ObjectRef
    if isinstance(result, (list, tuple)):
        result = result[0] if result else None
    generator = getattr(result, "_generator_ref", None)
    if isinstance(generator, kind):
        result = generator
    if isinstance(result, kind):
        return str(result.task_id().hex())
    actor = getattr(result, "_ray_actor_id", None)
    if actor is None:
        return ""
    return str(sys.modules["ray._raylet"].TaskID.for_actor_creation_task(actor).hex())


def current_task() -> str:
    """Return the hex id of the task that the calling thread or coroutine runs, "" outside of tasks."""
    raylet = sys.modules.get("ray._raylet")
    worker: Any = sys.modules.get("ray._private.worker")
    if raylet is None or worker is None or not worker.global_worker.connected:
        return ""
    variable = getattr(raylet, "async_task_id", None)
    task = (None if variable is None else variable.get()) or worker.global_worker.current_task_id
    return str(task.hex())


def call_sites(debugger: Any) -> CallSites:
    """Return the CallSites of this debugger object."""
    if "raydap_calls" not in vars(debugger):
        debugger.raydap_calls = CallSites(debugger)
    return vars(debugger)["raydap_calls"]  # type: ignore[no-any-return]
