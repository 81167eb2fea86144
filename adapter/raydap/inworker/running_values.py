"""The value of an expression in a running process, without stopping it; runs in the worker.

No debugger is needed, so an agent answers with it, too. The expression is the user's code and may never return. So it
runs in a thread of its own, for which the caller waits no longer than the given time.
"""

import reprlib
import signal
import threading
from typing import Any

from .coroutines import waiting_coroutines
from .frame_locals import local_variables
from .safe_values import type_name
from .stack_reader import _USERS, _callers, _folders, _owner, as_json
from .thread_frames import current_frames

_TEXT = 16_000
"""The longest text of a value, in characters. The summary of a value for a comparison is shorter (calls.py,
MAX_SUMMARY)."""

_SHOWN_ITEMS = 100
"""The most items of a collection that the text contains."""

_WAIT = "block_until_configuration_done"
"""The function of pydevd in which a thread waits for a client, below Ray's breakpoint()."""


def evaluate_running(expression: str, seconds: float) -> str:
    """Evaluate an expression where the user's code runs, and return JSON.

    The JSON has `result` and `type`, as in debugpy's response to an evaluate. It has `error`, one line, if the
    expression fails, and `silent` if there is no value after this many seconds.
    """
    answer: dict[str, Any] = {}
    thread: Any = threading.Thread(target=_evaluate, args=(expression, answer), name="raydap", daemon=True)
    thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
    thread.start()
    thread.join(seconds)
    return as_json(answer or {"silent": True})


def _evaluate(expression: str, answer: dict[str, Any]) -> None:
    # Threads of raydap block all signals. A process that the expression starts would inherit that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    try:
        frame = users_frame()
        if frame is None:
            answer["error"] = "It is running none of your code now."
            return
        value = eval(expression, frame.f_globals, local_variables(frame))
        shown = _text(value)
        answer.update(result=shown, type=type_name(type(value)))
    except BaseException as error:
        text = " ".join(str(error).split())[:_TEXT]
        answer["error"] = type_name(type(error)) + (": " + text if text else "")


def users_frame() -> Any:
    """Return the innermost frame of the user's code, None if no such code runs.

    Prefer a frame of a thread that waits in breakpoint(), then of the main thread, then of another thread, then of a
    waiting coroutine.
    """
    folders = _folders()
    main = threading.main_thread().ident
    known = {thread.ident: thread for thread in threading.enumerate()}
    frames = current_frames()
    # debugpy can evaluate in the thread that waits, so leave out what this thread executes in its wait.
    waits = {ident: each for ident in frames for each in _callers(frames[ident]) if each.f_code.co_name == _WAIT}
    for ident in sorted(frames, key=lambda ident: (ident not in waits, ident != main)):
        if getattr(known.get(ident), "pydev_do_not_trace", None):
            continue
        for frame in _callers(waits.get(ident, frames[ident])):
            if _owner(frame.f_code.co_filename, folders) == _USERS:
                return frame
    for _, _, _, coroutine in waiting_coroutines():
        for frame in coroutine:
            if _owner(frame.f_code.co_filename, folders) == _USERS:
                return frame
    return None


def _text(value: Any) -> str:
    shortened = reprlib.Repr()
    shortened.maxlevel = 6
    shortened.maxlist = shortened.maxtuple = shortened.maxset = shortened.maxfrozenset = _SHOWN_ITEMS
    shortened.maxdict = shortened.maxdeque = shortened.maxarray = _SHOWN_ITEMS
    shortened.maxstring = shortened.maxlong = shortened.maxother = _TEXT
    return shortened.repr(value)
