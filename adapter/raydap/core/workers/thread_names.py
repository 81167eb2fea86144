"""Names of stopped threads that become known late: when a client hears of them.

`thread started` is sent once more for the thread, because an editor then asks for names again. Two things must not be:

- No `invalidated`: VS Code would show every stop anew, and move the user away from the current one.
- No `thread started` before the client has shown the stop: VS Code drops the stop of a thread that it is just looking
  at (workbench/contrib/debug/browser/debugSession.ts, onDidThread cancels what handleStop has begun), and the user sees
  a thread that runs. VS Code asks for the top frame first, and for the other frames when it has shown it.
"""

from raydap.core.model.client import Client
from raydap.core.model.worker import Thread
from raydap.protocol.types import Handle


def changed(client: Client, thread: Thread) -> None:
    """The client hears of it now, or else when it has shown the stop."""
    if thread.handle not in client.view.threads:
        return
    client.view.renamed.add(thread.handle)
    if thread.handle in client.view.seen:
        _tell(client, thread.handle)


def listed(client: Client) -> None:
    """The client has got all names."""
    client.view.renamed.clear()


def shown(client: Client, handle: Handle) -> None:
    """The client has the stack of a thread that is stopped."""
    client.view.seen.add(handle)
    if handle in client.view.renamed:
        _tell(client, handle)


def _tell(client: Client, handle: Handle) -> None:
    client.view.renamed.discard(handle)
    if "supportsInvalidatedEvent" in client.supports:
        client.event("thread", {"reason": "started", "threadId": handle})
