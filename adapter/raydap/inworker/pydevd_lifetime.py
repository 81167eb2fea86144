"""The start and the end of pydevd in a process with an agent; runs there, as a part of the agent."""

import atexit
import contextlib
import itertools
import os
import sys
import threading
import time
from types import CodeType
from typing import Any

from .agent_threads import NamedThread, Signal, forget_dummy_threads, start_unnoticed
from .light_start import AGENT_THREADS, get_ident
from .replaced_functions import DETACHING, PYDEVD_ENDED, StandIn, install, put_back, remember, restore
from .resumed_frames import trace_resumed_frames, trace_resumed_frames_no_more
from .thread_frames import current_frames
from .thread_identity import keep_one_thread_object
from .thread_tracers import ProgramTracers, stack_of

SWITCH_INTERVAL_S = 1e-4
"""The switch interval of threads in seconds while debugpy is imported. Each time the import reads a file, it waits this
long for a busy thread, instead of Python's default of 5 ms."""


PYDEVD_VARIABLES = ("PYDEVD_DISABLE_FILE_VALIDATION", "PYDEVD_USE_FRAME_EVAL")
"""Environment variables that are set only while debugpy is imported. The first prevents a warning about frozen modules,
which comes too late to help. debugpy itself sets the second (debugpy/_vendored/force_pydevd.py)."""


CODE_BEFORE: dict[Any, CodeType] = {}
"""The program's code of the functions that list threads, while pydevd's code replaces it (pydevd_daemon_thread.py)."""

CODE_OF_PYDEVD: dict[Any, CodeType] = {}
"""pydevd's code of these functions, which leaves out pydevd's own threads. pydevd sets it only when it is imported, so
`import_debugpy` sets it again for later sessions."""


