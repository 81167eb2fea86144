"""The stacks of threads that run or hang, and what each thread is doing; runs in the worker.

No thread is stopped: `sys._current_frames()` has the frames of every thread. No debugger is needed, so an agent answers
with it, too. None of the user's code runs (safe_values.py).

Frames do not show whether a thread computes or waits: both stay where they are. Their processor time shows it, so each
thread is inspected twice.
"""

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

from .coroutines import waiting_coroutines
from .frame_locals import local_variables
from .safe_values import type_name, value_text
from .thread_frames import current_frames

INTERVAL_S = 0.1
"""Seconds between the two inspections."""

_BUSY = 0.2
"""The share of that time on a processor above which a thread counts as computing. It is low, because other threads may
use the processor, too."""

_JUMPS = ("JUMP", "POP_JUMP", "FOR_ITER", "RESUME")
"""Prefixes of the instructions at which Python code lets other threads run."""

_FRAMES = 150
"""The most frames of a thread that are read, innermost first."""
_VARIABLES = 50
"""The most local variables of a frame that are read."""

_COROUTINES = 50
"""The most coroutines that are shown."""

_SIZE = 200_000
"""Characters of JSON for all threads. A message to the debugger may have more (message_limit.py)."""

_HELD = ("_do_wait_suspend", "do_wait_suspend")
"""The functions of pydevd in which a stopped thread waits."""

_CALL = 60
"""The longest call or wait that is shown, in characters; a longer one is left out."""

_USERS, _PACKAGES, _PLUMBING = 0, 1, 2
"""The owner of a file's code: the user, an installed package, or Python, Ray or debugpy."""


