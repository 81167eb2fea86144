"""Threads of raydap that the program does not notice; runs in workers and drivers, as a part of the agent.

Functions of threading.settrace and threading.setprofile do not reach them. They block all signals: otherwise they would
receive a signal that the program blocks in its own threads to wait for it (sigwait).

The agent's own threads are not started by `threading` (light_start.start_thread), so `threading.enumerate()` and
`threading.active_count()` are what they are without an agent. pydevd makes a `Thread` object for each thread that it
finds and that has none. So during a session each has an object that pydevd ignores, and hides from
`threading.enumerate()` with its own threads.
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


class AgentThread(threading.Thread):
    """The object of a running thread of the agent during a session."""

    pydev_do_not_trace = is_pydev_daemon_thread = True

    def __init__(self, ident: int) -> None:
        super().__init__(name="raydap", daemon=True)
        threading._dangling.discard(self)  # type: ignore[attr-defined]
        self._ident = ident
        self._started.set()  # type: ignore[attr-defined]

    def is_alive(self) -> bool:
        return self._ident in AGENT_THREADS

    def join(self, timeout: float | None = None) -> None:
        raise RuntimeError("a thread of raydap's agent cannot be joined")

    def _after_fork(self, new_ident: "int | None" = None) -> None:
        return  # In a forked child the thread does not exist, and has no handle as a Thread has since 3.13.


class Signal:
    """An Event for a thread of pydevd, with a lock of Python's own.

    gevent replaces the locks of `threading.Event`. A thread that waits for a lock of gevent makes a hub, and the hub
    imports modules. The import locks are gevent's, too, so the threads of pydevd wait for each other, and Python can
    crash when it ends.
    """

    def __init__(self) -> None:
        self._unset = allocate_lock()
        self._unset.acquire()

    def is_set(self) -> bool:
        return not self._unset.locked()

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # It was set.
            self._unset.release()

    def clear(self) -> None:
        self._unset.acquire(False)

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether another thread set it in time. A `clear` during the wait may have no effect; pydevd checks why
        it wakes."""
        is_set = self._unset.acquire(True, -1 if timeout is None else timeout)
        if is_set:
            self.set()
        return is_set


class UncountedThreads:
    """The module `threading` as pydevd's class of threads sees it: its threads get a name at once.

    Otherwise Python would count them in the default names of the program's threads, such as `Thread-1`.
    """

    class Thread:
        @staticmethod
        def __init__(thread: threading.Thread) -> None:
            threading.Thread.__init__(thread, name="pydevd")

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


def forget_dummy_threads(debugger: Any) -> None:
    """Let this debugger of pydevd take away the object of each thread that `_thread.start_new_thread` has started, when
    the thread ends. pydevd makes it, and before Python 3.13 it would stay in `threading.enumerate()`."""
    from _pydevd_bundle.pydevd_constants import get_thread_id

    notify = debugger.notify_thread_not_alive

    def notify_thread_not_alive(thread_id: str, *args: Any, **named: Any) -> None:
        notify(thread_id, *args, **named)
        thread = _active().get(threading.get_ident())
        if isinstance(thread, threading._DummyThread) and get_thread_id(thread) == thread_id:
            del _active()[threading.get_ident()]

    debugger.notify_thread_not_alive = notify_thread_not_alive


def start_unnoticed(thread: Any) -> None:
    """Start this thread of pydevd. All that precedes its `run` is code in C, for which Python calls no trace function.

    Make it a daemon thread, so that no program waits for it at its end. pydevd has one thread that is none, which
    writes the last messages; `pydevd.stoptrace` does so at the program's end, too, and gives up after a second
    (pydevd.py, CheckAliveThread and dispose_and_kill_all_pydevd_threads).
    """
    thread.daemon = True
    for name in ("_event", "_wait_event"):
        if hasattr(thread, name):
            setattr(thread, name, Signal())
    queued = getattr(thread, "_cmd_queue", None)
    if queued is not None:
        # Its locks are Python's own, too.
        thread._cmd_queue = SimpleQueue()
        while not queued.empty():
            thread._cmd_queue.put(queued.get())
    steps = (
        functools.partial(sys.settrace, None),
        functools.partial(sys.setprofile, None),
        block_signals(),
        thread.run,
    )
    thread.run = functools.partial(collections.deque, map(operator.methodcaller("__call__"), steps), 0)
    # Python would ask `threading` for the id of the thread. gevent replaces the function for that, and Python would
    # print a KeyError at the end of the program.
    thread._delete = lambda: _active().pop(get_ident(), None)
    threading.Thread.start(thread)


def block_signals() -> Any:
    """Return a function in C that blocks the signals of the current thread."""
    # signal.pthread_sigmask is a function in Python.
    from _signal import SIG_BLOCK, pthread_sigmask  # type: ignore[import-not-found,unused-ignore]

    return functools.partial(pthread_sigmask, SIG_BLOCK, blocked_signals())


def thread_has_begun() -> None:
    """Give this thread of the agent an object, if a session has given one to the others."""
    if any(isinstance(each, AgentThread) for each in _active().values()):
        show_threads()


def thread_has_ended() -> None:
    """Take the object of this thread away, if it has one."""
    if isinstance(_active().get(get_ident()), AgentThread):
        del _active()[get_ident()]


THREAD_HOOKS.append((thread_has_begun, thread_has_ended))


def show_threads() -> None:
    """Give each thread an object, before pydevd looks for threads."""
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        for ident in AGENT_THREADS - _active().keys():
            _active()[ident] = AgentThread(ident)


def hide_threads() -> None:
    """Take the objects away, after the session."""
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        for ident in [ident for ident, thread in _active().items() if isinstance(thread, AgentThread)]:
            del _active()[ident]


def _active() -> dict[int, Any]:
    active: dict[int, Any] = threading._active  # type: ignore[attr-defined]
    return active