def import_debugpy() -> None:
    """Import debugpy, and record what pydevd replaces in the program.

    Raises ImportError. Raises RuntimeError if the process has another debugger, or if this debugpy cannot debug a
    Python that is already running.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    other = None if monitoring is None else monitoring.get_tool(monitoring.DEBUGGER_ID)
    if other not in (None, "pydevd"):
        raise RuntimeError(f"another debugger, {other}, uses sys.monitoring in this process; stop it first")
    remember()
    listing = (threading.enumerate, threading.active_count)
    CODE_BEFORE.update((each, each.__code__) for each in listing if hasattr(each, "__code__"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    given = {name: os.environ.get(name) for name in PYDEVD_VARIABLES}
    os.environ[PYDEVD_VARIABLES[0]] = "1"
    new_name: Any = threading._newname  # type: ignore[attr-defined]

    def new_name_of_program(name_template: str) -> str:
        # pydevd makes a `Thread` when it is imported (pydev_is_thread_alive.py). Without a name it would count in the
        # default names of the program's threads (NamedThread).
        name: str = "pydevd" if get_ident() in AGENT_THREADS else new_name(name_template)
        return name

    install("threading:_newname", new_name_of_program)
    try:
        import debugpy.server.api  # It makes pydevd importable.  # noqa: F401
    finally:
        put_back("threading:_newname")
        sys.setswitchinterval(interval)
        for name, value in given.items():
            if value is not None:
                os.environ[name] = value
            else:
                os.environ.pop(name, None)
    for function, code in CODE_OF_PYDEVD.items():
        function.__code__ = code
    import pydevd_tracing
    from _pydevd_bundle import pydevd_constants

    if sys.version_info >= (3, 12) and not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        # Only a C function of pydevd can trace other threads, and an old pydevd's does not support newer Pythons.
        main = threading.main_thread().ident
        if pydevd_tracing.set_trace_to_threads(lambda *_: None, [main], create_dummy_thread=False) != 0:
            version = ".".join(map(str, sys.version_info[:2]))
            raise RuntimeError(f"this debugpy cannot debug a running Python {version}; install a newer debugpy")


def without_sleep() -> StandIn:
    """Return the module `time` for pydevd, with a `sleep` that returns at once.

    When pydevd starts, it sleeps for 0.1 s to "give threads time to start" (pydevd.py, initialize_network). The worker
    would wait that long.
    """
    return StandIn(time, sleep=lambda seconds: None)


LEAVE_STOP_TIMEOUT_S = 1.0
"""Seconds for which the end of a session waits until the threads that it has resumed leave their stops."""

CHANGE_COUNTS = itertools.count(1_000_000, 1_000_000)
"""The values at which the debugger objects of successive sessions begin to count changes (`mtime`)."""


def prepare(debugger: Any) -> None:
    """Adapt pydevd's debugger object, before pydevd reads the first request of a session."""
    from _pydevd_bundle import pydevd_custom_frames

    # pydevd's only sleep takes 0 s, but would make a hub in a program with gevent.
    install("_pydevd_bundle.pydevd_comm:time", without_sleep())
    wakes = debugger._py_db_command_thread_event = Signal()
    pydevd_custom_frames.CustomFramesContainer._py_db_command_thread_event = wakes
    # pydevd's own mark that a client is connected; `disconnect` removes it (relisten.py).
    debugger.authentication.access_token = "agent"
    debugger.authentication.login("agent")
    debugger.has_adapter = False
    # pydevd caches a function's breakpoints until this number changes, and each debugger object counts from 0. So the
    # breakpoints of the last session would come back.
    debugger.mtime = next(CHANGE_COUNTS)
    install(
        "debugger:ignore_system_exit_code",
        lambda system_exit_exc: bool(debugger._ignore_system_exit_codes) and is_plain_exit(system_exit_exc),
        debugger,
    )
    # A thread that was about to stop when the last session ended would stop now, as if for a pause.
    resume_all()
    forget_dummy_threads(debugger)
    install("_pydevd_bundle.pydevd_daemon_thread:threading", StandIn(threading, Thread=NamedThread))
    install("_pydevd_bundle.pydevd_daemon_thread:PyDBDaemonThread.start", start_unnoticed)
    if is_traced():
        import pydevd_tracing

        # Otherwise sys.settrace prints a warning whenever the program calls it.
        pydevd_tracing.restore_sys_set_trace_func()
        debugger.raydap_tracers = ProgramTracers()
    keep_one_thread_object()
    trace_resumed_frames()


def is_plain_exit(error: object) -> bool:
    """Return whether a SystemExit is an ordinary end of the program rather than a failure at which to stop.

    `sys.exit(3)` ends a program as it was written. But inside `except Exception` it hides an error that a framework
    such as Hydra or click has caught. pydevd itself ignores only exit code 0, and no code at all with
    breakOnSystemExitZero. `error` is the exception, or only its code.
    """
    if not isinstance(error, SystemExit) or error.code in (None, 0):
        return True
    hidden = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return not isinstance(hidden, Exception)


def unknown_debugpy(error: BaseException) -> str:
    """Return a message for users: this debugpy has changed in a part that an agent needs."""
    version = getattr(sys.modules.get("debugpy"), "__version__", "of an unknown version")
    return f"raydap cannot start debugpy {version} ({error!r}); install debugpy 1.8 in this environment"


def stop(debugger: Any) -> None:
    """End pydevd, so that the process runs as before and can be debugged again.

    Raises nothing. If a step fails, write that on standard error and continue with the next step.
    """
    steps = (let_threads_run, stop_tracing, end_threads, stop_tracing_again, restore_all, forget_threads)
    for step in (*steps, give_memory_back):
        try:
            step(debugger)
        except Exception as error:
            sys.stderr.write(f"raydap could not undo all its changes to this process: {error!r}\n")


def let_threads_run(debugger: Any) -> None:
    """Log the client out of pydevd, and resume all threads."""
    try:
        debugger.authentication.logout()
    finally:
        # A thread that is about to stop continues instead, because no client is logged in (relisten.py).
        resume_all()


