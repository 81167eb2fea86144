"""What concerns all workers: breakpoints and exception filters downwards, output and breakpoint news upwards."""

from dataclasses import replace
from typing import Any

from raydap.core import views
from raydap.core.breakpoints import specs_of
from raydap.core.clients import Client, Request
from raydap.core.handshake import tell_breakpoints, tell_exceptions
from raydap.core.rewrite import rewrite
from raydap.core.routing import shown, up
from raydap.core.session import Session
from raydap.core.workers import Stage, Worker
from raydap.protocol.ids import EVENTS

_CONFIGURED = (Stage.CONFIGURING, Stage.ATTACHED)

_UNSET = {"verified": False, "message": "An observer sets no breakpoints."}


def set_breakpoints(session: Session, request: Request) -> None:
    """Answered from what is known; the workers' own answers follow as events.

    Editors send their breakpoints while they join: then those of the others stay besides.
    """
    client, arguments = request.client, request.arguments()
    count = len(specs_of(arguments))
    if client.observer:
        request.respond({"breakpoints": [_UNSET] * count})
        return
    group = session.breakpoints.set(request.command, arguments, keep=_joins(session, client))
    asked = group.breakpoints[len(group.breakpoints) - count :]
    request.respond({"breakpoints": [breakpoint.view() for breakpoint in asked]})
    client.breakpoints.update(breakpoint.id for breakpoint in asked)
    client.breakpoints &= {breakpoint.id for breakpoint in session.breakpoints.all()}
    for other in session.ready():
        if other is not client:
            share_breakpoints(session, other)
    for worker in configured(session):
        tell_breakpoints(session, worker, group)


def share_breakpoints(session: Session, client: Client) -> None:
    """Tells a client of breakpoints that others have set or removed. Sessions of one editor (perworker.py) share theirs
    already, and function breakpoints have no place where an editor could show them."""
    if client.parent or client.only is not None:
        return
    wanted = {breakpoint.id: breakpoint for breakpoint in session.breakpoints.all()}
    for handle in sorted(client.breakpoints - wanted.keys()):
        client.event("breakpoint", {"reason": "removed", "breakpoint": {"id": handle, "verified": False}})
    for handle in sorted(wanted.keys() - client.breakpoints):
        if wanted[handle].source is not None:
            client.event("breakpoint", {"reason": "new", "breakpoint": wanted[handle].view()})
    client.breakpoints = set(wanted)


def set_exception_breakpoints(session: Session, request: Request) -> None:
    """The filters of who came last hold for all: DAP has no way to show a client those of another."""
    if not request.client.observer:
        session.breakpoints.set_exceptions(request.arguments())
    request.respond()
    for worker in configured(session):
        tell_exceptions(session, worker)


def _joins(session: Session, client: Client) -> bool:
    """Whether a client is about to join others, with a configuration of its own."""
    others = (other for other in session.ready() if other is not client and not other.observer)
    return not client.ready and any(others)


def configured(session: Session) -> list[Worker]:
    """The workers that have their configuration; the others get the newest when their time comes."""
    return [worker for worker in session.workers.values() if worker.stage in _CONFIGURED and not worker.leaving]


def breakpoint_moved(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    answer = body.get("breakpoint")
    for breakpoint in session.breakpoints.moved(worker.key, answer if isinstance(answer, dict) else {}):
        session.broadcast("breakpoint", {"reason": "changed", "breakpoint": breakpoint.view()})


def output(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    """What a worker says through debugpy, logpoints for example, labelled with its name. What the program prints is not
    among it: Ray streams that to the driver. Telemetry is between debugpy and its makers."""
    if body.get("category") == "telemetry":
        return
    rewrite(body, EVENTS["output"], lambda kind, local: up(worker, worker.scope, kind, local), shown(worker))
    text = body.get("output")
    if isinstance(text, str) and text.strip():
        body["output"] = f"[{views.short(worker)}] {text}"
    session.broadcast("output", body, worker.key)


def module(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    rewrite(body, EVENTS["module"], lambda kind, local: up(worker, worker.scope, kind, local))
    session.broadcast("module", body, worker.key)


def process(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    """Which process it is: of Ray's workers that is known before, of an explicit target not."""
    pid = body.get("systemProcessId")
    if type(pid) is int and worker.row.pid == 0:
        worker.row = replace(worker.row, pid=pid)
