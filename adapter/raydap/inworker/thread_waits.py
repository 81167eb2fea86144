"""The reason why a thread waits: objects of Ray, a lock and its holder, or another thread; runs in the worker.

It is read from the arguments of Ray's and Python's functions that wait, in the frames that stack_reader.py finds. None
of the user's code runs. A wait of an unknown kind is not reported, so that the thread does not count as deadlocked.
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
"""The most frames of Ray and Python that are searched for a function that waits."""

_FOREVER_S = 10**6
"""The timeout in seconds that ray.wait uses for no timeout (ray/_private/worker.py)."""


class Waits:
    """The waits of threads and coroutines, for `read_stacks`."""

    def __init__(self) -> None:
        self._folders = _folders()
        self.trees: dict[str, Any] = {}
        """The parsed source files that were needed so far, by their names (lock_owners.py)."""

    def of_thread(self, ident: int, frames: Mapping[int, Any]) -> dict[str, Any]:
        """Return `wait`, which describes what this thread waits for; an empty dict if that is unknown.

        `wait` has a `kind`, and further keys for each kind:

        - `objects`: `tasks` has the hex ids of the tasks that produce the objects, `more` is the number of tasks that
          it leaves out, and `puts` is the number of objects that no task produces. `needed` is how many objects
          suffice, 0 for all.
        - `lock`: `holder` is the ident of the thread that holds the lock, 0 if it is unknown. `sure` is whether it
          certainly does.
        - `thread`: `holder` is the ident of the thread for whose end this one waits.

        `ends` is whether the wait can end without these: it has a time limit, or something else suffices.
        """
        try:
            found = self._call(frames[ident]) or lock_wait(ident, frames, self.trees)
        except Exception:
            found = None  # The internals of this Ray or Python differ from those that are read here.
        return {} if found is None else {"wait": found}

    def of_coroutine(self, task: Any, frames: list[Any]) -> dict[str, Any]:
        """Return `wait` for an asyncio task, and `task`, the hex id of the Ray task for which it runs, or "".

        `frames` are those of the coroutine, innermost first.
        """
        fields = {}
        try:
            fields["task"] = ray_task(task)
            found = coroutine_wait(task, frames)
        except Exception:
            found = None
        return fields if found is None else {**fields, "wait": found}

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
    """Return the result of `read_stacks` for all threads, with their waits if these are wanted."""
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
"""The functions that wait: the end of the file's path, the name, and the function that reads its variables."""
