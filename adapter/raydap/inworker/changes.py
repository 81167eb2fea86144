"""The changes to a worker while it is debugged; runs in the worker.

Methods are overridden on pydevd's debugger object, not on its class, so that removing an override undoes it. `leave`
undoes all changes but four:

- stop_for_clients_only (relisten.py) has no effect while a client is connected.
- stop_in_forked_children (forked_children.py) acts only in forked children.
- trace_actor_threads (actor_threads.py) acts only while raydap debugs the process.
- keep_exceptions_picklable (post_mortem.py) allows unpickling exceptions that pydevd has tagged.

The second and the third change an object of Ray.

The design is in docs/design/tuning.md.
"""

import socket
from typing import Any

from .actor_threads import trace_actor_threads
from .answers import (
    answer_commands,
    answer_commands_no_more,
    refuse_bad_requests,
    refuse_bad_requests_no_more,
)
from .forked_children import stop_in_forked_children
from .message_limit import MessageLimit
from .post_mortem import PostMortem, keep_exceptions_picklable
from .redirected_output import keep_redirectors, keep_redirectors_no_more
from .relisten import OVERRIDDEN, relisten_when_lost, stop_for_clients_only
from .resumed_frames import trace_resumed_frames, trace_resumed_frames_no_more
from .stuck_adapter import SEND_TIMEOUT_S, end_stuck_adapter, set_send_timeout
from .thread_control import ThreadControl
from .thread_identity import keep_one_thread_object, keep_one_thread_object_no_more
from .time_limits import LimitedValues, TimeLimits
from .traced_files import TracedFiles


class Changes:
    """The changes to one debugger object of pydevd, whose attribute `raydap` this object becomes.

    A process that is attached again gets a new one, with the same debugger object or another.
    """

    def __init__(self, debugger: Any, package: Any = None) -> None:
        self.debugger = debugger
        self.package = package
        """The package of these modules in the worker (calls.py), which `leave` removes. None: it stays."""
        self.limits = TimeLimits(lambda: debugger.pydb_disposed or not debugger.authentication.is_authenticated())
        self.values = LimitedValues(self.limits)
        self.threads = ThreadControl(debugger, self.limits)
        self.files = TracedFiles(debugger)
        self.limit = MessageLimit(debugger.writer)
        self.post_mortem = PostMortem(debugger)
        self.arrays: Any = None
        """An ArrayValues, None until variables are listed (`show_arrays`)."""

    def enter(self, tune: bool) -> None:
        """Make the changes; with `tune`, also the changes for speed and for workers that lose their debugger.

        Always: each thread reports its own stops, a step survives a stop for an exception, every request is answered,
        and no message is too long.

        With `tune`: the worker answers and steps at once, and stays reachable when its debugger dies.
        """
        # This comes first: single threads can be resumed even if something below fails.
        self.debugger.raydap = self
        # One notification for each thread, so that each stop of a threaded actor is reported exactly once.
        self.debugger.multi_threads_single_notification = False
        self.threads.override()
        self.limit.override()
        answer_commands(self.debugger, self.limits, wake=tune)
        self.values.override()
        refuse_bad_requests(self.debugger)
        self.files.override()
        self.post_mortem.override()
        keep_redirectors()
        has_adapter = getattr(self.debugger, "has_adapter", True)
        if has_adapter:
            # With an agent, these changes are made already (pydevd_lifetime.py, worker_setup.py).
            trace_actor_threads()
            keep_one_thread_object()
            trace_resumed_frames()
        if tune:
            set_nodelay(self.debugger, 1)
            stop_for_clients_only(self.debugger)
            if has_adapter:
                end_stuck_adapter(self.debugger)
                relisten_when_lost(self.debugger)
            else:
                set_send_timeout(self.debugger, SEND_TIMEOUT_S)
        stop_in_forked_children()
        keep_exceptions_picklable()

    def show_arrays(self, arrays: Any) -> None:
        """Show large arrays through `arrays`, an ArrayValues (array_values.py).

        Its code is sent when variables are first listed: it is half as long as that of `enter`, and the variables of
        most workers are never listed.
        """
        arrays.override()
        self.arrays = arrays

    def leave(self, tune: bool) -> None:
        """Undo `enter` and `show_arrays`."""
        if self.arrays is not None:
            self.arrays.restore()
        self.debugger.multi_threads_single_notification = True
        self.threads.restore()
        self.files.restore()
        self.limit.restore()
        answer_commands_no_more(self.debugger)
        self.values.restore()
        self.limits.hurry()
        refuse_bad_requests_no_more(self.debugger)
        self.post_mortem.restore()
        keep_redirectors_no_more()
        if getattr(self.debugger, "has_adapter", True):
            trace_resumed_frames_no_more()
            keep_one_thread_object_no_more()
        for name in ("raydap", *OVERRIDDEN):
            vars(self.debugger).pop(name, None)
        if tune:
            set_nodelay(self.debugger, 0)
            set_send_timeout(self.debugger, 0)
        if self.package is not None:
            self.package.remove(self.package.__name__)


def set_nodelay(debugger: Any, value: int) -> None:
    """Set TCP_NODELAY to 0 or 1. With 1, each message of pydevd is sent at once.

    pydevd sends a message in two parts. Without TCP_NODELAY the second waits 40 ms for the acknowledgement of the first
    (measured with debugpy 1.8). An agent has a Unix socket, which acknowledges nothing.
    """
    connection = debugger.writer.sock
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, value)
