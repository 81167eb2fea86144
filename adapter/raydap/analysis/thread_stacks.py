"""Stacks of threads that were not stopped, as a worker has read them (inworker/stack_reader.py)."""

from typing import Literal

import msgspec

from raydap.presentation.short_text import file_line


class StackVariable(msgspec.Struct, frozen=True):
    name: str
    value: str
    type: str


class CodeOwner:
    """Whose code a frame has: the user's, an installed package's, or that of Python, Ray or debugpy."""

    USER, PACKAGE, PLUMBING = 0, 1, 2


class ThreadFrame(msgspec.Struct, frozen=True):
    """`path` is the worker's own."""

    name: str
    path: str
    line: int
    owner: Literal[0, 1, 2]
    locals: tuple[StackVariable, ...] = ()


class ThreadWait(msgspec.Struct, frozen=True):
    """What a thread waits for (inworker/thread_waits.py, Waits.of_thread)."""

    kind: Literal["objects", "lock", "thread"]
    tasks: tuple[str, ...] = ()
    more: int = 0
    puts: int = 0
    needed: int = 0
    holder: int = 0
    sure: bool = True
    ends: bool = False


class ThreadStack(msgspec.Struct, frozen=True):
    """`frames` are innermost first; `user` is the index of the one that the user knows best, or -1, and `call` what it
    has called, or "". `id` is the debugger's, if there is one. `coroutine`: it is a coroutine that waits, in no
    thread; `ident` is that of the thread, or of the coroutine's event loop, 0 if it is not known. `wait`, and `task`,
    the hex id of Ray's task for which a coroutine runs, are told only if they were asked for and are known."""

    name: str
    main: bool
    activity: Literal["blocked", "busy", "running", "stopped"]
    call: str
    frames: tuple[ThreadFrame, ...]
    user: int
    is_users: bool
    id: int = 0
    coroutine: bool = False
    ident: int = 0
    wait: ThreadWait | None = None
    task: str = ""

    @property
    def place(self) -> str:
        """Where the thread is, for users: `blocked in ray.get (train.py:41)`."""
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
    """`cwd` is the current directory of the process, to which paths may be relative. `more` is the number of coroutines
    that wait and are not among `threads`."""

    cwd: str
    threads: tuple[ThreadStack, ...]
    more: int = 0


def decode(text: object) -> Stacks:
    """Raises ValueError for anything else: a worker is not trusted."""
    if not isinstance(text, str):
        raise ValueError("not a text")
    try:
        return msgspec.json.decode(text, type=Stacks)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
