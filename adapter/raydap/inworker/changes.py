"""The changes to a worker while it is debugged; runs in the worker.

Methods are overridden on pydevd's debugger object, not on its class. `leave` restores them. The table in
replaced_functions.py shows which functions stay, and why.

The design is in docs/design/tuning.md.
"""

import socket
from typing import Any

from .actor_threads import trace_actor_threads
from .answers import answer_commands, refuse_bad_requests
from .forked_children import stop_in_forked_children
from .message_limit import MessageLimit
from .post_mortem import PostMortem, keep_exceptions_picklable
from .redirected_output import keep_redirectors
from .relisten import relisten_when_lost, stop_for_clients_only
from .replaced_functions import DETACHING, PYDEVD_ENDED, restore
from .resumed_frames import trace_resumed_frames, trace_resumed_frames_no_more
from .stuck_adapter import SEND_TIMEOUT_S, end_stuck_adapter, set_send_timeout
from .thread_control import ThreadControl
from .thread_identity import keep_one_thread_object
from .time_limits import TimeLimits, limit_values
from .traced_files import forget_file_types, trace_files_of_program


class Changes:
    """The changes to one debugger object of pydevd, whose attribute `raydap` this object becomes.

    A process that is attached again gets a new one, with the same debugger object or another.
    """

    def __init__(self, debugger: Any, package: Any = None) -> None:
        self.debugger = debugger
        self.package = package
        """The package of these modules in the worker (calls.py), which `leave` removes. None: it stays."""
        self.limits = TimeLimits(lambda: debugger.pydb_disposed or not debugger.authentication.is_authenticated())
        self.threads = ThreadControl(debugger, self.limits)
        self.limit = MessageLimit(debugger)
        self.post_mortem = PostMortem(debugger)

    def enter(self, tune: bool) -> None:
        """Make the changes; with `tune`, also the changes for speed and for workers that lose their debugger.

        Always: each thread reports its own stops, a step survives a stop for an exception, every request is answered,
        and no message is too long.

        With `tune`: the worker answers and steps at once, and stays reachable when its debugger dies.
        """
        # This comes first: single threads can be resumed even if something below fails.
        self.debugger.raydap = self
        self._forget_calls()  # A raydap that was killed has left them.
        # One notification for each thread, so that each stop of a threaded actor is reported exactly once.
        self.debugger.multi_threads_single_notification = False
        self.threads.override()
        self.limit.override()
        answer_commands(self.debugger, self.limits, wake=tune)
        limit_values(self.limits)
        refuse_bad_requests(self.debugger)
        trace_files_of_program(self.debugger, self.post_mortem.shown)
        self.post_mortem.override()
        keep_redirectors()
        has_adapter = getattr(self.debugger, "has_adapter", True)
        if has_adapter:
            # With an agent, these changes are made already (pydevd_lifetime.py, worker_setup.py).
            trace_actor_threads()
            keep_one_thread_object()
            trace_resumed_frames()
            stop_in_forked_children()
        if tune:
            set_nodelay(self.debugger, 1)
            stop_for_clients_only(self.debugger)
            if has_adapter:
                end_stuck_adapter(self.debugger)
                relisten_when_lost(self.debugger)
            else:
                set_send_timeout(self.debugger, SEND_TIMEOUT_S)
        keep_exceptions_picklable()

    def show_arrays(self, arrays: Any) -> None:
        """Show large arrays through `arrays`, an ArrayValues (array_values.py).

        Its code is sent when variables are first listed: it is half as long as that of `enter`, and the variables of
        most workers are never listed.
        """
        arrays.override()

    def leave(self, tune: bool) -> None:
        """Undo `enter` and `show_arrays`."""
        self.debugger.multi_threads_single_notification = True
        restore(self.debugger, DETACHING)
        forget_file_types()
        self.limits.hurry()
        if getattr(self.debugger, "has_adapter", True):
            trace_resumed_frames_no_more()
            restore(self.debugger, PYDEVD_ENDED)
        vars(self.debugger).pop("raydap", None)
        self._forget_calls()
        if tune:
            set_nodelay(self.debugger, 0)
            set_send_timeout(self.debugger, 0)
        if self.package is not None:
            self.package.remove(self.package.__name__)

    def _forget_calls(self) -> None:
        for name in ("raydap_steps", "raydap_calls"):  # followed_calls.py, call_sites.py.
            vars(self.debugger).pop(name, None)


def set_nodelay(debugger: Any, value: int) -> None:
    """Set TCP_NODELAY to 0 or 1. With 1, each message of pydevd is sent at once.

    pydevd sends a message in two parts. Without TCP_NODELAY the second waits 40 ms for the acknowledgement of the first
    (measured with debugpy 1.8). An agent has a Unix socket, which acknowledges nothing.
    """
    connection = debugger.writer.sock
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, value)
