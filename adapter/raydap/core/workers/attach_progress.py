"""Progress of the attach to many workers, for clients that can show it (spec: progressStart, Update, End)."""

from raydap.core.model.run import AttachProgress
from raydap.core.model.state import State

MANY = 8
"""The smallest number of workers for which progress is shown. An attach to fewer ends before a user can read it."""


def report(state: State) -> None:
    """Send the progress to the clients if it has changed.

    Called after every event.
    """
    left = len(state.run.processes.queue) + len(state.attaching)
    progress = state.run.progress
    if progress is None:
        if left >= MANY:
            _start(state, left)
    elif left == 0:
        _send(state, progress, "progressEnd", {})
        state.run.progress = None
    else:
        _update(state, progress, left)


def _start(state: State, left: int) -> None:
    clients = [client.id for client in state.ready_clients() if "supportsProgressReporting" in client.supports]
    progress = state.run.progress = AttachProgress(f"attach {state.handles.new()}", clients, left)
    _send(state, progress, "progressStart", {"title": "Attaching to Ray workers", "message": f"{left} workers"})


def _update(state: State, progress: AttachProgress, left: int) -> None:
    progress.most = max(progress.most, left)
    percentage = 100 * (progress.most - left) // progress.most
    if percentage != progress.percentage:
        progress.percentage = percentage
        message = f"{progress.most - left} of {progress.most} workers"
        _send(state, progress, "progressUpdate", {"message": message, "percentage": percentage})


def _send(state: State, progress: AttachProgress, event: str, body: dict[str, object]) -> None:
    for key in progress.clients:
        client = state.clients.get(key)
        if client is not None:
            client.event(event, {"progressId": progress.id, **body})