def read_stacks(threads: Collection[int] | None = None, own: Collection[int] = (), waits: Any = None) -> dict[str, Any]:
    """Return the stacks of threads, and what each thread is doing; takes INTERVAL_S.

    `threads` are the idents of the threads, None for all but the debugger's. Threads in `own` and the current thread
    are left out. `waits` finds what the blocked threads wait for (thread_waits.py).

    The result has the current directory `cwd`, and `threads`, the main thread first. Each thread has:

    - its `ident`, its `name`, and `main`, whether it is the main thread;
    - its `activity`: `running`, `busy`, `blocked` or `stopped`;
    - its `frames`, innermost first;
    - `user`, the index of the innermost frame of the user's code, else of a package's code, else -1;
    - `call`, what this frame has called, or "";
    - `is_users`, whether the thread runs the user's code or a task of Ray.

    If `threads` is None, the coroutines that wait in the user's code follow, each as a thread with `coroutine`. `more`
    is the number of coroutines that are left out.
    """
    before, cpu = _places(), _cpu_times()
    began = time.monotonic()
    time.sleep(INTERVAL_S)
    # pydevd has replaced threading.enumerate() by one without the debugger's threads.
    known = dict(threading._active)  # type: ignore[attr-defined]
    after = _cpu_times()
    elapsed = time.monotonic() - began
    main = threading.main_thread().ident
    folders = _folders()
    read = []
    frames = current_frames()
    wanted = [ident for ident in frames if ident not in own and (threads is None or ident in threads)]
    for ident in sorted(wanted, key=lambda ident: ident != main):
        thread = known.get(ident)
        if threads is None and (getattr(thread, "pydev_do_not_trace", None) or _is_pydevds(thread)):
            continue
        used = after.get(ident, 0.0) - cpu.get(ident, 0.0)
        entry: dict[str, Any] = {
            "ident": ident,
            "name": thread.name if thread is not None else str(ident),
            "main": ident == main,
            "activity": _activity(before.get(ident), frames[ident], used / elapsed),
            **_read_frames(_callers(frames[ident]), folders, _SIZE // len(wanted)),
        }
        if any(frame["name"] in _HELD for frame in entry["frames"]):
            entry["activity"] = "stopped"
        if waits is not None and entry["activity"] == "blocked":
            entry.update(waits.of_thread(ident, frames))
        read.append(entry)
    coroutines = read_coroutines(waits) if threads is None else []
    shown = coroutines[:_COROUTINES]
    return {"cwd": _cwd(), "threads": read + shown, "more": len(coroutines) - len(shown)}


def read_coroutines(waits: Any = None) -> list[dict[str, Any]]:
    """Return the coroutines that wait in the user's code, each as a thread of `read_stacks`.

    `ident` is that of the thread of their event loop, or 0. Other coroutines are left out: Ray, Ray Serve and web
    servers have dozens of them. `waits` is the argument of `read_stacks`.
    """
    folders = _folders()
    read: list[dict[str, Any]] = []
    for task, name, ident, frames in waiting_coroutines():
        if any(_owner(frame.f_code.co_filename, folders) == _USERS for frame in frames):
            # Coroutines that are not shown need no values.
            size = _SIZE // _COROUTINES if len(read) < _COROUTINES else 0
            entry = {"ident": ident, "name": name, "main": False, "activity": "blocked", "coroutine": True}
            wait = {} if waits is None else waits.of_coroutine(task, frames)
            read.append({**entry, **_read_frames(iter(frames), folders, size), **wait})
    return read


def as_json(read: Any) -> str:
    """Return JSON without lone surrogates, which some readers refuse."""
    return json.dumps(read, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()


def _activity(place: tuple[int, int] | None, frame: Any, share: float) -> str:
    """Return what a thread is doing: `running` Python code, `busy` in other code, or `blocked`.

    `place` is where it was at the first inspection, and `share` is the share of the interval that it spent on a
    processor. A loop in Python is always found at its jump back, because it lets other threads run only there.
    """
    if place != _place(frame):
        return "running"
    if share <= _BUSY:
        return "blocked"
    import dis

    return "running" if dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith(_JUMPS) else "busy"


def _is_pydevds(thread: Any) -> bool:
    return bool(getattr(thread, "is_pydev_daemon_thread", False))


def _places() -> dict[int, tuple[int, int]]:
    return {ident: _place(frame) for ident, frame in current_frames().items()}


def _place(frame: Any) -> tuple[int, int]:
    return id(frame), frame.f_lasti


def _cpu_times() -> dict[int, float]:
    """Return the seconds of each thread on a processor so far, by ident. Empty if the system does not report them."""
    times = {}
    for thread in threading.enumerate():
        # Before Python 3.13 the main thread of a forked process has the native id of the thread that forked. On Linux
        # the native id of a main thread is the pid.
        number = os.getpid() if thread is threading.main_thread() else thread.native_id
        try:
            with open("/proc/self/task/" + str(number) + "/schedstat", encoding="ascii") as file:
                times[thread.ident or 0] = int(file.read().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            continue
    return times


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # The directory was removed.


def _folders() -> list[str]:
    """Return the folders with the code of Python, Ray and debugpy, Python's first."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("os", "ray", "pydevd", "debugpy")]
    return [os.path.dirname(file) + os.sep for file in files if isinstance(file, str)]


def _owner(path: str, folders: list[str]) -> int:
    if "site-packages" in path or "dist-packages" in path:
        return _PLUMBING if path.startswith(tuple(folders[1:])) else _PACKAGES
    if path.startswith(("<frozen ", "<raydap agent>", *folders)) or path.endswith("_raylet.pyx"):
        return _PLUMBING
    return _USERS


def _callers(frame: Any) -> Iterator[Any]:
    """Yield a frame and its callers.

    A thread that has stopped for an exception has already left the frames that its stop shows. A variable of pydevd
    holds the innermost of them.
    """
    while frame is not None:
        yield frame
        code = frame.f_code
        is_held = code.co_name == _HELD[1] and code.co_filename.endswith("pydevd.py")
        shown = local_variables(frame).get("frame") if is_held else None
        frame = shown if type(shown) is FrameType else frame.f_back


def _read_frames(stack: Iterator[Any], folders: list[str], size: int) -> dict[str, Any]:
    """Return what `read_stacks` reports about these frames, in about `size` characters of JSON.

    `stack` yields the frames, innermost first.
    """
    frames: list[dict[str, Any]] = []
    user, best, is_users = -1, _PLUMBING, False
    call = ""
    for frame in itertools.islice(stack, _FRAMES):
        code = frame.f_code
        owner = _owner(code.co_filename, folders)
        entry = {"name": code.co_name, "path": code.co_filename, "line": frame.f_lineno or 0, "owner": owner}
        variables = _variables(frame)
        size -= 150 + sum(sum(map(len, each.values())) + 40 for each in variables)
        frames.append({**entry, "locals": variables if size > 0 else []})
        if code.co_name in _HELD:
            # The frames so far hold the stopped thread: pydevd's, and raydap's own, which have no file.
            for held in frames:
                held["owner"] = owner = _PLUMBING
            user, best, is_users, call = -1, _PLUMBING, False, ""
        if owner < best:
            user, best = len(frames) - 1, owner
            call = _called(frame)
        if size < -(_FRAMES * 150):
            break
        # Ray calls each method of an actor by this function, also a method from a package.
        is_users = is_users or owner == _USERS or code.co_name == "actor_method_executor"
    return {"frames": frames, "user": user, "call": call, "is_users": is_users}


def _variables(frame: Any) -> list[dict[str, str]]:
    """Return the local variables of a frame, without names like `__name__`. A module's variables are its globals."""
    names = local_variables(frame)
    if type_name(type(names)) not in ("dict", "FrameLocalsProxy"):
        return []  # A class body can use a mapping of the user's own class.
    try:
        items = list(names.items())
    except RuntimeError:
        return []  # Another thread is changing it.
    chosen = [item for item in items if type(item[0]) is str and not item[0].startswith("__")][:_VARIABLES]
    return [{"name": name, "value": value_text(value), "type": type_name(type(value))} for name, value in chosen]


def _called(frame: Any) -> str:
    """Return the call or wait that a frame is executing, as its source names it; "" if the source does not show it.

    Examples are `ray.get`, `with self.lock` and `await result`. Before Python 3.11 only the line is known.
    """
    # Imported here, because only a process whose stacks are requested needs them.
    import ast
    import linecache

    code = frame.f_code
    is_exact = hasattr(code, "co_positions")
    try:
        line = linecache.getline(code.co_filename, frame.f_lineno).strip()
        text = _current_expression(frame) if is_exact else line
        calls = [] if text.startswith("with ") else _calls(text)
        if calls and (is_exact or len(calls) == 1):
            return _short(ast.unparse(calls[0].func))
        if not calls and "await " in text:
            return _short(text[text.index("await ") :])
        statement = ast.parse(line + " pass").body[0] if line.startswith("with ") else None
        if isinstance(statement, ast.With):
            return _short("with " + ast.unparse(statement.items[0].context_expr))
    except Exception:
        pass  # The file has changed, or cannot be read.
    return ""


def _calls(text: str) -> list[Any]:
    """Return the calls in an expression or in a line, the outermost first."""
    import ast

    nodes = ast.walk(ast.parse(text + " pass" if text.endswith(":") else text))
    return [node for node in nodes if isinstance(node, ast.Call)]


def _current_expression(frame: Any) -> str:
    """Return the source text of the instruction that a frame executes."""
    import linecache

    code = frame.f_code
    line, end_line, start, end = list(code.co_positions())[frame.f_lasti // 2]
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end_line + 1)]
    # Columns count bytes. Cut the end first, because both may be in the same line.
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode()


def _short(text: str) -> str:
    return text if len(text) <= _CALL and "\n" not in text else ""
