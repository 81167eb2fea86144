"""Reads the stacks of threads that run or hang, and says what each one does; runs in the worker.

Nothing is stopped: `sys._current_frames()` has the frames of every thread. It needs no debugger, so an agent answers
with it, too. No code of the user's runs (safe_values.py).

A thread that computes cannot be told from one that waits by its frames: both stay where they are. The time on a
processor tells them apart, so each thread is looked at twice.
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
"""Seconds between the two looks."""

_BUSY = 0.2
"""The share of that time on a processor from which on a thread computes. Others may use the processor, too."""

_JUMPS = ("JUMP", "POP_JUMP", "FOR_ITER", "RESUME")

_FRAMES = 150
"""Frames of a thread, innermost first, and local variables of a frame."""
_VARIABLES = 50

_COROUTINES = 50
"""Coroutines that are shown."""

_SIZE = 200_000
"""Characters of JSON for all threads. A message to the debugger may have more (message_limit.py)."""

_HELD = ("_do_wait_suspend", "do_wait_suspend")
"""The function of pydevd in which a stopped thread waits."""

_CALL = 60
"""The longest name of what a thread waits in."""

_USERS, _PACKAGES, _PLUMBING = 0, 1, 2
"""Whose code a file has: the user's, an installed package's, or that of Python, Ray or debugpy."""


def read_stacks(threads: Collection[int] | None = None, own: Collection[int] = (), waits: Any = None) -> dict[str, Any]:
    """The stacks of the threads with these idents, or of all but this one and `own`; takes INTERVAL_S. The main thread
    comes first.

    The result has the current directory `cwd` and `threads`. A thread has its `ident`, `name`, `main`, what it does
    (`activity`), and its `frames`, innermost first. `user` is the index of the frame that the user knows best, or -1;
    `call` is what this frame has called, or "". `is_users`: it runs code of the user's, or a task of Ray.

    Without `threads` the result has the coroutines that wait in the user's code, too, each as a thread with
    `coroutine`; `more` is how many further ones there are. `waits` says what those that are blocked wait for
    (thread_waits.py).
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
    """Those that wait in the user's code, as threads; `ident` is that of their event loop's, or 0. Ray, Ray Serve and
    web servers have dozens of their own. `waits` is that of read_stacks."""
    folders = _folders()
    read: list[dict[str, Any]] = []
    for task, name, ident, frames in waiting_coroutines():
        if any(_owner(frame.f_code.co_filename, folders) == _USERS for frame in frames):
            # Those that are not shown need no values.
            size = _SIZE // _COROUTINES if len(read) < _COROUTINES else 0
            entry = {"ident": ident, "name": name, "main": False, "activity": "blocked", "coroutine": True}
            told = {} if waits is None else waits.of_coroutine(task, frames)
            read.append({**entry, **_read_frames(iter(frames), folders, size), **told})
    return read


def as_json(read: Any) -> str:
    """Without lone surrogates, which not everybody reads."""
    return json.dumps(read, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()


def _activity(place: tuple[int, int] | None, frame: Any, share: float) -> str:
    """`running` Python code, `busy` in other code, or `blocked`. `place` is where it was before.

    A loop in Python is always seen at its jump back, because it lets other threads run there only.
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
    """By the ident of each thread: its seconds on a processor so far. Empty where the system does not say."""
    times = {}
    for thread in threading.enumerate():
        # Before Python 3.13 a forked process's main thread has the number of the thread that has forked. In Linux that
        # of a main thread is the number of its process.
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
        return ""  # It was removed.


def _folders() -> list[str]:
    """Where the code of Python, Ray and debugpy is."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("os", "ray", "pydevd", "debugpy")]
    return [os.path.dirname(file) + os.sep for file in files if isinstance(file, str)]


def _owner(path: str, folders: list[str]) -> int:
    if "site-packages" in path or "dist-packages" in path:
        return _PLUMBING if path.startswith(tuple(folders[1:])) else _PACKAGES
    if path.startswith(("<frozen ", "<raydap agent>", *folders)) or path.endswith("_raylet.pyx"):
        return _PLUMBING
    return _USERS


def _callers(frame: Any) -> Iterator[Any]:
    """Yield a frame and its callers. A thread that has stopped for an exception has left the frames that its stop
    shows, and pydevd has the innermost of them in a variable."""
    while frame is not None:
        yield frame
        code = frame.f_code
        is_held = code.co_name == _HELD[1] and code.co_filename.endswith("pydevd.py")
        shown = local_variables(frame).get("frame") if is_held else None
        frame = shown if type(shown) is FrameType else frame.f_back


def _read_frames(stack: Iterator[Any], folders: list[str], size: int) -> dict[str, Any]:
    """What read_stacks tells of these frames, innermost first, in about `size` characters of JSON."""
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
            # What is above holds the thread: pydevd, and our own part of it, which has no file.
            for held in frames:
                held["owner"] = owner = _PLUMBING
            user, best, is_users, call = -1, _PLUMBING, False, ""
        if owner < best:
            user, best = len(frames) - 1, owner
            call = _called(frame)
        if size < -(_FRAMES * 150):
            break
        # Ray calls a method of an actor by this, whoever has written the method.
        is_users = is_users or owner == _USERS or code.co_name == "actor_method_executor"
    return {"frames": frames, "user": user, "call": call, "is_users": is_users}


def _variables(frame: Any) -> list[dict[str, str]]:
    """The local variables of a frame. A module's are global; those with names like `__name__` are left out."""
    names = local_variables(frame)
    if type_name(type(names)) not in ("dict", "FrameLocalsProxy"):
        return []  # A class body can have a mapping of the user's.
    try:
        items = list(names.items())
    except RuntimeError:
        return []  # Another thread changes it.
    chosen = [item for item in items if type(item[0]) is str and not item[0].startswith("__")][:_VARIABLES]
    return [{"name": name, "value": value_text(value), "type": type_name(type(value))} for name, value in chosen]


def _called(frame: Any) -> str:
    """What a frame has called and waits for, as its source names it: `ray.get`, `with self.lock`, or `await result`; ""
    if the source does not say. Before Python 3.11 only the line is known."""
    # Only a process whose stack somebody wants needs these.
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
        pass  # The file has changed since, or cannot be read.
    return ""


def _calls(text: str) -> list[Any]:
    """The calls in an expression or in a line, the outermost first."""
    import ast

    nodes = ast.walk(ast.parse(text + " pass" if text.endswith(":") else text))
    return [node for node in nodes if isinstance(node, ast.Call)]


def _current_expression(frame: Any) -> str:
    """The source text of the instruction that a frame executes."""
    import linecache

    code = frame.f_code
    line, end_line, start, end = list(code.co_positions())[frame.f_lasti // 2]
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end_line + 1)]
    # Columns count bytes. The end is cut first, because it may be in the same line.
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode()


def _short(text: str) -> str:
    return text if len(text) <= _CALL and "\n" not in text else ""
