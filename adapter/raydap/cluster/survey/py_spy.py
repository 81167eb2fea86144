"""The stacks of a process that cannot report them itself, as py-spy reads them from outside.

While native code holds the lock of an interpreter, no Python code runs in the process, neither a debugger's nor an
agent's. py-spy reads the memory of the process, for which it stops the process for some hundredths of a second. Ray's
dashboard needs py-spy, so it is usually installed beside Ray.
"""

import asyncio
import re
import sys
from typing import Literal

import msgspec

from raydap.analysis.thread_stacks import CodeOwner, FrameVariable, SampledStack, Stacks, ThreadFrame
from raydap.cluster.injection.gdb_injection import tracing_obstacle
from raydap.cluster.machine.outside_looks import py_spy_output
from raydap.core.process_info import ProcessInfo

MAX_OUTPUT = 16 * 1024 * 1024
"""Maximum size of the output that is read from another node, in bytes."""

_OWN_PACKAGES = ("ray", "debugpy")

_OWN_THREADS = ("raydap", "pydevd.")

HELD = ("_do_wait_suspend", "do_wait_suspend")
"""The functions of pydevd in which a stopped thread waits (pydevd.py, PyDB)."""

_VALUE = 200
"""Maximum length of a value, in characters."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


class PySpyFailed(OSError):
    """py-spy has not read the process. The text is the reason, for users."""


class _Variable(msgspec.Struct, frozen=True):
    name: str
    """The name in the code."""
    repr: str | None = None
    """The value as text; None if py-spy could not read it."""


class _Frame(msgspec.Struct, frozen=True):
    name: str
    """The qualified name of the function."""
    filename: str
    """The path of the source file, as the worker's Python has it."""
    line: int = 0
    """The line that the frame executes, counted from 1; 0 if it is not known."""
    locals: tuple[_Variable, ...] | None = None
    """The local variables; None if py-spy has not read them."""


class _Thread(msgspec.Struct, frozen=True):
    """A thread in the output of `py-spy dump --json` (py-spy, src/stack_trace.rs)."""

    pid: int
    """The id of the process that has the thread."""
    frames: tuple[_Frame, ...]
    """The frames, innermost first."""
    thread_name: str | None = None
    """The name that Python has for the thread; None if it is not known."""
    os_thread_id: int | None = None
    """The system's id of the thread, which for the main thread is the `pid`; None if it is not known."""
    active: bool = False
    """Whether the thread uses a processor, rather than waits."""
    owns_gil: bool = False
    """Whether the thread holds the lock of the interpreter."""


async def output(worker: ProcessInfo) -> bytes:
    """Return what py-spy prints for a worker on this machine. Raises PySpyFailed."""
    try:
        return await asyncio.to_thread(py_spy_output, worker.pid, "--locals")
    except OSError as error:
        obstacle = tracing_obstacle(worker.pid, worker.node) if sys.platform == "linux" else ""
        raise PySpyFailed(obstacle or str(error)) from None


def decode(output: bytes) -> Stacks:
    """Return the stacks in the output of py-spy. Raises PySpyFailed for a malformed output."""
    try:
        threads = msgspec.json.decode(output, type=tuple[_Thread, ...])
    except msgspec.DecodeError as error:
        raise PySpyFailed(f"the output of py-spy cannot be read ({error})") from None
    shown = [each for each in threads if not (each.thread_name or "").startswith(_OWN_THREADS)]
    return Stacks("", tuple(_thread(each) for each in sorted(shown, key=lambda each: each.os_thread_id != each.pid)))


def _thread(thread: _Thread) -> SampledStack:
    """Return the stack of a thread.

    A thread that keeps the interpreter's lock reaches no other line of Python. So its activity is "busy" if it
    computes, or "blocked" if it waits, but never "running".
    """
    frames = tuple(_frame(each) for each in thread.frames)
    held = max((number for number, each in enumerate(frames) if each.name in HELD), default=-1)
    # The frames above belong to pydevd, and to raydap's own part of it, which has no file. They hold the thread.
    own = (msgspec.structs.replace(each, owner=CodeOwner.PLUMBING) for each in frames[: held + 1])
    frames = (*own, *frames[held + 1 :])
    user = next((number for number, each in enumerate(frames) if each.owner == CodeOwner.USER), -1)
    return SampledStack(
        name=thread.thread_name or "",
        main=thread.os_thread_id == thread.pid,
        activity="stopped" if held >= 0 else "busy" if thread.active else "blocked",
        call="",
        frames=frames,
        user=user,
        is_users=user >= 0,
    )


def _frame(frame: _Frame) -> ThreadFrame:
    variables = tuple(FrameVariable(each.name, _value(each.repr or ""), "") for each in frame.locals or ())
    # py-spy reports qualified names. Stacks from other sources have the names of the code objects.
    name = frame.name.rpartition(".")[2]
    return ThreadFrame(name, frame.filename, frame.line, _owner(frame.filename), variables)


def _owner(path: str) -> Literal[0, 1, 2]:
    """Return the owner of a file by its path alone, because the process cannot report where its libraries are."""
    for folder in ("/site-packages/", "/dist-packages/"):
        _, found, rest = path.partition(folder)
        if found:
            return 2 if rest.split("/")[0] in _OWN_PACKAGES else 1
    is_pythons = f"/lib/python{sys.version_info[0]}." in path
    return 2 if is_pythons or path.startswith(("<frozen ", "<raydap agent>")) or path.endswith("_raylet.pyx") else 0


def _value(text: str) -> str:
    """Return a value without addresses, by which equal objects of two processes would differ."""
    return _ADDRESS.sub(">", text)[:_VALUE]
