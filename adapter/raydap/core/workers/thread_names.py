"""Notification of clients when the name of a stopped thread changes.

The client receives `thread started` once more for the thread, because an editor then requests the names again. There
are two things to avoid:

- `invalidated`: VS Code would show every stop anew, and move the user away from the current one.
- `thread started` before the client has shown the stop: VS Code drops the stop of a thread at which it is just looking
  (workbench/contrib/debug/browser/debugSession.ts, onDidThread cancels what handleStop has begun), and the user sees a
  running thread. VS Code requests the top frame first, and the other frames when it has shown the top frame.
"""

from raydap.core.model.client import Client
from raydap.core.model.worker import WorkerThread
from raydap.protocol.types import Handle


def changed(client: Client, thread: WorkerThread) -> None:
    """Notify a client of the new name of a thread, now or once the client has shown the stop."""
    if thread.handle not in client.view.threads:
        return
    client.view.renamed.add(thread.handle)
    if thread.handle in client.view.seen:
        _send(client, thread.handle)


def listed(client: Client) -> None:
    """Note that a client has received all names, so that it needs no notification."""
    client.view.renamed.clear()


def shown(client: Client, handle: Handle) -> None:
    """Note that a client has the stack of a stopped thread, and notify it of a new name."""
    client.view.seen.add(handle)
    if handle in client.view.renamed:
        _send(client, handle)


def _send(client: Client, handle: Handle) -> None:
    client.view.renamed.discard(handle)
    if "supportsInvalidatedEvent" in client.supports:
        client.event("thread", {"reason": "started", "threadId": handle})
