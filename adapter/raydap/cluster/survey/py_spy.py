"""The stacks of a process that cannot tell them itself, as py-spy reads them from outside.

No Python code runs in a process while native code keeps the lock of its interpreter, neither a debugger's nor an
agent's. py-spy reads the memory of the process, for which it stops it for some hundredths of a second. Ray's dashboard
needs it, so it is mostly installed beside Ray.
"""

import asyncio
import re
import sys
from typing import Literal

import msgspec

from raydap.analysis.thread_stacks import CodeOwner, Stacks, StackVariable, ThreadFrame, ThreadStack
from raydap.cluster.injection.gdb_injection import tracing_obstacle
from raydap.cluster.machine.outside_looks import py_spy_output
from raydap.core.events import PausedWorker

MAX_OUTPUT = 16 * 1024 * 1024
"""Bytes of the output that are read from another node."""

_OWN_PACKAGES = ("ray", "debugpy")

_OWN_THREADS = ("raydap", "pydevd.")

HELD = ("_do_wait_suspend", "do_wait_suspend")
"""The functions of pydevd in which a stopped thread waits (pydevd.py, PyDB)."""

_VALUE = 200
"""Characters of a value that are shown."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


class PySpyFailed(OSError):
    """The reason, for users."""


class _Variable(msgspec.Struct, frozen=True):
    name: str
    repr: str | None = None


class _Frame(msgspec.Struct, frozen=True):
    name: str
    filename: str
    line: int = 0
    locals: tuple[_Variable, ...] | None = None


class _Thread(msgspec.Struct, frozen=True):
    """As in the output of `py-spy dump --json` (py-spy, src/stack_trace.rs)."""

    pid: int
    frames: tuple[_Frame, ...]
    thread_name: str | None = None
    os_thread_id: int | None = None
    active: bool = False
    owns_gil: bool = False


async def output(worker: PausedWorker) -> bytes:
    """What py-spy prints of a worker of this machine. Raises PySpyFailed."""
    try:
        return await asyncio.to_thread(py_spy_output, worker.pid, "--locals")
    except OSError as error:
        obstacle = tracing_obstacle(worker.pid, worker.node) if sys.platform == "linux" else ""
        raise PySpyFailed(obstacle or str(error)) from None


def decode(output: bytes) -> Stacks:
    """Raises PySpyFailed for what is no output of py-spy."""
    try:
        threads = msgspec.json.decode(output, type=tuple[_Thread, ...])
    except msgspec.DecodeError as error:
        raise PySpyFailed(f"the output of py-spy cannot be read ({error})") from None
    shown = [each for each in threads if not (each.thread_name or "").startswith(_OWN_THREADS)]
    return Stacks("", tuple(_thread(each) for each in sorted(shown, key=lambda each: each.os_thread_id != each.pid)))


def _thread(thread: _Thread) -> ThreadStack:
    """The one that keeps the lock comes to no other line, whether it computes or waits there."""
    frames = tuple(_frame(each) for each in thread.frames)
    held = max((number for number, each in enumerate(frames) if each.name in HELD), default=-1)
    # What is above holds the thread: pydevd, and raydap's own part of it, which has no file.
    own = (msgspec.structs.replace(each, owner=CodeOwner.PLUMBING) for each in frames[: held + 1])
    frames = (*own, *frames[held + 1 :])
    user = next((number for number, each in enumerate(frames) if each.owner == CodeOwner.USER), -1)
    return ThreadStack(
        name=thread.thread_name or "",
        main=thread.os_thread_id == thread.pid,
        activity="stopped" if held >= 0 else "busy" if thread.active else "blocked",
        call="",
        frames=frames,
        user=user,
        is_users=user >= 0,
    )


def _frame(frame: _Frame) -> ThreadFrame:
    variables = tuple(StackVariable(each.name, _value(each.repr or ""), "") for each in frame.locals or ())
    # It says qualified names, others say those of the code.
    name = frame.name.rpartition(".")[2]
    return ThreadFrame(name, frame.filename, frame.line, _owner(frame.filename), variables)


def _owner(path: str) -> Literal[0, 1, 2]:
    """By the path alone, because the process cannot be asked where its libraries are."""
    for folder in ("/site-packages/", "/dist-packages/"):
        _, found, rest = path.partition(folder)
        if found:
            return 2 if rest.split("/")[0] in _OWN_PACKAGES else 1
    is_pythons = f"/lib/python{sys.version_info[0]}." in path
    return 2 if is_pythons or path.startswith(("<frozen ", "<raydap agent>")) or path.endswith("_raylet.pyx") else 0


def _value(text: str) -> str:
    """Without addresses, by which equal objects of two processes would differ."""
    return _ADDRESS.sub(">", text)[:_VALUE]
