"""Tells clients of stops; VS Code at the pace at which it reads them.

VS Code asks for the threads and the stack of each stop, wherever its user looks. It handles one answer in 4 ms, in the
order in which they come, and its call stack waits for that of the selected thread (docs/performance.md). When hundreds
of workers stop at once, this answer would come after all others, seconds later, and all that the call stack has put off
until then would block the window. So VS Code gets a further stop when it has asked for the stack of an earlier one.
"""

from raydap.core.model.client import Client
from raydap.core.model.state import State
from raydap.core.model.worker import Thread

MAX_UNREAD = 8
"""Stops that a client is sent before it has asked for a stack."""

PATIENCE_S = 2.0
"""Seconds for which stops wait without a request for a stack. The client then gets all stops at once, until it asks."""


def announce(state: State, client: Client, thread: Thread) -> None:
    """The thread has stopped. The client is told now, or when it has read earlier stops."""
    view = client.view
    view.seen.discard(thread.handle)
    if client.reads_all and len(view.unread) >= MAX_UNREAD:
        if not view.waiting:
            view.waiting_since = state.now
        view.waiting[thread.handle] = thread
    else:
        tell(client, thread)


def tell(client: Client, thread: Thread) -> None:
    """Sends a stop to one client. The focus stays where the user looks, unless that thread runs without a step."""
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


def read(state: State, client: Client, thread: Thread) -> None:
    """The client asks for the stack of a thread. The worker may be slow to answer; nobody waits for that."""
    client.view.unread.discard(thread.handle)
    client.view.waiting_since = state.now
    client.reads_all = client.is_vscode
    tell_waiting(client)


def tell_waiting(client: Client) -> None:
    """Sends the stops that wait, as many as the client may have."""
    view = client.view
    while view.waiting and not (client.reads_all and len(view.unread) >= MAX_UNREAD):
        tell(client, next(iter(view.waiting.values())))


def examine(state: State) -> None:
    """Lets no stop wait for long. Called at every Tick."""
    for client in state.ready_clients():
        if client.view.waiting and state.now - client.view.waiting_since >= PATIENCE_S:
            client.reads_all = False
        tell_waiting(client)
