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
    call = call_sites(debugger).find(task)
    if call is None:
        return ""
    ident, caller, frames = call
    shown = [{"name": code.co_name, "path": _path(code), "line": _line(code, last)} for code, last in _pairs(frames)]
    return as_json({"thread": _thread(ident), "task": caller, "frames": shown})


def running_frame(debugger: Any, task: str, number: int) -> str:
    """Return the id that pydevd gives to a frame of a call when its thread stops, "" if the function has returned."""
    frame = _frame(debugger, task, number)
    return "" if frame is None else str(dap_id(id(frame)))


def frame_values(debugger: Any, task: str, number: int) -> str:
    """Return the variables of a frame of a call as JSON, each with `name`, `value` and `type`.

    Return "" if the function has returned.
    """
    frame = _frame(debugger, task, number)
    return "" if frame is None else as_json(_variables(frame))


def _frame(debugger: Any, task: str, number: int) -> Any:
    """Return a frame of a call, None if it does not run any more.

    A frame is the same if it has the same code, and its callers are where they were at the call. So a later call of the
    same function from the same place counts as the same frame.
    """
    call = call_sites(debugger).calls.get(task)
    known = [] if call is None else _pairs(call[2])[number:]
    if call is None or not known:
        return None
    for position, frame in enumerate(stack := _stack(current_frames().get(call[0]))):
        callers = [(each.f_code, each.f_lasti) for each in stack[position + 1 : position + len(known)]]
        if frame.f_code is known[0][0] and callers == known[1 : len(callers) + 1]:
            return frame
    # A coroutine that waits is at another position than one that runs another coroutine.
    codes = [code for code, _ in known]
    for _, _, _, stack in waiting_coroutines():
        for position, frame in enumerate(stack):
            below = [each.f_code for each in stack[position:]]
            if below == codes[: len(below)]:
                return frame
    return None


def _pairs(frames: tuple[Any, ...]) -> list[tuple[Any, int]]:
    """Return the code and the position of each frame of a recorded call."""
    return list(zip(frames[::2], frames[1::2], strict=True))


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
