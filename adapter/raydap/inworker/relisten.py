"""A new debug port for a Ray worker that loses its debugger; runs in the worker.

debugpy's adapter exits when it cannot forward an answer because its client is gone (messaging.py, _run_handlers:
os._exit), as after `kill -9` of a raydap with an open request. By then the worker has continued to its next
`breakpoint()`, where it would wait forever: Ray opens the port once in a process (ray/util/debugpy.py), and pydevd's
wait ends only when a client has come (pydevd.py, block_until_configuration_done).

pydevd's reader or writer notices the loss first, and disposes of the debugger. The method that does this is overridden:
it makes debugpy listen once more, and reports the new port to Ray, as Ray itself does. A thread that waits for a client
of the old debugger then waits for a client of the new one, because both have the same event for that. Until then Ray's
own lock holds further `breakpoint()`s back. A worker that ends disposes of its debugger in another thread, so nothing
is started then.

The design is in docs/design/relisten.md.
"""

import sys
import threading
from typing import Any

from .replaced_functions import install
from .stuck_adapter import kill_adapter
from .submitting_lines import report_submission
from .thread_control import is_empty_pause

LISTEN_TRIALS = 3
"""How often to try to listen again. On a busy machine debugpy can give up waiting for its adapter."""


def stop_for_clients_only(debugger: Any) -> None:
    """Let a thread that is about to stop continue if its client is gone.

    At `disconnect` debugpy resumes the threads that are stopped at that moment. A thread on its way from Ray's wait for
    a client to its stop would stop a moment later. That stop would stay unseen: no client is notified, Ray does not
    list it, and no event reports it to the next client. So skip a stop while no client is logged in to pydevd, which
    logs out at `disconnect` (pydevd.py, on_disconnect). This override is never undone, because it is needed just after
    the client has gone; it does nothing while a client is connected.

    A pause does not stop a thread where its stack would be empty. It stays pending until a frame can be shown.
    """
    from _pydevd_bundle.pydevd_thread_lifecycle import internal_run_thread

    def do_wait_suspend(thread: Any, frame: Any, *args: Any, **kwargs: Any) -> None:
        if not debugger.authentication.is_authenticated():
            internal_run_thread(thread, debugger.set_additional_thread_info)
        elif not is_empty_pause(debugger, thread, frame):
            report_submission(debugger, thread, frame)
            type(debugger).do_wait_suspend(debugger, thread, frame, *args, **kwargs)

    install("debugger:do_wait_suspend", do_wait_suspend, debugger)


def relisten_when_lost(debugger: Any) -> bool:
    """Make this worker listen again when it loses its debugger.

    Return False, and do nothing, in a process that is not a Ray worker with a debug port of its own.
    """
    # A forked child has its parent's modules, too, but the port is the parent's.
    if "ray.util.debugpy" not in sys.modules or debugger.get_arg_ppid():
        return False
    ray = sys.modules["ray"]
    _override(debugger, ray._private.worker.global_worker, ray.util.debugpy.debugger_port_lock)
    return True


def keep_waiting_when_lost(debugger: Any, package: Any) -> None:
    """Make the threads that wait in `breakpoint()` survive the loss of the debugger.

    In a process that cannot listen again, remove the package of these modules, and raise RuntimeError.
    """
    if not relisten_when_lost(debugger):
        package.remove(package.__name__)
        raise RuntimeError("it has no debug port of its own that Ray knows")


def _override(debugger: Any, worker: Any, lock: Any) -> None:
    """Override the method that disposes of the debugger.

    `worker` is Ray's global worker, and `lock` is the lock that Ray holds while it opens the port.
    """
    from _pydevd_bundle.pydevd_comm import resume_threads

    once = threading.Lock()

    def dispose_and_kill_all_pydevd_threads(*args: Any, **kwargs: Any) -> None:
        lost = threading.current_thread() in (debugger.reader, debugger.writer) and not debugger.pydb_disposed
        if lost:
            if not once.acquire(blocking=False):
                # The reader and the writer can notice the loss at the same time. No debugger would serve a second port.
                return
            kill_adapter(debugger)
            lock.acquire()
            debugger._on_configuration_done_event.clear()
            # A stepping thread would stop again at its first line under the new debugger, before a client is connected.
            resume_threads("*")
        try:
            type(debugger).dispose_and_kill_all_pydevd_threads(debugger, *args, **kwargs)
        finally:
            if lost:
                thread: Any = threading.Thread(target=_listen_again, args=(debugger, worker, lock), daemon=True)
                thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
                thread.start()

    install("debugger:dispose_and_kill_all_pydevd_threads", dispose_and_kill_all_pydevd_threads, debugger)


def _listen_again(lost: Any, worker: Any, lock: Any) -> None:
    """Listen on a new port, and report it to Ray. `lost` is the lost debugger.

    After an error, release `lock` and let the threads that wait for a client continue.
    """
    import debugpy
    import pydevd
    from debugpy.server import api

    configured = lost._on_configuration_done_event
    try:
        for trial in range(1, LISTEN_TRIALS + 1):
            api.listen.called = False
            # Otherwise pydevd keeps the old port, and the connection of a forked child fails.
            pydevd.SetupHolder.setup = None
            try:
                with pydevd.skip_subprocess_arg_patch():
                    port = debugpy.listen((worker.node_ip_address, 0))[1]
                break
            except Exception:
                if trial == LISTEN_TRIALS:
                    raise
        debugger = pydevd.get_global_debugger()
        # pydevd caches a function's breakpoints until this number changes, and each debugger object counts from 0. So
        # the breakpoints of the lost client would come back.
        debugger.mtime = lost.mtime + 1
        # A thread can wait since before `enter`. It has entered the method of the lost debugger that checks this event.
        debugger._on_configuration_done_event = configured
        worker.set_debugger_port(port)
    except BaseException:
        configured.set()
        raise
    finally:
        lock.release()
