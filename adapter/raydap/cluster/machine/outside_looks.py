"""Reads processes from outside on their own node: stacks by py-spy, and forked children that wait in breakpoint().

relay_actor.py and node_survey.py bring this module to nodes by value, because raydap need not be installed there. So it
imports only Python's library.

Ray's `breakpoint()` asks the cluster for the worker's debug port. A forked child lacks the threads that receive the
answer, so it waits until Ray aborts it, after 60 seconds by default. Ray does not list it, and it has no debugpy. Only
its stack shows that it waits.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

PY_SPY_TIMEOUT_S = 10.0
"""Seconds for py-spy. It takes 0.04 s (measured)."""

AT_ONCE = 4
"""The number of children that are read at a time."""

_DEBUGGER = "ray/util/debugpy.py"
_BREAKPOINT = (_DEBUGGER, "ray/util/rpdb.py")
"""The files of Ray's breakpoint(). The second one has the old debugger, which Ray may use instead."""


def py_spy_output(pid: int, *options: str) -> bytes:
    """Return what `py-spy dump --json` prints for a process of this machine. Raises OSError with a text for users."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    program = shutil.which("py-spy", path=path)
    if program is None:
        raise OSError("py-spy is not installed on its node; with it, raydap can read the stack from outside")
    command = [program, "dump", "--pid", str(pid), "--json", *options]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PY_SPY_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"py-spy did not finish within {PY_SPY_TIMEOUT_S:g} s") from None
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").partition("\n")[0].removeprefix("Error: ")
        raise OSError(f"py-spy failed ({reason})")
    return done.stdout


def forked_waits_output(pids: Iterable[int]) -> bytes:
    """Return `forked_waits` as JSON."""
    return json.dumps(forked_waits(pids)).encode()


def forked_waits(pids: Iterable[int]) -> dict[str, Any]:
    """Return the threads of forked children of these processes that wait in Ray's breakpoint().

    The result has the fields of ForkedWaits. `problem` is why some children could not be read, or "".
    """
    children = [each for each in forked_children(pids) if _has_waiting_thread(each[1])]
    waits: list[dict[str, Any]] = []
    problem = ""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (parent, pid), found in zip(children, pool.map(_read, children), strict=True):
            if isinstance(found, str):
                problem = problem or found
            else:
                waits += ({"parent": parent, "pid": pid, **wait} for wait in found)
    return {"waits": waits, "problem": problem}


def forked_children(pids: Iterable[int], proc: Path = Path("/proc")) -> Iterator[tuple[int, int]]:
    """Yield each of these processes with each of its descendants that runs the same program since a fork.

    The kernel chooses the addresses in `auxv` for each program that it starts, and a fork copies them (proc(5)).
    """
    children: dict[int, list[int]] = {}
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # The name of the process is in parentheses and may contain any character.
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    for pid in pids:
        program = read_bytes(proc / str(pid) / "auxv")
        found = list(children.get(pid, ())) if program else []
        while found:
            child = found.pop()
            if read_bytes(proc / str(child) / "auxv") == program:
                yield pid, child
                found += children.get(child, ())


def _has_waiting_thread(pid: int) -> bool:
    """Return whether a thread of the process waits in the system call in which Ray's breakpoint() waits.

    Return True on a system that does not report where threads wait: there the file contains "0".
    """
    places = (read_bytes(each) for each in Path(f"/proc/{pid}/task").glob("[0-9]*/wchan"))
    return any(b"futex" in place or place in (b"", b"0") for place in places)


def _read(family: tuple[int, int]) -> list[dict[str, Any]] | str:
    """Return the threads that wait, or why the child cannot be read. A child that has ended has none."""
    pid = family[1]
    waits = []
    try:
        for thread in json.loads(py_spy_output(pid)):
            frame = breakpoint_caller(thread["frames"])
            if frame is not None:
                place = {"function": frame["name"].rpartition(".")[2], "path": frame["filename"], "line": frame["line"]}
                waits.append({"thread": thread["thread_name"] or "", **place})
    except (OSError, ValueError, LookupError, TypeError) as error:
        return str(error) if os.path.exists(f"/proc/{pid}") else []
    return waits


def breakpoint_caller(frames: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the frame that has called Ray's breakpoint(), if Ray's own code runs there now; else None.

    `frames` begin with the innermost one. If that belongs to a debugger, the thread has stopped, or a debugger can
    attach.
    """
    paths = [frame["filename"].replace("\\", "/") for frame in frames]
    inside = [number for number, path in enumerate(paths) if path.endswith(_BREAKPOINT)]
    if not inside or not paths[inside[0]].endswith(_DEBUGGER):
        return None
    ray = paths[inside[0]].rpartition("util/")[0]
    if not all(path.startswith(ray) for path in paths[: inside[0]]):
        return None
    return next((frame for number, frame in enumerate(frames) if number > inside[0] and number not in inside), None)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file in /proc; b"" if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
