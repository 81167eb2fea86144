"""A call of a task, as the process that has submitted it has recorded it (inworker/call_sites.py)."""

import msgspec

from raydap.protocol.types import WorkerKey


class RecordedFrame(msgspec.Struct, frozen=True):
    """A frame at the call."""

    name: str
    """The name of the function."""
    path: str
    """The path of the file in the caller's process; like `<string>` for code without a file."""
    line: int
    """The line of the call, counted from 1."""


class RecordedCall(msgspec.Struct, frozen=True):
    """The call of a task. A worker is not trusted: it can report anything."""

    thread: int
    """The worker's own id of the thread that has made the call; 0 if the thread has ended."""
    task: str
    """The hex id of the task that this thread ran: in a driver, one that nothing has called."""
    frames: tuple[RecordedFrame, ...]
    """The frames at the call, innermost first."""
    worker: WorkerKey = WorkerKey("")
    """The process that has made the call. raydap sets it."""
    name: str = ""
    """The name of that process. raydap sets it."""
