"""Shows how far the attach to many workers is, to clients that can show it (spec: progressStart, Update, End)."""

from raydap.core.session import Progress, Session

MANY = 8
"""Fewer workers are attached before anybody could read it."""


def report(session: Session) -> None:
    """Called after every event."""
    left = len(session.waiting) + len(session.under_way)
    if session.progress is None:
        if left >= MANY:
            _start(session, left)
    elif left == 0:
        _tell(session.progress, "progressEnd", {})
        session.progress = None
    else:
        _update(session.progress, left)


def _start(session: Session, left: int) -> None:
    clients = [client for client in session.ready() if "supportsProgressReporting" in client.supports]
    session.progress = Progress(f"attach {session.ids.new()}", clients, left)
    _tell(session.progress, "progressStart", {"title": "Attaching to Ray workers", "message": f"{left} workers"})


def _update(progress: Progress, left: int) -> None:
    progress.most = max(progress.most, left)
    percentage = 100 * (progress.most - left) // progress.most
    if percentage != progress.shown:
        progress.shown = percentage
        message = f"{progress.most - left} of {progress.most} workers"
        _tell(progress, "progressUpdate", {"message": message, "percentage": percentage})


def _tell(progress: Progress, event: str, body: dict[str, object]) -> None:
    for client in progress.clients:
        client.event(event, {"progressId": progress.id, **body})
