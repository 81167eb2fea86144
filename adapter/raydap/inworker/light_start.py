"""The start of an agent without modules that a new Python has not imported yet.

Importing json, socket, threading, typing and the modules that these import takes 20 to 50 ms of a processor. That is
more than everything else in a small Python. So the modules of an idle agent (bundle.py) import only C modules and
modules that Python itself has imported. `load_rest` runs the other modules of an agent when raydap requests more than
the identity of the process.

The design is in docs/design/light-start.md.
"""

from __future__ import annotations

import _thread
import sys
from _thread import RLock, start_new_thread

# gevent may replace these two later, so the modules of the agent import them from here.
from _thread import allocate_lock as allocate_lock
from _thread import get_ident as get_ident

from .replaced_functions import call_after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from typing import Any

run_rest: Callable[[], object] | None = None
"""Runs the modules that have not run yet; None when all have. sitecustomize.py sets it."""

LOADING = RLock()
"""Held while the other modules of the agent run."""

CHANGE_TIMEOUT_S = 10.0
"""Seconds for which a fork, or the end of the program, waits while a session begins or ends in another thread. A child
with half of pydevd is of no use. It also could never import a module that another thread was importing at the fork."""


def own_ids() -> tuple[int, int | None]:
    """Return Python's id and the system's id of this thread. The latter is None on some systems."""
    return get_ident(), getattr(_thread, "get_native_id", lambda: None)()


MAIN_THREAD = own_ids()
"""The ids of the main thread, as in `own_ids`."""


AGENT_THREADS: set[int] = set()
"""The idents of the agent's threads in this process."""

THREAD_HOOKS: list[tuple[Callable[[], None], Callable[[], None]]] = []
"""Functions that each thread of the agent calls when it begins and when it ends."""

NEVER_BLOCKED = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
"""The signals of a thread's own errors. faulthandler prints them only if they are not blocked."""


def is_loaded() -> bool:
    """Return whether all modules of the agent have run."""
    return run_rest is None


def load_rest() -> None:
    """Run the other modules of the agent, once."""
    global run_rest
    with LOADING:
        if run_rest is not None:
            import_threading()
            run_rest()
            run_rest = None


def begin_in_child() -> None:
    """Reset the data about threads in a forked child, whose only thread is its main thread."""
    global MAIN_THREAD, LOADING
    MAIN_THREAD, LOADING = own_ids(), RLock()
    AGENT_THREADS.clear()


def import_threading() -> None:
    """Import `threading`, and correct its main thread, which would be the thread that imports it."""
    finder: Any = _ThreadingFinder()
    sys.meta_path.insert(0, finder)
    try:
        import threading  # noqa: F401
    finally:
        sys.meta_path.remove(finder)


class _ThreadingFinder:
    """A finder that corrects `threading` before any other thread can use it."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != "threading":
            return None
        others = (each for each in sys.meta_path if each is not self and hasattr(each, "find_spec"))
        spec = next(filter(None, (finder.find_spec(name, None) for finder in others)))
        call_after_import(spec.loader, correct_main_thread)
        return spec


def correct_main_thread(threading: Any) -> None:
    """Make the thread in MAIN_THREAD the main thread of `threading`.

    From Python 3.13 on, only the native id is wrong.

    Source: threading.py, _MainThread and _shutdown, which releases the lock of the main thread at the end.
    """
    main = threading._main_thread
    ident, native_id = MAIN_THREAD
    if hasattr(main, "_native_id"):
        main._native_id = native_id
    if main.ident == ident:
        return
    with threading._active_limbo_lock:
        del threading._active[main.ident]
        main._ident = ident
        threading._active[ident] = main
    # Python would release this lock when the importing thread ends, and wait for that at its own end.
    threading._shutdown_locks.discard(main._tstate_lock)
    main._tstate_lock = allocate_lock()
    main._tstate_lock.acquire()


def start_thread(target: Callable[..., None], *args: Any) -> None:
    """Start a thread of the agent, which `threading` does not list and which blocks all signals (agent_threads.py).

    Return when it runs, because Python crashes if it ends while a thread begins. Raise RuntimeError if there are too
    many threads, or if the process ends.
    """
    import _signal  # type: ignore[import-not-found,unused-ignore]

    begins = allocate_lock()
    begins.acquire()
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, blocked_signals())
    try:
        start_new_thread(_run, (begins, target, args))
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
    begins.acquire()


def blocked_signals() -> set[int]:
    """Return the signals that all threads of raydap block."""
    import _signal

    errors = {getattr(_signal, name, 0) for name in NEVER_BLOCKED}
    blocked: set[int] = _signal.valid_signals() - errors
    return blocked


def _run(begins: Any, target: Callable[..., None], args: tuple[Any, ...]) -> None:
    AGENT_THREADS.add(get_ident())
    begins.release()
    for begun, _ in THREAD_HOOKS:
        begun()
    try:
        target(*args)
    finally:
        AGENT_THREADS.discard(get_ident())
        for _, ended in THREAD_HOOKS:
            ended()


def to_json(value: dict[str, Any]) -> str:
    """Do what json.dumps does, with the C function that it uses (json/encoder.py, iterencode)."""
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        import json

        return json.dumps(value)
    encode = make_encoder(None, repr, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    return "".join(encode(value, 0))
