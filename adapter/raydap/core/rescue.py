"""What keeps a worker from being lost with its debugger.

A Ray worker whose debugger dies listens anew, on another port.

debugpy's adapter ends itself when it cannot forward an answer because its client is gone (messaging.py, _run_handlers:
os._exit), as after `kill -9` of a raydap that had asked something. The worker has run on to its next `breakpoint()` by
then, and would wait there for ever: Ray opens the port once in a process (ray/util/debugpy.py), and pydevd's wait ends
only when a client has come (pydevd.py, block_until_configuration_done).

pydevd's reader or writer is the first to know, and disposes of the debugger. Two methods of that debugger are covered:
disposing of it then lets debugpy listen once more and tells Ray the new port, as Ray itself does; and whoever waits for
a client of the old one goes on waiting for a client of the new one. Ray's own lock keeps further `breakpoint()`s back
meanwhile. A worker that ends disposes of its debugger in another thread, so nothing is started then.

And a thread that is about to stop when its client goes does not stop any more. debugpy resumes once, at `disconnect`,
what is stopped then. A thread on its way from Ray's wait for a client to its stop would stop a moment later, unseen:
nobody is told of it, Ray does not list it, and the next client hears nothing of it either. While nobody is logged in
to pydevd, which logs out at `disconnect` (pydevd.py, on_disconnect), a stop is skipped. This one cover stays behind,
because it is needed just after the client has gone.
"""

_SOURCE = """
import sys, threading, debugpy, pydevd
from _pydevd_bundle.pydevd_comm import resume_threads
from _pydevd_bundle.pydevd_thread_lifecycle import internal_run_thread
from debugpy.server import api

def stop_for_clients_only(d):
    def wait(thread, *args, **kwargs):
        if d.authentication.is_authenticated():
            type(d).do_wait_suspend(d, thread, *args, **kwargs)
        else:
            internal_run_thread(thread, d.set_additional_thread_info)

    d.do_wait_suspend = wait

def listen_anew(worker, lock, listening):
    try:
        api.listen.called = False
        with pydevd.skip_subprocess_arg_patch():
            port = debugpy.listen((worker.node_ip_address, 0))[1]
        worker.set_debugger_port(port)
    finally:
        lock.release()
        listening.set()

def rescue(d, worker, lock):
    listening = threading.Event()
    once = threading.Lock()

    def dispose(*args, **kwargs):
        lost = threading.current_thread() in (d.reader, d.writer) and not d.pydb_disposed
        if lost:
            if not once.acquire(blocking=False):
                # The reader and the writer can both find out at once. A second port would lead to no debugger.
                return
            lock.acquire()
            # What steps would stop again at its first line under the new debugger, before a client has come.
            resume_threads('*')
        try:
            type(d).dispose_and_kill_all_pydevd_threads(d, *args, **kwargs)
        finally:
            if lost:
                thread = threading.Thread(target=listen_anew, args=(worker, lock, listening), daemon=True)
                thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
                thread.start()
                d._on_configuration_done_event.set()

    def block(*args, **kwargs):
        type(d).block_until_configuration_done(d, *args, **kwargs)
        if d.pydb_disposed:
            listening.wait()
            anew = pydevd.get_global_debugger()
            if anew is not None:
                anew.block_until_configuration_done()

    d.dispose_and_kill_all_pydevd_threads = dispose
    d.block_until_configuration_done = block

stop_for_clients_only(d)
# A forked child has all of its parent's modules, but the port is the parent's.
if 'ray.util.debugpy' in sys.modules and not d.get_arg_ppid():
    ray = sys.modules['ray']
    rescue(d, ray._private.worker.global_worker, ray.util.debugpy.debugger_port_lock)
"""

ENTER = f"exec({_SOURCE!r}, {{'d': d}})"
"""An expression to be evaluated where `d` is the debugger."""

LEAVE = (
    "d.__dict__.pop('dispose_and_kill_all_pydevd_threads', None)",
    "d.__dict__.pop('block_until_configuration_done', None)",
)
