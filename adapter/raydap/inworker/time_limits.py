"""Time limits for the program's code that runs when raydap requests values; runs in the worker.

A stopped thread runs code of the program for raydap: the `__repr__` of a value, a property, an expression of the user.
That code may never return, for example if it waits for a stopped event loop. Then the thread answers no request, and
cannot be resumed. So the code is interrupted by an exception, TooSlowError:

- the text of a value in a list, and an attribute, after VALUE_S: only this value is missing;
- a list of values, after LIST_S;
- an expression of the user, GRACE_S after the thread is resumed or raydap detaches.

A thread that waits for a `threading.Condition`, as events, queues and futures do, is woken up to get the exception. The
main thread is also woken up by a signal. Another thread that waits in C code (a lock, a sleep, a socket) cannot be
interrupted.
"""

import contextlib
import ctypes
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .replaced_functions import install, original

VALUE_S = 3.0
"""Seconds for the text of a value or an attribute. All slow values of a list share them."""

LEAST_S = 0.1
"""Seconds for each further value of a list when VALUE_S is used up."""

LIST_S = 20.0
"""Seconds for a request in _LISTS."""

GRACE_S = 2.0
"""Seconds that a call still has when its thread is resumed, or when raydap detaches."""

IDLE_S = 1.0
"""Seconds without a call after which the interrupting thread ends. It is also the longest interval at which that thread
checks whether the session is lost."""

AGAIN_S = 0.3
"""Seconds after which a thread that still does not return is interrupted again: its code may catch the exception."""

_SIGNAL = getattr(signal, "SIGURG", None)
"""The signal that wakes up the main thread. Windows has none."""

_LISTS = ("variables", "scopes", "stackTrace", "completions", "exceptionInfo")
"""Requests that run code of the program although the user has written no expression."""


class TooSlowError(BaseException):
    """The exception that interrupts code that takes too long. `except Exception` does not catch it."""


class TimedCall:
    """A call of the program's code in the current thread."""

    def __init__(self, seconds: float) -> None:
        self.ident = threading.get_ident()
        self.thread = getattr(threading.current_thread(), "__pydevd_id__", "")
        """pydevd's id of the thread, "" if it has none."""
        self.deadline = time.monotonic() + seconds
        """The time of time.monotonic() at which the call is interrupted next."""
        self.is_interrupted = False


