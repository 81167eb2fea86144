"""A new debug port for a Ray worker that loses its debugger; runs in the worker.

debugpy's adapter exits when it cannot forward an answer because its client is gone (messaging.py, _run_handlers:
os._exit), as after `kill -9` of a raydap with an open request. By then the worker has continued to its next
`breakpoint()`, where it would wait forever: Ray opens the port once in a process (ray/util/debugpy.py), and pydevd's
wait ends only when a client has come (pydevd.py, block_until_configuration_done).

pydevd's reader or writer notices the loss first, and disposes of the debugger. Two methods of that debugger object are
overridden. Disposing of it makes debugpy listen once more, and reports the new port to Ray, as Ray itself does. A
thread that waits for a client of the old debugger then waits for a client of the new one. Until then Ray's own lock
holds further `breakpoint()`s back. A worker that ends disposes of its debugger in another thread, so nothing is started
then.

The design is in docs/design/relisten.md.
"""

import sys
import threading
from typing import Any

from .stuck_adapter import kill_adapter
from .thread_control import is_empty_pause

OVERRIDDEN = ("dispose_and_kill_all_pydevd_threads", "block_until_configuration_done")


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
            type(debugger).do_wait_suspend(debugger, thread, frame, *args, **kwargs)

    debugger.do_wait_suspend = do_wait_suspend


def relisten_when_lost(debugger: Any) -> None:
    """Make this worker listen again when it loses its debugger.

    Do nothing in a process that is not a Ray worker with a debug port of its own.
    """
    # A forked child has its parent's modules, too, but the port is the parent's.
    if "ray.util.debugpy" in sys.modules and not debugger.get_arg_ppid():
        ray = sys.modules["ray"]
        _override(debugger, ray._private.worker.global_worker, ray.util.debugpy.debugger_port_lock)


def _override(debugger: Any, worker: Any, lock: Any) -> None:
    """Override the methods that dispose of the debugger and that wait for its client.

    `worker` is Ray's global worker, and `lock` is the lock that Ray holds while it opens the port.
    """
    import pydevd
    from _pydevd_bundle.pydevd_comm import resume_threads

    listening = threading.Event()
    once = threading.Lock()

    def dispose_and_kill_all_pydevd_threads(*args: Any, **kwargs: Any) -> None:
        lost = threading.current_thread() in (debugger.reader, debugger.writer) and not debugger.pydb_disposed
        if lost:
            if not once.acquire(blocking=False):
                # The reader and the writer can notice the loss at the same time. No debugger would serve a second port.
                return
            kill_adapter(debugger)
            lock.acquire()
            # A stepping thread would stop again at its first line under the new debugger, before a client is connected.
            resume_threads("*")
        try:
            type(debugger).dispose_and_kill_all_pydevd_threads(debugger, *args, **kwargs)
        finally:
            if lost:
                thread: Any = threading.Thread(
                    target=_listen_again, args=(debugger.mtime, worker, lock, listening), daemon=True
                )
                thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
                thread.start()
                debugger._on_configuration_done_event.set()

    def block_until_configuration_done(*args: Any, **kwargs: Any) -> None:
        type(debugger).block_until_configuration_done(debugger, *args, **kwargs)
        if debugger.pydb_disposed:
            listening.wait()
            new = pydevd.get_global_debugger()
            if new is not None:
                new.block_until_configuration_done()

    debugger.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    debugger.block_until_configuration_done = block_until_configuration_done


def _listen_again(mtime: int, worker: Any, lock: Any, listening: threading.Event) -> None:
    """Listen on a new port, and report it to Ray. `mtime` is the change count of the lost debugger.

    Release `lock` and set `listening` even after an error: other threads wait for them.
    """
    import debugpy
    import pydevd
    from debugpy.server import api

    try:
        api.listen.called = False
        # Otherwise pydevd keeps the old port, and the connection of a forked child fails.
        pydevd.SetupHolder.setup = None
        with pydevd.skip_subprocess_arg_patch():
            port = debugpy.listen((worker.node_ip_address, 0))[1]
        # pydevd caches a function's breakpoints until this number changes, and each debugger object counts from 0. So
        # the breakpoints of the lost client would come back.
        pydevd.get_global_debugger().mtime = mtime + 1
        worker.set_debugger_port(port)
    finally:
        lock.release()
        listening.set()
