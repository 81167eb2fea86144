"""Threads of raydap that the program does not notice; runs in workers and drivers, as a part of the agent.

threading.settrace and threading.setprofile of the program do not reach them. They block all signals: otherwise they
would receive a signal that the program blocks in its own threads to wait for it (sigwait).
"""

import collections
import functools
import operator
import signal
import sys
import threading
from typing import Any

NEVER_BLOCKED = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
"""The signals of a thread's own errors. faulthandler prints them only if they are not blocked."""


def start_thread(target: Any, *args: Any) -> None:
    """Start a thread that debuggers ignore, and that does not keep the process from ending."""
    thread: Any = threading.Thread(target=target, args=args, name="raydap", daemon=True)
    thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
    start_unnoticed(thread)


def start_unnoticed(thread: Any) -> None:
    """Start this thread. All that precedes its `run` is code in C, for which Python calls no trace function."""
    # signal.pthread_sigmask is a function in Python.
    from _signal import SIG_BLOCK, pthread_sigmask  # type: ignore[import-not-found,unused-ignore]

    errors = {getattr(signal, name, None) for name in NEVER_BLOCKED}
    steps = (
        functools.partial(sys.settrace, None),
        functools.partial(sys.setprofile, None),
        functools.partial(pthread_sigmask, SIG_BLOCK, signal.valid_signals() - errors),
        thread.run,
    )
    thread.run = functools.partial(collections.deque, map(operator.methodcaller("__call__"), steps), 0)
    threading.Thread.start(thread)
