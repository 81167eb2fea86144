"""Notification of clients about stops; VS Code receives stops only as fast as it handles them.

VS Code requests the threads and the stack of each stop, wherever its user looks. It handles one answer in 4 ms, in the
order of arrival, and its call stack waits for the answer about the selected thread (docs/performance.md). When hundreds
of workers stop at once, this answer would come after all others, seconds later, and all that the call stack has put off
until then would block the window. So VS Code receives another stop only when it has requested the stack of an earlier
one.
"""

from raydap.core.model.client import Client
from raydap.core.model.state import State
from raydap.core.model.worker import WorkerThread

MAX_UNREAD = 8
"""The number of stops that a client is sent before it has requested a stack."""

PATIENCE_S = 2.0
"""Seconds for which stops wait without a request for a stack. After that, the client receives all stops at once, until
it requests a stack again."""


def announce(state: State, client: Client, thread: WorkerThread) -> None:
    """Notify a client that a thread has stopped, now or when the client has read earlier stops."""
    view = client.view
    view.seen.discard(thread.handle)
    if client.reads_all and len(view.unread) >= MAX_UNREAD:
        if not view.waiting:
            view.waiting_since = state.now
        view.waiting[thread.handle] = thread
    else:
        send_stop(client, thread)


def send_stop(client: Client, thread: WorkerThread) -> None:
    """Send a stop to one client.

    The client's focus moves to this thread, unless the focused thread is stopped or in the middle of a step.
    """
    view = client.view
    focus = view.focus
    elsewhere = focus is not None and focus is not thread and (focus.is_held or focus.stepping)
    if not elsewhere:
        view.focus = thread
    view.waiting.pop(thread.handle, None)
    view.unread.add(thread.handle)
    view.seen.discard(thread.handle)
    if thread.handle not in view.threads:
        view.threads.add(thread.handle)
        client.event("thread", {"reason": "started", "threadId": thread.handle})
    client.event("stopped", {**thread.stopped, "preserveFocusHint": elsewhere})


def read(state: State, client: Client, thread: WorkerThread) -> None:
    """Note that a client has requested the stack of a thread, and send it further stops.

    The worker may be slow to answer; the further stops do not wait for that.
    """
    client.view.unread.discard(thread.handle)
    client.view.waiting_since = state.now
    client.reads_all = client.is_vscode
    send_waiting(client)


def send_waiting(client: Client) -> None:
    """Send a client the stops that wait, as many as it may have unread."""
    view = client.view
    while view.waiting and not (client.reads_all and len(view.unread) >= MAX_UNREAD):
        send_stop(client, next(iter(view.waiting.values())))


def examine(state: State) -> None:
    """Send the stops that have waited too long.

    Called at every Tick.
    """
    for client in state.ready_clients():
        if client.view.waiting and state.now - client.view.waiting_since >= PATIENCE_S:
            client.reads_all = False
        send_waiting(client)
