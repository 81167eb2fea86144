"""What is changed in a worker while it is debugged. Only pydevd's own objects are touched, and all is undone but for
one cover that does nothing while a debugger is there (rescue.py).

Always: a notification for each thread, not one for all, so that each stop of a threaded actor is seen exactly once.
debugpy can do that since 1.8.21 (stopAllThreadsOnSuspend). Before, its factory of messages has none for a single
thread, but one for all that names the thread, so that takes its place.

Unless the user says otherwise, what makes it answer and step at once. Measured with debugpy 1.8: a message of pydevd
goes out in two parts, and without TCP_NODELAY the second waits 40 ms for the acknowledgement of the first. And a
suspended thread waits on after it has taken the command that lets it run, until somebody sets its event or a poll of
0.2 s ends (pydevd.py, _do_wait_suspend). pydevd means to set it, but with several threads it sets that of any of them
(pydevd_additional_thread_info_regular.py, _update_stepping_info: a loop's variable takes the place of the argument), so
steps in Ray workers took up to 0.2 s. Now every command for a thread ends by setting the event of that thread. debugpy
before 1.8.6 has no such event: there a suspended thread polls every 10 ms.

With it comes what keeps a worker reachable whose debugger dies (rescue.py).

Methods of the one debugger object are covered, not those of its class, so uncovering them undoes it. Every expression
gives None, because older debugpys print whatever else an evaluate gives.
"""

from raydap.core import rescue

DEBUGGER = "__import__('pydevd').get_global_debugger()"

CAN_WAKE = "hasattr(d, 'get_internal_queue_and_event')"
"""Whether `d`, a debugger of pydevd, has an event for each suspended thread."""

_SUSPEND = "make_thread_suspend_message"
_REPORT = (
    f"type(d.cmd_factory).{_SUSPEND}.__code__.co_argcount > 1 or "
    f"setattr(d.cmd_factory, '{_SUSPEND}', lambda d, thread, frames, reason, *a, **k: "
    "d.cmd_factory.make_thread_suspend_single_notification(d, thread, "
    "__import__('threading').current_thread(), reason))"
)
_POST = "post_method_as_internal_command"
_WAKE = (
    f"{CAN_WAKE} and setattr(d, '{_POST}', lambda thread, method, *a, **k: type(d).{_POST}(d, thread, lambda *b, **c: "
    "(method(*b, **c), d.get_internal_queue_and_event(thread)[1].set()), *a, **k))"
)


def enter(tuned: bool) -> str:
    """What to evaluate in a worker at attach."""
    return _change("False", _REPORT, *([_nodelay(1), _WAKE, rescue.ENTER] if tuned else []))


def leave(tuned: bool) -> str:
    """What to evaluate before it is let go."""
    undone = [f"d.cmd_factory.__dict__.pop('{_SUSPEND}', None)", f"d.__dict__.pop('{_POST}', None)"]
    return _change("True", *undone, *([_nodelay(0), *rescue.LEAVE] if tuned else []))


def _change(single: str, *more: str) -> str:
    changes = ", ".join([f"setattr(d, 'multi_threads_single_notification', {single})", *more])
    return f"(lambda d: ({changes}) and None)({DEBUGGER})"


def _nodelay(value: int) -> str:
    return f"(lambda s: d.writer.sock.setsockopt(s.IPPROTO_TCP, s.TCP_NODELAY, {value}))(__import__('socket'))"
