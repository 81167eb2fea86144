"""Threads that are to pause but cannot, and where they are; runs in the worker.

pydevd stops a thread at its next line of Python. A thread in a lock, in `ray.get` or in native code reaches none before
that call returns, so its pause stays pending. Its position can be shown anyway (stack_reader.py).
"""

import time
from collections.abc import Collection, Iterable
from typing import Any

from .stack_reader import as_json, read_coroutines, read_stacks

STOP_TIMEOUT_S = 0.2
"""Seconds for a thread that runs Python code to stop, which takes 5 to 60 ms (measured)."""


def blocked_threads(debugger: Any, threads: Collection[int], held: Collection[int]) -> str:
    """Return the stacks of the threads that have not stopped, as JSON.

    `threads` are ids of DAP; if there are none, all threads of the process are to pause. `held` are the threads that
    raydap knows to be stopped. In the result, each thread has its `id` in addition to the fields of read_stacks.

    Without `threads`, the result contains the threads that run the user's code themselves or in a coroutine. If there
    are none, and no thread has stopped, it contains the main thread. The pause of every other thread is cancelled: the
    thread would stop much later, when the user does not expect it.
    """
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    deadline = time.monotonic() + STOP_TIMEOUT_S
    _report_again(debugger, threads, held)
    while (pending := _pending(debugger, threads)) and time.monotonic() < deadline:
        time.sleep(0.01)
    stacks: dict[str, Any] = read_stacks(pending.values()) if pending else {"cwd": "", "threads": []}
    # Some threads may have stopped in the meantime.
    still = {ident: key for key, ident in _pending(debugger, threads).items()}
    stopped = {each["ident"] for each in stacks["threads"] if each["activity"] == "stopped"}
    blocked = [each for each in stacks["threads"] if each["ident"] in still and each["ident"] not in stopped]
    _show_coroutines(blocked)
    if not threads:
        has_stopped = bool(debugger.raydap.threads.waiting)
        users = [each for each in blocked if each["is_users"]]
        blocked = users or ([] if has_stopped else [each for each in blocked if each["main"]])
        # A thread that stops while it starts is stopped under another pydevd id, so it still seems to be pending.
        held = stopped.union(each["ident"] for each in blocked)
        _take_back(key for ident, key in still.items() if ident not in held)
    for each in blocked:
        each["id"] = BaseSchema._translate_id_to_dap(still[each["ident"]])
    return as_json({**stacks, "threads": blocked})


def _show_coroutines(threads: list[dict[str, Any]]) -> None:
    """Show the thread of an event loop at its oldest coroutine, if all coroutines of the loop wait.

    While they wait, the thread runs none of the user's code. The thread will continue in that coroutine.
    """
    loops = {each["ident"]: each for each in threads if not each["is_users"]}
    for coroutine in read_coroutines() if loops else ():
        thread = loops.pop(coroutine["ident"], None)
        if thread is not None:
            thread.update({key: coroutine[key] for key in ("activity", "frames", "user", "call", "is_users")})


def _pending(debugger: Any, threads: Collection[int]) -> dict[str, int]:
    """Return the idents of the threads that are to pause and have not stopped, by pydevd's ids."""
    from _pydevd_bundle.pydevd_constants import STATE_SUSPEND, get_thread_id
    from _pydevd_bundle.pydevd_utils import get_non_pydevd_threads

    control = debugger.raydap.threads
    wanted = {control._key(thread) for thread in threads}
    pending = {}
    for thread in get_non_pydevd_threads():
        key = get_thread_id(thread)
        if (wanted and key not in wanted) or key in control.waiting:
            continue
        if debugger.set_additional_thread_info(thread).pydev_state == STATE_SUSPEND:
            pending[key] = thread.ident or 0
    return pending


def _report_again(debugger: Any, threads: Collection[int], held: Collection[int]) -> None:
    """Make stopped threads report their stops again, except those that raydap knows to be stopped.

    pydevd reports nothing for a thread that is continued and then paused before it has noticed the first. Each thread
    reports for itself, in the loop in which it waits, because only the thread itself can be sure that it stays there.
    """
    control = debugger.raydap.threads
    wanted = {control._key(thread) for thread in threads} or control.waiting
    known = {control._key(thread) for thread in held}
    for key, thread in list(control.waiting.items()):
        if key in wanted and key not in known:
            debugger.post_method_as_internal_command(key, _report_pause, key, thread)


def _report_pause(debugger: Any, key: str, thread: Any) -> None:
    """Report that this thread has stopped, always with a pause as the reason.

    raydap ignores a pause of a thread that has stopped (core/workers/stops.py). The thread may have reported its stop
    at a breakpoint already, and raydap may not have received that report yet.
    """
    from _pydevd_bundle.pydevd_comm_constants import CMD_THREAD_SUSPEND
    from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

    if debugger.set_additional_thread_info(thread).pydev_state == STATE_SUSPEND:
        message = debugger.cmd_factory.make_thread_suspend_single_notification(
            debugger, key, thread, CMD_THREAD_SUSPEND
        )
        debugger.writer.add_command(message)


def _take_back(keys: Iterable[str]) -> None:
    from _pydevd_bundle.pydevd_comm import resume_threads

    for key in keys:
        resume_threads(key)
