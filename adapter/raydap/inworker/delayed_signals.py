"""The program's signal handlers, delayed until the end of a stop of its main thread; runs in the worker.

Python runs a signal handler in the main thread, between any two of its instructions. While that thread is stopped,
these are instructions of pydevd. An exception of the handler, such as the error of a time limit, would leave a stop
that never ends. So the handler runs at the end of the stop, and its exception is raised where the thread has stopped,
as if the line had taken that long.

A handler of SIGINT, SIGTERM or SIGHUP is meant to end the program, or the task that Ray cancels. So these signals end
the stop.

Before Python 3.12 debugpy drops exceptions at a stop of its own `breakpoint()`, which workers without an agent use.
"""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from .replaced_functions import install, put_back

_ENDING = tuple(getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))


class DelayedSignals:
    """The signal handlers of the program during one stop."""

    def __init__(self, end_stop: Callable[[], None]) -> None:
        self._end_stop = end_stop
        """Resumes the stopped thread."""
        self._handlers: dict[int, Any] = {}
        """The program's handlers, by the numbers of their signals."""
        self._arrived: list[int] = []
        """The signals that have arrived during the stop, each once."""

    def begin(self) -> None:
        """Replace the program's handlers. Do nothing outside the main thread, which alone runs handlers."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            # Leave asyncio's handlers: they do nothing, and the signal wakes up the event loop in another way.
            if callable(handler) and not getattr(handler, "__module__", "").startswith("asyncio"):
                # Python refuses handlers outside of the main interpreter, and for some signals that it uses itself.
                with contextlib.suppress(ValueError, OSError):
                    signal.signal(number, self._arrive)
                    self._handlers[number] = handler

    def end(self) -> None:
        """Restore the handlers, except for signals to which the program has given others."""
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._arrive:
                signal.signal(number, handler)

    def run_handlers(self, frame: Any) -> None:
        """Run the handlers of the signals that have arrived, with the frame of the stop. Raise what they raise."""
        arrived, self._arrived = self._arrived, []
        for index, number in enumerate(arrived):
            try:
                self._handlers[number](number, frame)
            except BaseException:
                self._arrived = arrived[index + 1 :]
                self.run_handlers(frame)
                raise

    def _arrive(self, number: int, frame: Any) -> None:
        if number not in self._arrived:
            self._arrived.append(number)
        if number in _ENDING:
            self._end_stop()


class TracedAgain:
    """An object that restores the thread's tracing after an exception has left its trace function.

    Before Python 3.12, such an exception ends the tracing of the thread, and pydevd prints a message. Keep this object
    in a local variable of a function that the exception leaves: the object lives as long as the exception's traceback.
    """

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger
        self._trace = sys.gettrace()
        self._ident = threading.get_ident()
        if self._trace is not None:
            factory, message = debugger.cmd_factory, "debugger:cmd_factory.make_console_message"
            empty = type(factory).make_reloaded_code_message

            def make_console_message(msg: str) -> Any:
                put_back(message, debugger)
                return empty(factory, msg)

            install(message, make_console_message, debugger)

    def __del__(self) -> None:
        if self._trace is not None and not self._debugger.pydb_disposed and threading.get_ident() == self._ident:
            sys.settrace(self._trace)
            self._debugger.set_trace_for_frame_and_parents(self._ident, sys._getframe(1))
