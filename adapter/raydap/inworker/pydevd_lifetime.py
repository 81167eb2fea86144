"""How pydevd comes into a process with an agent, and how it leaves; runs there, as a part of the agent."""

import _thread
import atexit
import builtins
import contextlib
import itertools
import os
import sys
import threading
import time
from types import CodeType
from typing import Any

from .agent_threads import Signal, UncountedThreads, forget_dummy_threads, start_unnoticed
from .light_start import AGENT_THREADS, get_ident
from .resumed_frames import trace_resumed_frames, trace_resumed_frames_no_more
from .thread_frames import current_frames
from .thread_identity import keep_one_thread_object, keep_one_thread_object_no_more
from .thread_tracers import ProgramTracers, stack_of

SWITCH_INTERVAL_S = 1e-4
"""While debugpy is imported: each of its reads waits that long for a busy thread, instead of 5 ms."""


PYDEVD_VARIABLES = ("PYDEVD_DISABLE_FILE_VALIDATION", "PYDEVD_USE_FRAME_EVAL")
"""Variables that are set while debugpy is imported. The first prevents a warning about frozen modules, which comes too
late to help; debugpy sets the second itself (debugpy/_vendored/force_pydevd.py)."""


PATCHED_NAMES: tuple[str, ...] = (
    "start_new_thread",
    "start_new",
    "_start_new_thread",
    "start_joinable_thread",
    "_start_joinable_thread",
)
PATCHED_NAMES += ("_original_start_new_thread", "_original_start_joinable_thread", "execfile", "runfile")
"""The names that pydevd adds to `threading`, `_thread` and `builtins`, or replaces there."""

NAMES_BEFORE: dict[tuple[Any, str], Any] = {}
"""The values that these names had before pydevd. A name without a value is missing."""

CODE_BEFORE: dict[Any, CodeType] = {}
"""The code of the functions that list threads, while pydevd's code is in its place (pydevd_daemon_thread.py)."""

CODE_OF_PYDEVD: dict[Any, CodeType] = {}
"""The code of pydevd for these functions. It leaves out the threads of pydevd, which sets it only at its import."""


