"""Says what a thread waits for: objects of Ray, a lock and who holds it, or another thread; runs in the worker.

It looks at the arguments of those functions of Ray and Python that wait (stack_reader.py gives the frames). No code of
the user's runs. It says nothing of a wait that it does not know, so that nobody takes the thread for deadlocked.
"""

import itertools
import os
from collections.abc import Mapping
from typing import Any

from .coroutine_waits import coroutine_wait, ray_task
from .frame_locals import local_variables
from .lock_owners import lock_wait
from .object_waits import object_wait
from .stack_reader import _PLUMBING, _callers, _folders, _owner, read_stacks

_WAITING_FRAMES = 12
"""Frames of Ray and Python in which a call of the user's waits."""

_FOREVER_S = 10**6
"""What ray.wait makes of no timeout (ray/_private/worker.py)."""


class Waits:
    """What read_stacks asks for each thread and each coroutine that it tells of."""

    def __init__(self) -> None:
        self._folders = _folders()
        self.trees: dict[str, Any] = {}

    def of_thread(self, ident: int, frames: Mapping[int, Any]) -> dict[str, Any]:
        """`wait`, if it is known what the thread with this ident waits for. `kind` says which of these there are:

        objects: `tasks` are the hex ids of the tasks that make them; `more` is the number of those that are not named,
        and `puts` that of objects that no task makes. `needed` of them suffice, all if it is 0.
        lock: `holder` is the ident of the thread that holds it, 0 if it is not known; `sure`: it certainly does.
        thread: `holder` is the one whose end it waits for.

        `ends`: it waits no longer than for some time, or something else suffices.
        """
        try:
            found = self._call(frames[ident]) or lock_wait(ident, frames, self.trees)
        except Exception:
            found = None  # Ray or Python are not as they were when this was written.
        return {} if found is None else {"wait": found}

    def of_coroutine(self, task: Any, frames: list[Any]) -> dict[str, Any]:
        """The same of an asyncio task, and `task`, the hex id of Ray's task for which it runs, or ""."""
        told = {}
        try:
            told["task"] = ray_task(task)
            found = coroutine_wait(task, frames)
        except Exception:
            found = None
        return told if found is None else {**told, "wait": found}

    def _call(self, innermost: Any) -> dict[str, Any] | None:
        for frame in itertools.islice(_callers(innermost), _WAITING_FRAMES):
            path, name = frame.f_code.co_filename, frame.f_code.co_name
            for file, function, read in _CALLS:
                if function == name and path.endswith(file):
                    return read(local_variables(frame))
            if _owner(path, self._folders) != _PLUMBING:
                break
        return None


def read_waits(wanted: bool = True) -> dict[str, Any]:
    """What read_stacks tells of all threads, and if that is wanted, what they wait for."""
    return read_stacks(waits=Waits() if wanted else None)


def _of_get(names: Mapping[str, Any]) -> dict[str, Any] | None:
    refs, timeout = names["object_refs"], names.get("timeout")
    return object_wait(refs if type(refs) is list else [refs], 0, timeout is not None and timeout != -1)


def _of_wait(names: Mapping[str, Any]) -> dict[str, Any] | None:
    refs, timeout = names["ray_waitables"], names["timeout"]
    return object_wait(list(refs), names["num_returns"], timeout is not None and timeout < _FOREVER_S)


def _of_join(names: Mapping[str, Any]) -> dict[str, Any] | None:
    ident = object.__getattribute__(names["self"], "__dict__").get("_ident")
    if type(ident) is not int:
        return None
    return {"kind": "thread", "holder": ident, "ends": names.get("timeout") is not None}


_WORKER = os.path.join("ray", "_private", "worker.py")

_CALLS = (
    (_WORKER, "get_objects", _of_get),
    (_WORKER, "get", _of_get),
    (_WORKER, "wait", _of_wait),
    (os.sep + "threading.py", "join", _of_join),
)
"""The functions that wait: the end of the file's path, the name, and what their arguments say."""
