"""Which workers are attached: what discovery finds, what the filters let through, and how many at a time."""

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from raydap.core.errors import Code, Problem, sentence
from raydap.core.events import (
    AskFate,
    DescribeWorkers,
    HangUp,
    PausedWorker,
    WorkerGone,
    WorkersCrashed,
    WorkersDescribed,
    WorkersPaused,
)
from raydap.core.handshake import REST, dial, forget, give_up, let_go
from raydap.core.session import Candidate, Session
from raydap.core.settings import AttachSettings
from raydap.core.workers import Stage, Worker
from raydap.protocol.types import Handle, WorkerKey

AT_ONCE = 32
"""Handshakes under way at a time: each is little work, but in as many processes."""

ASK_AGAIN = 10.0
"""Seconds until Ray is asked again for labels that a filter needs; its task list lags about one second."""


def paused(session: Session, event: WorkersPaused) -> None:
    """A snapshot of what waits for a debugger. Workers that are ours already may still be in it for a moment."""
    listed = {row.key: row for row in event.workers}
    for listing in (session.failures, session.candidates):
        for key in [key for key in listing if key not in listed]:
            del listing[key]
            session.changed[key] = None
    session.left = {key: since for key, since in session.left.items() if session.now < since + REST}
    fresh = []
    for key, row in listed.items():
        held = session.workers.get(key)
        if key in session.candidates or (held is not None and not held.leaving):
            continue
        failure = session.failures.get(key)
        if failure is not None and failure.row.port == row.port and session.now < failure.retry_at:
            continue
        if _on_node(session.settings, row):
            session.candidates[key] = Candidate(row, session.now + ASK_AGAIN)
            session.waiting[key] = None
            session.changed[key] = None
            fresh.append(row)
    _describe(session, fresh)


def ask_again(session: Session) -> None:
    """Workers that the filters cannot judge stay paused: Ray is asked again, and the user is told once.

    Called with every tick, so here all candidates are looked at again: some have had their rest by now.
    """
    session.look_again()
    filtered = session.settings is not None and session.settings.needs_labels
    late = [
        candidate.row
        for key, candidate in session.candidates.items()
        if filtered and key not in session.labels and candidate.ask_at <= session.now
    ]
    for row in late:
        session.candidates[row.key] = Candidate(row, session.now + ASK_AGAIN)
    _describe(session, late)
    if late:
        text = "Ray does not say yet what some paused workers run, so the filters cannot choose them; they stay paused."
        session.report_once(Problem(Code.FILTER_UNKNOWN, text))


def _describe(session: Session, rows: list[PausedWorker]) -> None:
    ours = tuple(row for row in rows if row.worker_type != "TARGET")
    if ours:
        session.emit(DescribeWorkers(ours))


def fill(session: Session) -> None:
    """Begins as many handshakes as may run at a time. Called after every event: a candidate that cannot be attached now
    is not looked at again before something has changed."""
    settings = session.settings
    if not session.configured or settings is None:
        return
    while session.waiting and len(session.under_way) < AT_ONCE:
        key = next(iter(session.waiting))
        candidate = session.candidates.get(key)
        chosen = session.choices.get(key)
        if candidate is None or _leaves(session, key) or not _wanted(session, settings, candidate.row, chosen):
            del session.waiting[key]
            continue
        if not chosen and settings.max_workers is not None and _held(session) >= settings.max_workers:
            text = f"maxWorkers allows {settings.max_workers} workers at a time; the others wait until one is gone."
            session.report_once(Problem(Code.TOO_MANY_WORKERS, text))
            session.waiting.clear()
            return
        del session.waiting[key], session.candidates[key]
        row = candidate.row
        worker = Worker(row, settings, session.ids, session.pending, session.emit)
        worker.label = session.labels.get(row.key, worker.label)
        session.workers[row.key] = worker
        dial(session, worker)


def _held(session: Session) -> int:
    return sum(not worker.leaving for worker in session.workers.values())


def _leaves(session: Session, key: WorkerKey) -> bool:
    """Whether the debugger of a paused worker has not got over its last client yet."""
    return key in session.workers or (key in session.left and session.now < session.left[key] + REST)


def child(session: Session, parent: Worker, body: dict[str, Any]) -> None:
    """A subprocess of a worker waits until somebody attaches to it, so it is attached at once, beyond all limits, and
    also if that is only to let it go.

    Source: debugpy/adapter/clients.py, notify_of_subprocess. The address in the event is as seen on the worker's node;
    it is the one by which the parent was reached.
    """
    pid = body.get("subProcessId")
    key = WorkerKey(f"{parent.key}/{pid}")
    if type(pid) is int and key not in session.workers:
        row = replace(parent.row, key=key, pid=pid, worker_type="CHILD")
        worker = Worker(row, parent.settings, session.ids, session.pending, session.emit, parent)
        worker.leaving = parent.leaving
        session.workers[key] = worker
        dial(session, worker)


def detach(session: Session, key: WorkerKey) -> None:
    """Lets one worker go, for whom the session was told not to attach to it again."""
    worker = session.workers.get(key)
    if worker is None or worker.leaving:
        return
    let_go(session, worker)
    if worker.row.worker_type == "TARGET":
        # Targets are found only once, and whoever lets one go may want it back.
        session.candidates[key] = Candidate(worker.row, session.now)


