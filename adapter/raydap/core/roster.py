"""What clients are told of workers, whether attached or not: raydap/workers and its event (docs/requests.md).

Whoever changes something that is told marks the worker in `session.changed`; after each event only those are looked at.
"""

from collections.abc import Collection
from typing import Any

from raydap.core import fleet, views
from raydap.core.clients import Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.session import Entry, Session
from raydap.core.workers import Stage, Thread
from raydap.protocol.types import WorkerKey

REMEMBERED = 100
"""Workers that have ended whose last entry is kept: Ray says only some seconds later that one has crashed."""


def workers(session: Session, request: Request) -> None:
    """Answers with all, and sends the differences from now on."""
    request.respond(_told(session, session.roster.values()))
    request.client.watching = True


def report(session: Session) -> None:
    """Tells what has changed. Called after every event."""
    if not session.changed:
        return
    keys, session.changed = session.changed, {}
    entries = [entry for key in keys if (entry := _renew(session, key)) is not None]
    if entries:
        tell(session, entries)


def tell(session: Session, entries: Collection[Entry]) -> None:
    """Tells those who watch of some workers, or without any, whether the cluster answers."""
    watching = [client for client in session.clients.values() if client.watching and client.attached]
    if watching:
        body = _told(session, entries)
        for client in watching:
            client.event("raydap/workersChanged", body)


def attach(session: Session, request: Request) -> None:
    """Attaches to the workers that are named, or to all that are paused now or later."""
    keys = _keys(request)
    if keys is None:
        session.auto_attach = True
        session.choices.clear()
        session.look_again()
    else:
        _check(session, keys)
        session.choices.update(dict.fromkeys(keys, True))
        # Chosen ones go first: the others may have to wait for room.
        session.waiting = {key: None for key in keys if key in session.candidates} | session.waiting
    request.respond()


def detach(session: Session, request: Request) -> None:
    """Lets workers go; they are not attached again by themselves."""
    keys = _keys(request)
    if keys is None:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "workers" is missing: name those to let go.'))
    _check(session, keys)
    for key in keys:
        session.choices[key] = False
        fleet.detach(session, key)
    request.respond()


def _keys(request: Request) -> list[WorkerKey] | None:
    keys = request.arguments().get("workers")
    if keys is None:
        return None
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        text = 'The argument "workers" must be an array of keys, as raydap/workers tells them.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return [WorkerKey(key) for key in keys]


def _check(session: Session, keys: list[WorkerKey]) -> None:
    for key in keys:
        if key not in session.roster:
            raise ProblemError(Problem(Code.STALE_ID, f'There is no worker "{key}" any more; refresh the view.'))


def _renew(session: Session, key: WorkerKey) -> Entry | None:
    """Brings the entry of one worker up to date; None if there is nothing to tell."""
    before, end = session.roster.get(key), session.ends.pop(key, None)
    body = view(session, key)
    if body is not None:
        if before is not None and before.body == body:
            return None
        since = before.since if before is not None and before.body["state"] == body["state"] else session.now
        entry = session.roster[key] = Entry(since, body)
        return entry
    session.roster.pop(key, None)
    last = before or (None if end is None else session.departed.get(key))
    if last is None:
        return None
    state = "detached" if end is None else "gone"
    entry = session.departed[key] = Entry(
        session.now, {**last.body, "state": state, "threads": [], "problem": end or ""}
    )
    if len(session.departed) > REMEMBERED:
        del session.departed[next(iter(session.departed))]
    return entry


def view(session: Session, key: WorkerKey) -> dict[str, Any] | None:
    """What is to be told of a worker that is attached or could be; None of any other."""
    worker = session.workers.get(key)
    if worker is not None and not worker.leaving:
        threads = [_thread(thread) for thread in worker.threads.values() if thread.handle in session.stopped]
        state = "attaching" if worker.stage is not Stage.ATTACHED else "stopped" if threads else "running"
        origin = worker
        while origin.parent is not None:
            origin = origin.parent
        return _body(worker.row, origin.label, views.name(worker), state, threads)
    candidate, failure = session.candidates.get(key), session.failures.get(key)
    waits = candidate or failure
    if waits is None:
        return None
    label = session.labels.get(key, WorkerLabel())
    problem = failure.problem if failure is not None else ""
    return _body(waits.row, label, views.unattached(waits.row, label), "paused", [], problem)


def _body(
    row: PausedWorker, label: WorkerLabel, name: str, state: str, threads: list[dict[str, Any]], problem: str = ""
) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": name,
        "state": state,
        "type": row.worker_type.lower(),
        "pid": row.pid,
        "node": row.node,
        "nodeId": row.node_id,
        "job": label.job,
        "submission": label.submission,
        "actor": label.actor,
        "actorName": label.actor_name,
        "task": label.task,
        "threads": threads,
        "problem": problem,
    }


def _thread(thread: Thread) -> dict[str, Any]:
    stopped = thread.stopped
    error = stopped.get("text") if stopped.get("reason") == "exception" else None
    shown = views.thread(thread)
    return {
        "threadId": shown["id"],
        "name": shown["name"],
        "reason": str(stopped.get("reason", "")),
        "error": error if isinstance(error, str) else "",
    }


def _told(session: Session, entries: Collection[Entry]) -> dict[str, Any]:
    workers = [{**entry.body, "age": round(session.now - entry.since, 1)} for entry in entries]
    return {"workers": workers, "outage": session.outage}
