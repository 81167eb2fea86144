"""Stacks of threads, read by a worker without stopping them (inworker/stack_reader.py)."""

from typing import Literal

import msgspec

from raydap.presentation.short_text import file_line


class FrameVariable(msgspec.Struct, frozen=True):
    """A local variable of a frame."""

    name: str
    """The name in the code."""
    value: str
    """The value as a short text; the name of its type if that is not Python's own."""
    type: str
    """The name of the value's type; "" if the stack was read from outside."""


class CodeOwner:
    """The owner of a frame's code: the user, an installed package, or Python, Ray and debugpy."""

    USER, PACKAGE, PLUMBING = 0, 1, 2


class ThreadFrame(msgspec.Struct, frozen=True):
    """One frame of a stack."""

    name: str
    """The name of the frame's function, without its class."""
    path: str
    """The worker's own path, before it is mapped to the client's."""
    line: int
    """The line that the frame executes, counted from 1; 0 if it is not known."""
    owner: Literal[0, 1, 2]
    """A value of CodeOwner."""
    locals: tuple[FrameVariable, ...] = ()
    """The local variables; empty if the stack would become too long with them."""


class ThreadWait(msgspec.Struct, frozen=True):
    """The wait of a thread (inworker/thread_waits.py, Waits.of_thread)."""

    kind: Literal["objects", "lock", "thread"]
    """Objects of Ray, a lock, or the end of another thread."""
    tasks: tuple[str, ...] = ()
    """The hex ids of the Ray tasks that make the objects."""
    more: int = 0
    """The number of further such tasks."""
    puts: int = 0
    """The number of objects that no task makes, such as those of ray.put."""
    needed: int = 0
    """How many of the objects suffice; 0 if all are needed."""
    holder: int = 0
    """The ident of the thread that holds the lock, or for whose end this one waits; 0 if it is not known."""
    sure: bool = True
    """Whether the holder certainly holds the lock."""
    ends: bool = False
    """Whether the wait has a time limit, or can end in another way."""


class SampledStack(msgspec.Struct, frozen=True):
    """The stack of a thread, or of a coroutine that waits."""

    name: str
    """The name of the thread, or of the coroutine; "" if it is not known."""
    main: bool
    """Whether it is the main thread."""
    activity: Literal["blocked", "busy", "running", "stopped"]
    """`running` executes Python code, `busy` computes in other code, and `blocked` waits. The debugger holds a
    `stopped` thread."""
    call: str
    """The call that the frame `user` has made, such as `ray.get`; "" if it is not known."""
    frames: tuple[ThreadFrame, ...]
    """The frames, innermost first."""
    user: int
    """The index of the frame that the user knows best; -1 if there is none."""
    is_users: bool
    """Whether the thread runs code of the user, or a task of Ray."""
    id: int = 0
    """The debugger's id of the thread; 0 if there is no debugger."""
    coroutine: bool = False
    """Whether this is a coroutine that waits, in no thread."""
    ident: int = 0
    """The ident of the thread, or of the thread of the coroutine's event loop; 0 if it is not known."""
    wait: ThreadWait | None = None
    """The wait of the thread; None if it was not requested or is not known."""
    task: str = ""
    """The hex id of the Ray task for which a coroutine runs; "" if that was not requested or is not known."""

    @property
    def place(self) -> str:
        """Where the thread is, as a text for users such as `blocked in ray.get (train.py:41)`."""
        if not self.frames or not 0 <= self.user < len(self.frames):
            return "idle"
        inner, frame = self.frames[0], self.frames[self.user]
        where = f"({file_line(frame.path, frame.line)})"
        if self.activity == "stopped":
            return f"stopped in {frame.name} {where}"
        if self.activity == "blocked" and self.call:
            return f"blocked in {self.call} {where}"
        if self.activity == "running":
            return (
                f"running {frame.name} {where}"
                if self.user == 0
                else f"running {inner.name} below {frame.name} {where}"
            )
        code = "native code" if self.user == 0 or self.activity == "busy" else inner.name
        return f"{self.activity} in {code} below {frame.name} {where}"


class Stacks(msgspec.Struct, frozen=True):
    """The stacks of one process."""

    cwd: str
    """The current directory of the process, to which paths may be relative."""
    threads: tuple[SampledStack, ...]
    """The stacks of threads, the main thread first, and then of waiting coroutines."""
    more: int = 0
    """The number of waiting coroutines that are not among `threads`."""


def decode(text: object) -> Stacks:
    """Decode the stacks that a worker has sent.

    Raises ValueError for anything else: a worker is not trusted.
    """
    if not isinstance(text, str):
        raise ValueError("not a text")
    try:
        return msgspec.json.decode(text, type=Stacks)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