def import_debugpy() -> None:
    """Raises ImportError, and RuntimeError if another debugger is there, or if this debugpy cannot debug what runs
    already."""
    monitoring: Any = getattr(sys, "monitoring", None)
    other = None if monitoring is None else monitoring.get_tool(monitoring.DEBUGGER_ID)
    if other not in (None, "pydevd"):
        raise RuntimeError(f"another debugger, {other}, uses sys.monitoring in this process; end it first")
    NAMES_BEFORE.clear()
    for module in (builtins, threading, _thread):
        NAMES_BEFORE.update({(module, name): vars(module)[name] for name in PATCHED_NAMES if name in vars(module)})
    listing = (threading.enumerate, threading.active_count)
    CODE_BEFORE.update((each, each.__code__) for each in listing if hasattr(each, "__code__"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    given = {name: os.environ.get(name) for name in PYDEVD_VARIABLES}
    os.environ[PYDEVD_VARIABLES[0]] = "1"
    new_name: Any = threading._newname  # type: ignore[attr-defined]

    def new_name_of_program(template: str) -> str:
        # pydevd makes a `Thread` when it is imported (pydev_is_thread_alive.py), as in UncountedThreads.
        name: str = "pydevd" if get_ident() in AGENT_THREADS else new_name(template)
        return name

    threading._newname = new_name_of_program  # type: ignore[attr-defined]
    try:
        import debugpy.server.api  # It lets pydevd be found.  # noqa: F401
    finally:
        threading._newname = new_name  # type: ignore[attr-defined]
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
        # Only a function of pydevd in C can trace other threads, and older ones do not know newer Pythons.
        main = threading.main_thread().ident
        if pydevd_tracing.set_trace_to_threads(lambda *_: None, [main], create_dummy_thread=False) != 0:
            version = ".".join(map(str, sys.version_info[:2]))
            raise RuntimeError(f"this debugpy cannot debug a running Python {version}; install a newer one")


class WithoutSleep:
    """pydevd's module `time` while it begins: it sleeps for 0.1 s to "give threads time to start", and the worker would
    wait so long (pydevd.py, initialize_network)."""

    def __init__(self, time: Any) -> None:
        self._time = time

    def __getattr__(self, name: str) -> Any:
        return getattr(self._time, name)

    def sleep(self, seconds: float) -> None: ...


LEAVE_STOP_TIMEOUT_S = 1.0
"""Seconds that the end of a session waits for threads that are stopped. They have been resumed."""

CHANGE_COUNTS = itertools.count(1_000_000, 1_000_000)
"""Where the debugger object of each session begins to count its changes."""


def prepare(debugger: Any) -> None:
    """Called before pydevd reads the first request of a session."""
    from _pydevd_bundle import pydevd_comm, pydevd_custom_frames, pydevd_daemon_thread

    pydevd_comm.time = WithoutSleep(time)  # Its only sleep takes 0 s, and would make a hub of gevent.
    wakes = debugger._py_db_command_thread_event = Signal()
    pydevd_custom_frames.CustomFramesContainer._py_db_command_thread_event = wakes
    # pydevd's own mark of a client that is there: it goes with `disconnect` (relisten.py).
    debugger.authentication.access_token = "agent"
    debugger.authentication.login("agent")
    debugger.has_adapter = False
    # pydevd keeps what it knows of a function's breakpoints until this number changes, and each debugger object counts
    # from 0: the breakpoints of the last session would come back.
    debugger.mtime = next(CHANGE_COUNTS)
    debugger.ignore_system_exit_code = lambda error: bool(debugger._ignore_system_exit_codes) and is_plain_exit(error)
    # A thread that was about to stop when the last session ended would stop now, as if for a pause.
    resume_all()
    forget_dummy_threads(debugger)
    pydevd_daemon_thread.threading = UncountedThreads()
    pydevd_daemon_thread.PyDBDaemonThread.start = start_unnoticed
    if is_traced():
        import pydevd_tracing

        # Otherwise sys.settrace writes a warning whenever the program calls it.
        pydevd_tracing.restore_sys_set_trace_func()
        debugger.raydap_tracers = ProgramTracers()
    keep_one_thread_object()
    trace_resumed_frames()


def is_plain_exit(error: object) -> bool:
    """Return whether a SystemExit is no failure to stop at. `sys.exit(3)` ends a program as it was written, but after
    `except Exception` it hides an error that a framework has caught, such as Hydra or click. pydevd ignores 0 only, and
    none with breakOnSystemExitZero. `error` is the exception, or only its code."""
    if not isinstance(error, SystemExit) or error.code in (None, 0):
        return True
    hidden = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return not isinstance(hidden, Exception)


def unknown_debugpy(error: BaseException) -> str:
    """For users: pydevd has changed in a part that an agent needs."""
    version = getattr(sys.modules.get("debugpy"), "__version__", "of an unknown version")
    return f"raydap does not know how to begin debugpy {version} ({error!r}); install debugpy 1.8 there"


def stop(debugger: Any) -> None:
    """Ends pydevd, so that the process runs as before, and can be debugged again. Raises nothing: a step that fails
    keeps no other one from being done."""
    steps = (let_threads_run, stop_tracing, end_threads, stop_tracing_again, restore_names, forget_threads)
    for step in (*steps, give_memory_back):
        try:
            step(debugger)
        except Exception as error:
            sys.stderr.write(f"raydap cannot leave this process as it was: {error!r}\n")


def let_threads_run(debugger: Any) -> None:
    try:
        debugger.authentication.logout()
    finally:
        # A thread that was about to stop does not, now that nobody is logged in (relisten.py).
        resume_all()


def resume_all() -> None:
    from _pydevd_bundle.pydevd_comm import resume_threads

    resume_threads("*")


def end_threads(debugger: Any) -> None:
    debugger.dispose_and_kill_all_pydevd_threads()
    # If raydap has hung up while pydevd began, these two have begun after its end; and the second one, which is no
    # daemon, would keep the process from its own.
    for thread in (debugger.py_db_command_thread, debugger.check_alive_thread):
        if thread is not None:
            thread.do_kill_pydev_thread()


def restore_names(_: Any) -> None:
    """pydevd leaves names behind (pydev_umd.py), also by its own undo_patch_thread_modules (pydev_monkey.py)."""
    for module in (builtins, threading, _thread):
        for name in PATCHED_NAMES:
            if (module, name) not in NAMES_BEFORE:
                vars(module).pop(name, None)
            elif getattr(vars(module).get(name), "__module__", "_thread") == "_thread":
                setattr(module, name, NAMES_BEFORE[module, name])
    list_threads_as_before()


def list_threads_as_before() -> None:
    """Put the code of CODE_BEFORE back."""
    while CODE_BEFORE:
        function, code = CODE_BEFORE.popitem()
        CODE_OF_PYDEVD[function], function.__code__ = function.__code__, code


def forget_threads(_: Any) -> None:
    """pydevd keeps each thread that it has seen, so that no later one has the same identity: its own of each session,
    and with them what they have read; and those of the program that have ended."""
    from _pydevd_bundle import pydevd_constants

    kept: dict[int, Any] = getattr(pydevd_constants, "_thread_id_to_thread_found", {})
    for identity, thread in list(kept.items()):
        if getattr(thread, "is_pydev_daemon_thread", False) or not thread.is_alive():
            kept.pop(identity, None)


def give_memory_back(_: Any) -> None:
    """glibc keeps what the threads of a session have freed, in a part of the memory for each thread: 1 MB a session."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def stop_tracing(debugger: Any) -> None:
    """End the tracing of all threads, which debugpy leaves on at `disconnect`."""
    import pydevd

    # pydevd would end the tracing once more when the program ends.
    atexit.unregister(pydevd.stoptrace)
    trace_resumed_frames_no_more()
    keep_one_thread_object_no_more()
    if is_traced():
        from _pydev_bundle.pydev_monkey import undo_patch_thread_modules

        # Not pydevd.stoptrace: it ends the tracing of the program in this thread and in new ones.
        undo_patch_thread_modules()
        put_tracers_back(debugger)
    else:
        pydevd.stoptrace()


def stop_tracing_again(debugger: Any) -> None:
    """A thread that was stopped traces its function once more when it leaves pydevd. Wait for that, but not forever:
    an expression of the user may run there."""
    if is_traced():
        deadline = time.monotonic() + LEAVE_STOP_TIMEOUT_S
        while any(map(is_in_pydevd, current_frames().values())) and time.monotonic() < deadline:
            time.sleep(0.01)
        put_tracers_back(debugger)


def put_tracers_back(debugger: Any) -> None:
    """Do nothing if pydevd has not begun, or does not trace."""
    tracers = getattr(debugger, "raydap_tracers", None)
    if tracers is not None:
        tracers.put_back()


def is_in_pydevd(innermost: Any) -> bool:
    """Return whether this thread of the program is in a trace function of pydevd."""
    names = {str(frame.f_globals.get("__name__")) for frame in stack_of(innermost)}
    is_pydevds_thread = "_pydevd_bundle.pydevd_daemon_thread" in names
    return not is_pydevds_thread and any(name.startswith(("pydevd", "_pydevd")) for name in names)


def is_traced() -> bool:
    """Whether pydevd traces here. From Python 3.12 on it does not, except for old ones."""
    from _pydevd_bundle import pydevd_constants

    return not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