class TimeLimits:
    """The calls in progress, and the thread that interrupts them, which ends when there are none.

    `is_lost` returns whether the session has ended. That includes an end without `hurry`, as by `kill -9` of raydap.
    """

    def __init__(self, is_lost: Callable[[], bool] = lambda: False) -> None:
        self._is_lost = is_lost
        self.value_s = VALUE_S
        self.grace_s = GRACE_S
        self._changed = threading.Condition()
        self._calls: list[TimedCall] = []
        self._watcher: threading.Thread | None = None
        self._left_s = 0.0
        """Seconds that are left for the slow values of the current request."""

    def command(self, request: Any, function: Callable[[], Any]) -> Any:
        """Call the function that answers a request. Raises TimeoutError if it is interrupted.

        An expression without a frame is raydap's own, and is never interrupted.
        """
        if request.command == "evaluate" and request.arguments.frameId is None:
            return function()
        self._left_s = self.value_s
        with self._main_thread_can_be_woken():
            return self._run(LIST_S if request.command in _LISTS else math.inf, function)

    def value(self, function: Callable[[], Any]) -> Any:
        """Call the function that reads one value. Raises TimeoutError if it is interrupted."""
        began = time.monotonic()
        try:
            return self._run(max(self._left_s, LEAST_S), function)
        except TimeoutError:
            self._left_s -= time.monotonic() - began
            raise

    def hurry(self, thread: "str | None" = None) -> None:
        """Interrupt the calls of the thread with this id of pydevd, or of all threads, in GRACE_S at the latest."""
        latest = time.monotonic() + self.grace_s
        with self._changed:
            for call in self._calls:
                if thread in (None, call.thread):
                    call.deadline = min(call.deadline, latest)
            self._changed.notify()

    def _run(self, seconds: float, function: Callable[[], Any]) -> Any:
        call = TimedCall(seconds)
        try:
            try:
                self._add(call)
                result = function()
            finally:
                self._remove(call)
        except TooSlowError:
            self._remove(call)
            if not call.is_interrupted:
                raise  # It interrupts an outer call.
        if call.is_interrupted:
            raise TimeoutError("it took too long, and was interrupted")
        return result

    def _add(self, call: TimedCall) -> None:
        with self._changed:
            self._calls.append(call)
            if self._watcher is None:
                watcher: Any = threading.Thread(target=self._watch, name="raydap", daemon=True)
                watcher.pydev_do_not_trace = watcher.is_pydev_daemon_thread = True
                watcher.start()
                self._watcher = watcher
            self._changed.notify()

    def _remove(self, call: TimedCall) -> None:
        with self._changed:
            if call in self._calls:
                self._calls.remove(call)
            if not self._calls:
                self._changed.notify()
        if call.is_interrupted:
            raise_what_is_due()

    def _watch(self) -> None:
        with self._changed:
            while self._calls or self._changed.wait(IDLE_S):
                now = time.monotonic()
                is_lost = self._is_lost()
                for call in self._calls:
                    if is_lost or call.deadline <= now:
                        call.is_interrupted, call.deadline = True, now + AGAIN_S
                        self._interrupt(call.ident)
                self._changed.wait(min([IDLE_S, *(call.deadline - now for call in self._calls)]))
            self._watcher = None

    @contextlib.contextmanager
    def _main_thread_can_be_woken(self) -> Any:
        """Let a signal that programs do not use interrupt waits of the main thread within the `with` block."""
        is_main = threading.current_thread() is threading.main_thread()
        if _SIGNAL is None or not is_main or signal.getsignal(_SIGNAL) != signal.SIG_DFL:
            yield
            return
        signal.signal(_SIGNAL, self._woken)
        try:
            yield
        finally:
            signal.signal(_SIGNAL, signal.SIG_DFL)

    def _woken(self, number: int, frame: Any) -> None:
        """Handle the signal: raise TooSlowError if a call of the main thread is to be interrupted."""
        own = threading.get_ident()
        if any(call.ident == own and call.is_interrupted for call in self._calls):
            raise_what_is_due()
            raise TooSlowError

    def _interrupt(self, ident: int) -> None:
        """Raise TooSlowError in a thread, and wake it up if it waits."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(TooSlowError))
        wake_up(sys._current_frames().get(ident))
        # The program may handle the signal itself.
        if _SIGNAL is not None and ident == threading.main_thread().ident and signal.getsignal(_SIGNAL) == self._woken:
            signal.pthread_kill(ident, _SIGNAL)


def wake_up(frame: Any) -> None:
    """Wake up a thread if its innermost frame waits for a threading.Condition."""
    if frame is not None and frame.f_code is threading.Condition.wait.__code__:
        waiter, condition = frame.f_locals.get("waiter"), frame.f_locals["self"]
        # A later notify() must wake up another thread that still waits.
        with contextlib.suppress(ValueError, RuntimeError, AttributeError):
            condition._waiters.remove(waiter)
            waiter.release()


def raise_what_is_due() -> None:
    """Let Python raise a pending interruption of this thread, and catch it: the loop is long enough for that.

    Do not cancel it by PyThreadState_SetAsyncExc with NULL: before Python 3.12 a thread can then hang in the
    interpreter.
    """
    with contextlib.suppress(TooSlowError):
        for _ in range(100):
            pass


def limit_values(limits: TimeLimits) -> None:
    """Replace the functions of pydevd that read the text and the attributes of values, with a limit for each value."""
    read = "_pydevd_bundle.pydevd_suspended_frames:get_variable_details"
    details: Any = original(read)

    def get_variable_details(val: Any, *args: Any, context: "str | None" = None, **kwargs: Any) -> Any:
        if context not in (None, "variables", "hover"):
            return details(val, *args, context=context, **kwargs)
        try:
            return limits.value(lambda: details(val, *args, context=context, **kwargs))
        except TimeoutError:
            found = details(val, False, context=context)
            return (*found[:-1], "<reading this value took too long>")

    def limited_getattr(value: Any, name: str, *default: Any) -> Any:
        return limits.value(lambda: getattr(value, name, *default))

    install(read, get_variable_details)
    install("_pydevd_bundle.pydevd_resolver:getattr", limited_getattr)
