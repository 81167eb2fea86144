"""The changes to a worker while it is debugged; runs there.

Methods are overridden on pydevd's one debugger object, not in its class, so that taking an override away undoes it.
`leave` undoes all but four: one does nothing while a debugger is there (relisten.py), one acts only in forked children
(forked_children.py), one only while raydap debugs the process (actor_threads.py), and one lets exceptions be unpickled
that pydevd has tagged (post_mortem.py). The second and the third touch an object of Ray.
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
    """The changes to `debugger`, an object of pydevd, whose attribute `raydap` this becomes.

    A process that is attached again gets a new one, with the same debugger object or with another.
    """

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.limits = TimeLimits(lambda: debugger.pydb_disposed or not debugger.authentication.is_authenticated())
        self.values = LimitedValues(self.limits)
        self.threads = ThreadControl(debugger, self.limits)
        self.files = TracedFiles(debugger)
        self.limit = MessageLimit(debugger.writer)
        self.post_mortem = PostMortem(debugger)
        self.arrays: Any = None

    def enter(self, tune: bool) -> None:
        """Always: each thread reports its own stops, steps are kept at stops for exceptions, every request is answered,
        and no message is too long.

        With `tune`: what makes the worker answer and step at once, and what keeps it reachable when its debugger dies.
        """
        # This comes first: single threads can be resumed even if something below fails.
        self.debugger.raydap = self
        # A notification for each thread, not one for all: so each stop of a threaded actor is seen exactly once.
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
            # An agent has done these (pydevd_lifetime.py).
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
        """Takes an ArrayValues (array_values.py), which comes when variables are first listed: it is as long as half of
        `enter`, and most workers are never looked into."""
        arrays.override()
        self.arrays = arrays

    def leave(self, tune: bool) -> None:
        """Undoes `enter` and `show_arrays`."""
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


def set_nodelay(debugger: Any, value: int) -> None:
    """With 1, a message of pydevd goes out at once.

    It goes out in two parts, and without TCP_NODELAY the second waits 40 ms for the acknowledgement of the first
    (measured with debugpy 1.8). A Unix socket, which an agent has, acknowledges nothing.
    """
    connection = debugger.writer.sock
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, value)
