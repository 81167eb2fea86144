"""How pydevd comes into a process with an agent, and how it leaves; runs there, as a part of the agent."""

import contextlib
import os
import sys
import threading
from typing import Any

SWITCH_INTERVAL_S = 1e-4
"""While debugpy is imported: each of its reads waits that long for a busy thread, instead of 5 ms."""


def import_debugpy() -> None:
    """Raises ImportError, and RuntimeError if this debugpy cannot debug what runs already."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # Otherwise it prints a warning about frozen modules, which nobody can change any more.
    quiet = "PYDEVD_DISABLE_FILE_VALIDATION"
    given = os.environ.get(quiet)
    os.environ[quiet] = "1"
    try:
        import debugpy.server.api  # It lets pydevd be found.  # noqa: F401
    finally:
        sys.setswitchinterval(interval)
        if given is None:
            del os.environ[quiet]
        else:
            os.environ[quiet] = given
    import pydevd_tracing
    from _pydevd_bundle import pydevd_constants

    if sys.version_info >= (3, 12) and not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        # Only a function of pydevd in C can trace other threads, and older ones do not know newer Pythons.
        main = threading.main_thread().ident
        if pydevd_tracing.set_trace_to_threads(lambda *_: None, [main], create_dummy_thread=False) != 0:
            version = ".".join(map(str, sys.version_info[:2]))
            raise RuntimeError(f"this debugpy cannot debug a running Python {version}; install a newer one")


def stop(debugger: Any) -> None:
    """Ends pydevd, so that the process runs as before, and can be debugged again."""
    import pydevd
    import pydevd_tracing
    from _pydevd_bundle import pydevd_constants
    from _pydevd_bundle.pydevd_comm import resume_threads

    debugger.authentication.logout()
    # A thread that was about to stop does not, now that nobody is logged in (relisten.py).
    resume_threads("*")
    pydevd.stoptrace()
    traces = not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
    if traces:
        stop_tracing(pydevd_tracing)
    debugger.dispose_and_kill_all_pydevd_threads()
    if traces:
        # A thread that was stopped has had its function traced once more, when it left pydevd.
        stop_tracing(pydevd_tracing, again=True)
    # If raydap has hung up while pydevd began, these two have begun after its end; and the second one, which is no
    # daemon, would keep the process from its own.
    for thread in (debugger.py_db_command_thread, debugger.check_alive_thread):
        if thread is not None:
            thread.do_kill_pydev_thread()
    give_memory_back()


def give_memory_back() -> None:
    """glibc keeps what the threads of a session have freed, in a part of the memory for each thread: 1 MB a session."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def stop_tracing(pydevd_tracing: Any, again: bool = False) -> None:
    """Before Python 3.12: no thread may be traced any more, because that makes it several times slower. debugpy leaves
    that on at `disconnect`. Each thread ends its own tracing at its next line. `again`: only where a function is still
    traced."""
    end = sys.settrace

    def trace(frame: Any, event: str, arg: Any) -> None:
        end(None)
        for each in stack_of(frame):
            each.f_trace = None

    own = threading.get_ident()
    stacks = {ident: stack_of(frame) for ident, frame in sys._current_frames().items() if ident != own}
    if again:
        stacks = {ident: stack for ident, stack in stacks.items() if any(each.f_trace is not None for each in stack)}
    pydevd_tracing.set_trace_to_threads(trace, list(stacks), create_dummy_thread=False)
    for innermost, *callers in stacks.values():
        innermost.f_trace = trace
        for each in callers:
            each.f_trace = None
    end(None)


def stack_of(frame: Any) -> list[Any]:
    """The frames of its thread, the innermost one first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