def resume_all() -> None:
    """Resume all stopped threads of the process."""
    from _pydevd_bundle.pydevd_comm import resume_threads

    resume_threads("*")


def end_threads(debugger: Any) -> None:
    """Dispose of the debugger object, and end pydevd's threads."""
    debugger.dispose_and_kill_all_pydevd_threads()
    # If raydap hung up while pydevd started, these two threads started after pydevd had ended. The second, which is not
    # a daemon thread in pydevd, would keep the process from ending.
    for thread in (debugger.py_db_command_thread, debugger.check_alive_thread):
        if thread is not None:
            thread.do_kill_pydev_thread()


def restore_all(debugger: Any) -> None:
    """Restore the functions that raydap has replaced for the session, and those that debugpy has replaced.

    debugpy leaves names behind (pydev_umd.py), even after its own undo_patch_thread_modules (pydev_monkey.py).
    """
    restore(debugger, DETACHING, PYDEVD_ENDED)
    # The functions that list threads.
    while CODE_BEFORE:
        function, code = CODE_BEFORE.popitem()
        CODE_OF_PYDEVD[function], function.__code__ = function.__code__, code


def forget_threads(_: Any) -> None:
    """Remove pydevd's own threads and ended threads from pydevd's table of threads.

    pydevd keeps each thread that it has seen, so that no later thread gets the same identity. Its own threads of each
    session would stay in memory, with all that they have read, and so would the program's ended threads.
    """
    from _pydevd_bundle import pydevd_constants

    kept: dict[int, Any] = getattr(pydevd_constants, "_thread_id_to_thread_found", {})
    for identity, thread in list(kept.items()):
        if getattr(thread, "is_pydev_daemon_thread", False) or not thread.is_alive():
            kept.pop(identity, None)


def give_memory_back(_: Any) -> None:
    """Return freed memory to the system.

    glibc keeps what the threads of a session have freed, in a separate part of the memory for each thread: 1 MB a
    session.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def stop_tracing(debugger: Any) -> None:
    """End the tracing of all threads, which debugpy leaves on at `disconnect`."""
    import pydevd

    # pydevd would stop the tracing once more when the program ends.
    atexit.unregister(pydevd.stoptrace)
    trace_resumed_frames_no_more()
    if is_traced():
        from _pydev_bundle.pydev_monkey import undo_patch_thread_modules

        # Do not call pydevd.stoptrace: it would end the program's own tracing in this thread and in new ones.
        undo_patch_thread_modules()
        put_tracers_back(debugger)
    else:
        pydevd.stoptrace()


def stop_tracing_again(debugger: Any) -> None:
    """Wait until resumed threads have left pydevd, and put the program's trace functions back once more.

    A thread that was stopped traces its function again when it leaves pydevd. Do not wait longer than
    LEAVE_STOP_TIMEOUT_S: an expression of the user may still run there.
    """
    if is_traced():
        deadline = time.monotonic() + LEAVE_STOP_TIMEOUT_S
        while any(map(is_in_pydevd, current_frames().values())) and time.monotonic() < deadline:
            time.sleep(0.01)
        put_tracers_back(debugger)


def put_tracers_back(debugger: Any) -> None:
    """Put the program's trace functions back. Do nothing if pydevd has not started or does not trace."""
    tracers = getattr(debugger, "raydap_tracers", None)
    if tracers is not None:
        tracers.put_back()


def is_in_pydevd(innermost: Any) -> bool:
    """Return whether the thread with this innermost frame is the program's and in a trace function of pydevd."""
    names = {str(frame.f_globals.get("__name__")) for frame in stack_of(innermost)}
    is_pydevds_thread = "_pydevd_bundle.pydevd_daemon_thread" in names
    return not is_pydevds_thread and any(name.startswith(("pydevd", "_pydevd")) for name in names)


def is_traced() -> bool:
    """Return whether pydevd uses trace functions: before Python 3.12, and later with an old pydevd."""
    from _pydevd_bundle import pydevd_constants

    return not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
