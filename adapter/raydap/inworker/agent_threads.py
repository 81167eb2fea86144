"""Threads of raydap that the program does not notice; runs in workers and drivers, as a part of the agent.

Functions that the program has set by threading.settrace and threading.setprofile do not run in these threads. The
threads block all signals: otherwise they would receive a signal that the program blocks in its own threads in order to
wait for it (sigwait).

The agent's own threads are started without `threading` (light_start.start_thread), so `threading.enumerate()` and
`threading.active_count()` return what they return without an agent. pydevd makes a `Thread` object for each thread that
has none. So during a session each thread of the agent has an object that pydevd ignores and, like pydevd's own threads,
hides from `threading.enumerate()`.
"""

import collections
import contextlib
import functools
import operator
import sys
import threading
from _queue import SimpleQueue
from typing import Any

from .light_start import AGENT_THREADS, THREAD_HOOKS, allocate_lock, blocked_signals, get_ident
from .replaced_functions import install


class AgentThread(threading.Thread):
    """The `Thread` object of a running thread of the agent, during a session."""

    pydev_do_not_trace = is_pydev_daemon_thread = True

    def __init__(self, ident: int) -> None:
        super().__init__(name="raydap", daemon=True)
        threading._dangling.discard(self)  # type: ignore[attr-defined]
        self._ident = ident
        self._started.set()  # type: ignore[attr-defined]

    def is_alive(self) -> bool:
        """Return whether the thread still runs."""
        return self._ident in AGENT_THREADS

    def join(self, timeout: float | None = None) -> None:
        """Raise RuntimeError: the program cannot wait for a thread of the agent."""
        raise RuntimeError("a thread of raydap's agent cannot be joined")

    def _after_fork(self, new_ident: "int | None" = None) -> None:
        return  # A forked child has no such thread, and the object has no handle, which threads have since Python 3.13.


class Signal:
    """An Event for a thread of pydevd, based on one of Python's own locks.

    gevent replaces the locks of `threading.Event`. A thread that waits for a lock of gevent makes a hub, and the hub
    imports modules. gevent replaces the import locks, too, so the threads of pydevd would wait for each other, and
    Python could crash when it ends.
    """

    def __init__(self) -> None:
        self._unset = allocate_lock()
        self._unset.acquire()

    def is_set(self) -> bool:
        """Return whether the event is set."""
        return not self._unset.locked()

    def set(self) -> None:
        """Set the event and wake the threads that wait for it."""
        with contextlib.suppress(RuntimeError):  # It is set already.
            self._unset.release()

    def clear(self) -> None:
        """Reset the event."""
        self._unset.acquire(False)

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether the event is set within `timeout` seconds.

        A `clear` during the wait may have no effect. pydevd tolerates this: it checks why it wakes.
        """
        is_set = self._unset.acquire(True, -1 if timeout is None else timeout)
        if is_set:
            self.set()
        return is_set


class NamedThread:
    """A stand-in for threading.Thread, of which pydevd's class of threads calls `__init__`: they get a name at once.

    Otherwise Python would count them in the default names of the program's threads, such as `Thread-1`.
    """

    @staticmethod
    def __init__(thread: threading.Thread) -> None:
        threading.Thread.__init__(thread, name="pydevd")


def forget_dummy_threads(debugger: Any) -> None:
    """Make this debugger of pydevd remove a dummy `Thread` object when its thread ends.

    pydevd makes such an object for each thread that `_thread.start_new_thread` has started. Before Python 3.13 the
    object would stay in `threading.enumerate()`.
    """
    from _pydevd_bundle.pydevd_constants import get_thread_id

    notify = debugger.notify_thread_not_alive

    def notify_thread_not_alive(thread_id: str, *args: Any, **named: Any) -> None:
        notify(thread_id, *args, **named)
        thread = _active().get(threading.get_ident())
        if isinstance(thread, threading._DummyThread) and get_thread_id(thread) == thread_id:
            del _active()[threading.get_ident()]

    install("debugger:notify_thread_not_alive", notify_thread_not_alive, debugger)


def start_unnoticed(thread: Any) -> None:
    """Start this thread of pydevd so that the program does not notice it.

    All that precedes its `run` is code in C, for which Python calls no trace function.

    It becomes a daemon thread, so that no program waits for it at its end. pydevd has one thread that is not a daemon,
    which writes the last messages. `pydevd.stoptrace` writes them at the program's end, too, and gives up after a
    second (pydevd.py, CheckAliveThread and dispose_and_kill_all_pydevd_threads).
    """
    thread.daemon = True
    for name in ("_event", "_wait_event"):
        if hasattr(thread, name):
            setattr(thread, name, Signal())
    queued = getattr(thread, "_cmd_queue", None)
    if queued is not None:
        # SimpleQueue uses Python's own locks, too.
        thread._cmd_queue = SimpleQueue()
        while not queued.empty():
            thread._cmd_queue.put(queued.get())
    steps = (
        functools.partial(sys.settrace, None),
        functools.partial(sys.setprofile, None),
        block_signals(),
        thread.run,
    )
    run: Any = functools.partial(collections.deque, map(operator.methodcaller("__call__"), steps), 0)
    install("thread:run", run, thread)
    # Thread._delete gets the thread's id from `threading`. gevent replaces that function, and Python would print a
    # KeyError at the end of the program.
    install("thread:_delete", lambda: _active().pop(get_ident(), None), thread)
    threading.Thread.start(thread)


def block_signals() -> Any:
    """Return a C function that blocks the signals of the thread that calls it."""
    # signal.pthread_sigmask is written in Python.
    from _signal import SIG_BLOCK, pthread_sigmask  # type: ignore[import-not-found,unused-ignore]

    return functools.partial(pthread_sigmask, SIG_BLOCK, blocked_signals())


def thread_has_begun() -> None:
    """Give this thread of the agent a `Thread` object, if the agent's other threads have one."""
    if any(isinstance(each, AgentThread) for each in _active().values()):
        show_threads()


def thread_has_ended() -> None:
    """Remove the object of this thread, if it has one."""
    if isinstance(_active().get(get_ident()), AgentThread):
        del _active()[get_ident()]


THREAD_HOOKS.append((thread_has_begun, thread_has_ended))


def show_threads() -> None:
    """Give each thread of the agent an object, before pydevd lists the threads."""
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        for ident in AGENT_THREADS - _active().keys():
            _active()[ident] = AgentThread(ident)


def hide_threads() -> None:
    """Remove the objects of the agent's threads, after the session."""
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        for ident in [ident for ident, thread in _active().items() if isinstance(thread, AgentThread)]:
            del _active()[ident]


def _active() -> dict[int, Any]:
    active: dict[int, Any] = threading._active  # type: ignore[attr-defined]
    return active
