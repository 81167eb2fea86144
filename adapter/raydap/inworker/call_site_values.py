"""Answers about the recorded calls of this process: their frames, and the variables of frames that still run.

None of the user's code runs for an answer, and no thread is stopped (stack_reader.py).
"""

import os
import threading
from typing import Any

from .call_sites import call_sites
from .coroutines import waiting_coroutines
from .stack_reader import _variables, as_json
from .submitting_lines import dap_id
from .thread_frames import current_frames


def read_call(debugger: Any, task: str) -> str:
    """Return where a task was submitted, as JSON: `thread` (DAP's id), `task`, the caller's own one, and `frames`.

    The frames are the innermost first, each with `name`, `path` and `line`. Return "" if the call is not recorded.
    """
    call = call_sites(debugger).calls.get(task)
    if call is None:
        return ""
    ident, caller, frames = call
    shown = [{"name": code.co_name, "path": _path(code), "line": _line(code, last)} for _, code, last in frames]
    return as_json({"thread": _thread(ident), "task": caller, "frames": shown})


def running_frame(debugger: Any, task: str, number: int) -> str:
    """Return the id that pydevd gives to a frame of a call when its thread stops, "" if the function has returned."""
    return "" if _frame(debugger, task, number) is None else str(dap_id(call_sites(debugger).calls[task][2][number][0]))


def frame_values(debugger: Any, task: str, number: int) -> str:
    """Return the variables of a frame of a call as JSON, each with `name`, `value` and `type`.

    Return "" if the function has returned.
    """
    frame = _frame(debugger, task, number)
    return "" if frame is None else as_json(_variables(frame))


def _frame(debugger: Any, task: str, number: int) -> Any:
    """Return a frame of a call, None if it does not run any more.

    A later frame can have the same `id()`, but then hardly the same code and the same callers.
    """
    call = call_sites(debugger).calls.get(task)
    if call is None or number >= len(call[2]):
        return None
    ident, _, frames = call
    stacks = [_stack(current_frames().get(ident)), *(stack for _, _, _, stack in waiting_coroutines())]
    known = [(each, code) for each, code, _ in frames[number:]]
    for stack in stacks:
        for position, frame in enumerate(stack):
            below = [(id(each), each.f_code) for each in stack[position : position + len(known)]]
            if below[:1] == known[:1] and below == known[: len(below)]:
                return frame
    return None


def _stack(frame: Any) -> list[Any]:
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    return stack


def _thread(ident: int) -> Any:
    from _pydevd_bundle.pydevd_constants import get_thread_id

    thread = threading._active.get(ident)  # type: ignore[attr-defined]
    return 0 if thread is None else dap_id(get_thread_id(thread))


def _path(code: Any) -> str:
    path = str(code.co_filename)
    return path if path.startswith("<") else os.path.abspath(path)


def _line(code: Any, position: int) -> int:
    lines = [line for start, end, line in code.co_lines() if start <= position < end]
    return int((lines or [0])[0] or code.co_firstlineno)
