"""Child sessions: one session of the editor for each worker, if the user wants that (`"sessions": "perWorker"`).

The client that attached becomes the parent. raydap sends it a startDebugging request for each worker (spec:
StartDebugging Request). The child's configuration contains a port of this bridge and a ticket that names the worker. A
child sees that worker only. If the editor opens no child for a worker, the parent shows the worker, so that no stop is
lost.
"""

import hmac
from collections.abc import Mapping
from typing import Any

from raydap.core.effects import OpenChildPort
from raydap.core.events import ChildPortFailed, ChildPortOpened
from raydap.core.model.client import Client, ClientRole, Offer
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.translate import names
from raydap.core.workers import stops
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey
from raydap.wire import envelope

SESSION_TIMEOUT_S = 30.0
"""Seconds for an editor to open the session of a worker after the startDebugging request."""

TICKET = "__raydap"
"""The key of the ticket in a child's configuration. Editors pass on keys that they do not know."""


def role_for(client: Client, settings: AttachSettings, arguments: Mapping[str, object]) -> ClientRole:
    """Return the role of a client that attaches or launches: PARENT or DEBUGGER.

    `arguments` are those of the request. Their `type` is repeated in the configurations of the child sessions. Raises
    ProblemError if the client wants child sessions but cannot start any.
    """
    if settings.sessions == "merged":
        return ClientRole.DEBUGGER
    if "supportsStartDebuggingRequest" not in client.supports:
        text = 'The argument "sessions" is "perWorker", but this editor cannot start child sessions; use "merged".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    given = arguments.get("type")
    client.type = given if isinstance(given, str) else None
    return ClientRole.PARENT


def parent_joined(state: State, client: Client) -> None:
    """Offer the attached workers to a new parent, now or as soon as the port for child sessions is open."""
    if state.child_port is None:
        state.emit(OpenChildPort())
        return
    for worker in state.workers.values():
        if worker.is_attached:
            _offer_to(state, client, worker)


def port_opened(state: State, event: ChildPortOpened) -> None:
    """Store the port for child sessions, and offer the attached workers to all parents."""
    state.child_port = event
    for worker in state.workers.values():
        if worker.is_attached:
            offer(state, worker)


def port_failed(state: State, event: ChildPortFailed) -> None:
    """Let the parents show all workers themselves, because child sessions cannot connect."""
    text = f"raydap cannot listen for child sessions ({event.reason}), so all workers are shown in this session."
    state.report(Problem(Code.INTERNAL, text))
    for client in state.clients.values():
        if client.role is ClientRole.PARENT:
            client.role = ClientRole.DEBUGGER
            if client.is_ready:
                stops.show_missing(state, client)


def offer(state: State, worker: Worker) -> None:
    """Request a child session for an attached worker from each parent."""
    for client in state.clients.values():
        if client.role is ClientRole.PARENT:
            _offer_to(state, client, worker)


def _offer_to(state: State, client: Client, worker: Worker) -> None:
    offered = client.view.offered.values()
    if state.child_port is None or any(offer.worker == worker.key for offer in offered):
        return
    seq = client.next_seq()
    client.view.offered[seq] = Offer(worker.key, state.now + SESSION_TIMEOUT_S)
    # VS Code always uses the type of the parent (rawDebugSession.ts), and nvim-dap uses it if there is none here
    # (session.lua, start_debugging). Neither has an adapter for the adapterID of `initialize`.
    configuration = {
        **({} if client.type is None else {"type": client.type}),
        "request": "attach",
        "name": names.worker(worker),
        "debugServer": state.child_port.port,
        TICKET: {"worker": worker.key, "token": state.child_port.token},
    }
    client.send(envelope.request(seq, "startDebugging", {"request": "attach", "configuration": configuration}))


def answered(state: State, client: Client, answer: envelope.Envelope) -> None:
    """Handle the editor's answer to startDebugging; if it refuses, the parent shows the worker itself."""
    offer = client.view.offered.get(answer.request_seq)
    if offer is not None and not answer.success:
        client.view.adopted.add(offer.worker)
        state.log("warning", f"{client.name} refused to open a session for {offer.worker}: {answer.message}")


def examine_again(state: State) -> None:
    """Let the parents show the workers whose sessions their editors have accepted but not opened in time.

    Called at every Tick.
    """
    for client in state.clients.values():
        if client.role is not ClientRole.PARENT:
            continue
        late = {offer.worker for offer in client.view.offered.values() if offer.until <= state.now}
        late -= client.view.adopted
        if not late:
            continue
        late -= {each.view.only for each in state.clients.values() if each.role is ClientRole.CHILD}
        for key in late:
            client.view.adopted.add(key)
            state.log("warning", f"{client.name} did not open the session for {key} in time")
        if late:
            stops.show_missing(state, client)


def join(state: State, client: Client, ticket: Any) -> None:
    """Admit a child session by its ticket.

    Raises ProblemError if the ticket comes from another raydap, or the worker is gone.
    """
    token = ticket.get("token") if isinstance(ticket, dict) else None
    if state.child_port is None or not isinstance(token, str) or not _is_same(token, state.child_port.token):
        text = "This child session belongs to another raydap; connect the editor to a raydap that listens (--listen)."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    worker = state.workers.get(WorkerKey(str(ticket.get("worker"))))
    if worker is None:
        raise ProblemError(Problem(Code.WORKER_GONE, "The worker of this child session is gone."))
    client.join(ClientRole.CHILD, worker.key)
    client.event("initialized")


def end(state: State, worker: Worker) -> None:
    """End the child sessions of a worker that is gone."""
    for client in state.clients.values():
        view = client.view
        for seq in [seq for seq, offer in view.offered.items() if offer.worker == worker.key]:
            del view.offered[seq]
        view.adopted.discard(worker.key)
        if view.only == worker.key:
            client.event("terminated", {})


def _is_same(token: str, wanted: str) -> bool:
    return hmac.compare_digest(token.encode(errors="replace"), wanted.encode())