def described(session: Session, event: WorkersDescribed) -> None:
    """Ray's lists say (more of) what workers run. Names of shown threads may change by it.

    An editor asks for names again when a thread starts, so those are said to start once more. `invalidated` would say
    it better, but VS Code then shows every stop anew, and takes the user away from where he was looking.
    """
    renamed: list[Handle] = []
    for key, label in event.labels.items():
        if session.labels.get(key) != label:
            session.labels[key] = label
            session.changed[key] = None
        if key in session.candidates:
            session.waiting[key] = None
        worker = session.workers.get(key)
        if worker is not None and worker.label != label:
            worker.label = label
            renamed += (thread.handle for thread in worker.threads.values() if thread.handle in session.stopped)
    for client in session.ready():
        if "supportsInvalidatedEvent" in client.supports:
            for handle in renamed:
                if handle in client.threads:
                    client.event("thread", {"reason": "started", "threadId": handle})


def gone(session: Session, worker: Worker, event: WorkerGone, ended: bool = False) -> None:
    """The connection to a worker ended, or never came about. `ended`: it is known that its process has."""
    where = f"{worker.row.host}:{worker.row.port}"
    if worker.leaving:
        forget(session, worker, "is gone")
    elif worker.stage is Stage.ATTACHED:
        session.ends[worker.key] = ""
        if any(thread.handle in session.stopped for thread in worker.threads.values()):
            text = _end_of_stop(worker, event.reason, ended)
            session.ends[worker.key] = text
            session.report(Problem(Code.WORKER_GONE, text))
        elif worker.row.worker_type in ("WORKER", "DRIVER"):
            session.emit(AskFate(worker.row))
        forget(session, worker, "is gone")
    elif event.refused:
        text = f"Nothing listens on the debug port {where} of {worker}: its debugger died."
        give_up(session, worker, Problem(Code.WORKER_REFUSED, text))
    elif worker.stage is Stage.DIALLING:
        text = f"{where} cannot be reached ({event.reason}); run raydap where it can, for example on the head node."
        give_up(session, worker, Problem(Code.WORKER_UNREACHABLE, text))
    else:
        text = f"The attach to {worker} was cut off ({event.reason}); it has ended, or another debugger holds it."
        give_up(session, worker, Problem(Code.WORKER_BUSY, text))


def _end_of_stop(worker: Worker, reason: str, ended: bool) -> str:
    """What the user is told whose stopped worker cannot be looked at any more.

    debugpy says when its process ends, even when that is killed. Without that word the debugger has died or the way to
    it broke. A worker without a debugger runs on; a Ray worker then waits at its next `breakpoint()`.
    """
    if ended:
        return sentence(f"The stopped {worker} is gone ({reason}); the other workers go on.")
    text = f"The debugger of the stopped {worker} is lost ({reason}): the worker, if it lives, runs on"
    if worker.row.worker_type in ("WORKER", "DRIVER"):
        text += " and can stop here again at its next breakpoint()"
    return sentence(f"{text}; the other workers go on.")


def crashed(session: Session, event: WorkersCrashed) -> None:
    """Workers that ran are gone, and Ray says that they should not be. One message, because whole nodes die too."""
    for row, reason in zip(event.workers, event.reasons, strict=True):
        session.ends[row.key] = reason
        session.changed[row.key] = None
    first, more = event.workers[0], len(event.workers) - 1
    others = f" and {more} other worker{'s' * (more > 1)} are" if more else " is"
    reason = " ".join(event.reasons[0].split()).partition(". ")[0].rstrip(".")
    text = f"The running worker {first.pid} on {first.node}{others} gone: {reason}."
    session.report(Problem(Code.WORKER_GONE, text, "; ".join(event.reasons)))


def terminated(session: Session, worker: Worker) -> None:
    """The process has ended, and its adapter waits for us to hang up.

    A `disconnect` now would sometimes end the adapter, which may serve the process's parent too.
    """
    session.emit(HangUp(worker.key))
    gone(session, worker, WorkerGone(worker.key, "its process has ended"), ended=True)


def _on_node(settings: AttachSettings | None, row: PausedWorker) -> bool:
    wanted = settings.node if settings is not None else None
    return wanted is None or any(fnmatchcase(name, wanted) for name in (row.node, row.node_id, row.host))


def _wanted(session: Session, settings: AttachSettings, row: PausedWorker, chosen: bool | None) -> bool:
    """Whether a worker is to be attached: as the user has chosen, else if the filters that need Ray's labels let it
    through. Until its labels are known, it stays paused."""
    if chosen is not None or not session.auto_attach:
        return chosen is True
    if not settings.needs_labels:
        return True
    label = session.labels.get(row.key)
    if label is None:
        return False
    return (
        _any(settings.job, label.job, label.submission)
        and _any(settings.actor, label.actor, label.actor_name)
        and _any(settings.task, label.task, label.task.rpartition(".")[2])
    )


def _any(pattern: str | None, *names: str) -> bool:
    return pattern is None or any(name and fnmatchcase(name, pattern) for name in names)
