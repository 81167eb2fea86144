"""What concerns all workers: breakpoints and exception filters downwards, output and breakpoint news upwards."""

from dataclasses import replace
from typing import Any

from raydap.core import views
from raydap.core.clients import Request
from raydap.core.handshake import tell_breakpoints, tell_exceptions
from raydap.core.rewrite import rewrite
from raydap.core.routing import shown, up
from raydap.core.session import Session
from raydap.core.workers import Stage, Worker
from raydap.protocol.ids import EVENTS

_CONFIGURED = (Stage.CONFIGURING, Stage.ATTACHED)


def set_breakpoints(session: Session, request: Request) -> None:
    """Answered from what is known; the workers' own answers follow as events."""
    group = session.breakpoints.set(request.command, request.arguments())
    request.respond({"breakpoints": [breakpoint.view() for breakpoint in group.breakpoints]})
    for worker in configured(session):
        tell_breakpoints(session, worker, group)


def set_exception_breakpoints(session: Session, request: Request) -> None:
    session.breakpoints.set_exceptions(request.arguments())
    request.respond()
    for worker in configured(session):
        tell_exceptions(session, worker)


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
