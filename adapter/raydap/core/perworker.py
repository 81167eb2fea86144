"""One session of the editor for each worker, by choice (`"sessions": "perWorker"`).

The client that attached becomes the parent: it is asked to start a child session for each worker (spec: StartDebugging
Request). The child's configuration leads back to this bridge, by a port and by a ticket that names the worker; a child
sees that worker only. A worker whose child the editor does not open is shown by the parent, so that no stop is lost.
"""

import hmac
from typing import Any

from raydap.core import views
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import DoorOpened, OpenDoor
from raydap.core.session import Session
from raydap.core.settings import AttachSettings
from raydap.core.workers import Stage, Worker
from raydap.protocol.types import WorkerKey
from raydap.wire import envelope

TICKET = "__raydap"
"""The key of the ticket in a child's configuration; editors pass on what they do not know."""


def begin(session: Session, client: Client, settings: AttachSettings) -> None:
    """The client's session begins: as a parent, if that is asked for. Raises ProblemError if it cannot be one."""
    client.parent = False
    if settings.sessions == "merged":
        return
    if "supportsStartDebuggingRequest" not in client.supports:
        text = 'The argument "sessions" is "perWorker", but this editor cannot start child sessions; use "merged".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    client.parent = True
    if session.door is None:
        session.emit(OpenDoor())


def door_opened(session: Session, event: DoorOpened) -> None:
    session.door = event
    for worker in session.workers.values():
        if worker.stage is Stage.ATTACHED:
            offer(session, worker)


def offer(session: Session, worker: Worker) -> None:
    """Asks each parent to start a session for a worker that has just been attached."""
    for client in session.clients.values():
        if client.parent and session.door is not None and worker.key not in client.offered.values():
            seq = client.next_seq()
            client.offered[seq] = worker.key
            configuration = {
                "type": client.adapter,
                "request": "attach",
                "name": views.name(worker),
                "debugServer": session.door.port,
                TICKET: {"worker": worker.key, "token": session.door.token},
            }
            arguments = envelope.dump({"request": "attach", "configuration": configuration})
            client.send(envelope.request(seq, "startDebugging", arguments))


def answered(session: Session, client: Client, answer: envelope.Envelope) -> None:
    """The editor's answer to startDebugging."""
    key = client.offered.get(answer.request_seq)
    if key is not None and not answer.success:
        client.adopted.add(key)
        session.log("warning", f"{client.name} opens no session for {key}: {answer.message}")


def join(session: Session, request: Request, ticket: Any) -> None:
    """A child comes with its ticket. Raises ProblemError if that is not one of ours, or its worker is gone."""
    token = ticket.get("token") if isinstance(ticket, dict) else None
    if session.door is None or not isinstance(token, str) or not _same(token, session.door.token):
        text = "This child session belongs to another raydap; let the editor connect to one that listens (--listen)."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    worker = session.workers.get(WorkerKey(str(ticket.get("worker"))))
    if worker is None:
        raise ProblemError(Problem(Code.WORKER_GONE, "The worker of this child session is gone."))
    client = request.client
    client.only = worker.key
    client.attached = True
    client.event("initialized")
    request.respond()


def end(session: Session, worker: Worker) -> None:
    """A worker is gone, and with it its child sessions."""
    for client in session.clients.values():
        for seq in [seq for seq, key in client.offered.items() if key == worker.key]:
            del client.offered[seq]
        client.adopted.discard(worker.key)
        if client.only == worker.key:
            client.event("terminated", {})


def _same(token: str, wanted: str) -> bool:
    return hmac.compare_digest(token.encode(errors="replace"), wanted.encode())
