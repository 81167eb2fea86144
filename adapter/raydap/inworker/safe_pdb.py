"""Ray's old pdb, made safe to leave; runs in the worker, in the pdb that a client has joined.

Ray's pdb (ray/util/rpdb.py, _RemotePdb) uses a socket. It ends the user's task in these cases (measured with Ray 2.60):

- `quit`: it raises bdb.BdbQuit in the task, as pdb does in a terminal.
- The client is gone, for whatever reason. pdb reads the end of its input and raises BdbQuit as well, or the task gets
  the error of the socket.
- A breakpoint of pdb's own is hit after `continue`, which has closed the connection.
- `restart`, which is for programs that pdb itself has started, raises pdb.Restart.
- The user steps out of the task. pdb then stops in the next function that Ray calls, and an end there fails the task
  after all.

So methods of this one pdb are overridden. The task continues when its client leaves; only `quit!` ends it. A post
mortem is harmless in all these cases, because its task has failed already.
"""

import inspect
import pdb
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

from .replaced_functions import install

CONTINUES = "The task continues."
RETURNED = "The function has returned; the task continues."
FAILS_NOW = "The task ends with its exception."
QUITS = "The task ends with bdb.BdbQuit."
TO_REMOTE = "The next task that this one starts will wait in pdb."
TO_GET = "The caller that gets the result of this task will wait in pdb."

ENDS = (CONTINUES, RETURNED, FAILS_NOW, QUITS, TO_REMOTE, TO_GET)
"""The possible last lines of a connection. If the last line is another one, the process has died."""

QUIT_ENDS_TASK = "`quit` would end the task with bdb.BdbQuit. Use `continue` to resume it, or `quit!` to end it."
NO_RESTART = "pdb cannot restart a task, because Ray starts tasks."

_RESUMABLE = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
"""Flags of code for which pdb sees a return each time that it waits."""


class QuietStream:
    """Ray's stream to the client, which raises nothing when the client is gone.

    Reading then finds the end of the input, and writing does nothing.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def readline(self, *size: int) -> str:
        """Return the next line of the client's input, "" at its end."""
        try:
            return str(self.stream.readline(*size))
        except (OSError, ValueError):
            return ""

    def __iter__(self) -> Iterator[str]:
        return iter(self.readline, "")

    def write(self, text: str) -> int:
        """Send the text, unless the client is gone; return its length."""
        with suppress(OSError, ValueError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, unless the client is gone."""
        with suppress(OSError, ValueError):
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class SafePdb:
    """The overrides of one pdb."""

    def __init__(self, debugger: Any, is_post_mortem: bool) -> None:
        self.debugger = debugger
        self.is_post_mortem = is_post_mortem
        """Whether the task has failed already, so that nothing is traced."""
        self.has_left = False
        """Whether the session of this pdb is over."""
        self.outermost = None if is_post_mortem else outermost_frame(debugger.curframe)
        """The frame of the task at whose return the session ends; None if there is none."""

    def override(self) -> None:
        """Replace pdb's streams, the commands that end a session, and the handling of returns."""
        debugger = self.debugger
        debugger.stdin = debugger.stdout = QuietStream(debugger.handle)
        # Otherwise pdb takes SIGINT for itself at `continue`, and Ray could no longer cancel the task with it.
        debugger.nosigint = True
        methods = {
            self.end_of_input: "do_EOF",
            self.quit: "do_quit do_q do_exit",
            self.continue_task: "do_continue do_cont do_c",
            self.remote: "do_remote",
            self.get: "do_get",
            self.restart: "do_run do_restart",
            self.returned: "dispatch_return",
        }
        for method, names in methods.items():
            for name in names.split():
                install(f"pdb:{name}", method, debugger)

    def leave(self, text: str) -> Any:
        """End the session: print `text`, one of ENDS, remove all breakpoints, and let Ray's pdb continue."""
        self.has_left = True
        self.debugger.message(text)
        self.debugger.clear_all_breaks()
        return type(self.debugger).do_continue(self.debugger, "")

    def end_of_input(self, arg: str) -> Any:
        """Let the task continue when the client is gone."""
        return self.leave(CONTINUES)

    def continue_task(self, arg: str) -> Any:
        """Continue. If pdb has breakpoints of its own, stay connected, so that they can be hit."""
        if self.is_post_mortem:
            return self.leave(FAILS_NOW)
        if self.debugger.breaks:
            return pdb.Pdb.do_continue(self.debugger, arg)
        return self.leave(CONTINUES)

    def quit(self, arg: str) -> Any:
        """End a post mortem. In a running task, `!` as the argument ends the task; anything else is refused."""
        if self.is_post_mortem:
            return self.leave(FAILS_NOW)
        if arg.strip() != "!":
            self.debugger.message(QUIT_ENDS_TASK)
            return None
        self.has_left = True
        self.debugger.message(QUITS)
        ends = type(self.debugger).do_quit(self.debugger, "")
        # Ray leaves the connection to the garbage collector.
        self.debugger.handle.connection.close()
        return ends

    def remote(self, arg: str) -> Any:
        """Carry out Ray's command `remote`: the next task that this one starts waits in pdb."""
        return self.lead_on(TO_REMOTE, "do_remote", arg)

    def get(self, arg: str) -> Any:
        """Carry out Ray's command `get`: the caller that gets this task's result waits in pdb."""
        return self.lead_on(TO_GET, "do_get", arg)

    def lead_on(self, text: str, name: str, arg: str) -> Any:
        """Print `text`, and end the session by the method of Ray's pdb with this name."""
        self.has_left = True
        self.debugger.message(text)
        self.debugger.clear_all_breaks()
        return getattr(type(self.debugger), name)(self.debugger, arg)

    def restart(self, arg: str) -> None:
        """Refuse to start the task again."""
        self.debugger.message(NO_RESTART)

    def returned(self, frame: FrameType, arg: Any) -> Any:
        """Process the return of a traced function; overrides bdb's method.

        End the session when the task's outermost frame returns.
        """
        trace = type(self.debugger).dispatch_return(self.debugger, frame, arg)
        if frame is self.outermost and not self.has_left:
            self.leave(RETURNED)
        return trace


def outermost_frame(frame: FrameType) -> FrameType | None:
    """Return the outermost caller of this frame that Ray has called directly.

    Return None if it is a coroutine or a generator, which may wait before its end.
    """
    while frame.f_back is not None and not is_rays(frame.f_back):
        frame = frame.f_back
    return None if frame.f_code.co_flags & _RESUMABLE else frame


def is_rays(frame: FrameType) -> bool:
    """Return whether the frame runs code of Ray."""
    return f"{frame.f_globals.get('__name__')}.".startswith("ray.")


def override_joined() -> None:
    """Make the pdb that runs this code safe. Raises LookupError if no pdb does."""
    frame: FrameType | None = sys._getframe()
    debugger: Any = None
    is_post_mortem = False
    while frame is not None:
        if debugger is not None:
            is_post_mortem = is_post_mortem or frame.f_code is type(debugger).post_mortem.__code__
        elif isinstance(frame.f_locals.get("self"), pdb.Pdb):
            # pdb's own frames come first. Do not read the variables of the user's frames: that would undo changes that
            # pdb made there.
            debugger = frame.f_locals["self"]
        frame = frame.f_back
    if debugger is None:
        raise LookupError("this code does not run in pdb")
    SafePdb(debugger, is_post_mortem).override()
