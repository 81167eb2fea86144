"""The bridge: events in, effects out. The tables here say who handles what."""

import traceback
from collections.abc import Callable
from typing import Any

from raydap.core import (
    fanout,
    files,
    fleet,
    groups,
    handshake,
    hosting,
    lifecycle,
    perworker,
    progress,
    roster,
    sources,
    stops,
)
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem, ProblemError, sentence
from raydap.core.events import (
    ClientAdmitted,
    ClientConnected,
    ClientGone,
    ClientMessage,
    DebuggeeExited,
    DebuggeeFailed,
    DebuggeeOutput,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    DoorOpened,
    Effect,
    Event,
    FilesChecked,
    Shutdown,
    Tick,
    WorkerConnected,
    WorkerGone,
    WorkerMessage,
    WorkersCrashed,
    WorkersDescribed,
    WorkersPaused,
)
from raydap.core.policy import BEFORE_ADMISSION, BEFORE_ATTACH, OBSERVING, POLICY
from raydap.core.routing import route
from raydap.core.session import Session
from raydap.core.settings import Hosting
from raydap.core.workers import Worker
from raydap.protocol.types import Seq
from raydap.wire import envelope

REQUESTS: dict[str, Callable[[Session, Request], None]] = {
    "initialize": lifecycle.initialize,
    "attach": lifecycle.attach,
    "launch": lifecycle.launch,
    "configurationDone": lifecycle.configuration_done,
    "disconnect": lifecycle.disconnect,
    "terminate": lifecycle.terminate,
    "restart": lifecycle.restart,
    "cancel": lifecycle.cancel,
    "threads": stops.threads,
    "source": sources.source,
    "loadedSources": sources.loaded,
    "breakpointLocations": sources.breakpoint_locations,
    "continue": stops.resume,
    "next": stops.resume,
    "stepIn": stops.resume,
    "stepOut": stops.resume,
    "goto": stops.resume,
    "pause": stops.pause,
    "setBreakpoints": fanout.set_breakpoints,
    "setFunctionBreakpoints": fanout.set_breakpoints,
    "setExceptionBreakpoints": fanout.set_exception_breakpoints,
    "raydap/workers": roster.workers,
    "raydap/attach": roster.attach,
    "raydap/detach": roster.detach,
    "raydap/focus": stops.focus,
    "raydap/continue": groups.resume,
    "raydap/step": groups.step,
    "raydap/evaluate": groups.evaluate,
}
"""Requests of clients that the bridge itself handles; what policy.py says is to be routed needs no entry."""

WORKER_EVENTS: dict[str, Callable[[Session, Worker, dict[str, Any]], None]] = {
    "initialized": lambda session, worker, _: handshake.initialized(session, worker),
    "terminated": lambda session, worker, _: fleet.terminated(session, worker),
    "stopped": stops.stopped,
    "continued": stops.continued,
    "thread": stops.exited,
    "breakpoint": fanout.breakpoint_moved,
    "output": fanout.output,
    "process": fanout.process,
    "module": fanout.module,
    "debugpyAttach": fleet.child,
}
"""Events of workers that mean something here; all others are dropped, debugpy's private ones for example. No client
hears of `terminated` and `exited`: there they would end the whole session."""

_STILL_HEARD = ("initialized", "debugpyAttach")
"""Of a worker that is being let go: its handshake goes on, and a child it announces would wait for ever."""


class Bridge:
    """One session for all workers. Use: `for effect in bridge.handle(event): ...`.

    `hosting`: it is a hub, which outlives its clients.
    """

    def __init__(self, hosting: Hosting | None = None) -> None:
        self._effects: list[Effect] = []
        self._session = Session(self._effects.append, hosting)

    @property
    def idle(self) -> bool:
        """No client is connected and no worker is held: the process may end without harm."""
        return not self._session.clients and not self._session.workers

    def handle(self, event: Event) -> list[Effect]:
        """Takes one event and says what is to be done now, in this order."""
        try:
            _EVENTS[type(event)](self._session, event)
            fleet.fill(self._session)
            progress.report(self._session)
            roster.report(self._session)
        except Exception:
            # A mistake of ours costs one event, not the session and every worker it holds.
            self._session.log("error", traceback.format_exc())
        effects = self._effects.copy()
        self._effects.clear()
        return effects


def _client_connected(session: Session, event: ClientConnected) -> None:
    client = session.clients[event.client] = Client(event.client, session.emit)
    client.guest = event.guest
    client.admitted = event.admitted


def _client_admitted(session: Session, event: ClientAdmitted) -> None:
    client = session.clients.get(event.client)
    if client is not None:
        client.admitted = True


def _client_message(session: Session, event: ClientMessage) -> None:
    client = session.clients.get(event.client)
    if client is None:
        return
    try:
        message = envelope.read(event.data)
    except envelope.EnvelopeError as error:
        session.log("warning", f"client {client.name} sent what is no DAP message: {error}")
        problem = Problem(Code.BAD_MESSAGE, "raydap got a message that is not DAP and dropped it.")
        client.event("output", {"category": "important", "output": f"{problem}\n"})
        return
    if message.type == "request":
        _request(session, Request(client, Seq(message.seq), message.command, message.arguments))
    elif message.type == "response":
        perworker.answered(session, client, message)
        stops.catch_up(session, client)
    else:
        session.log("debug", f"client {client.name} sent an event; DAP knows none from clients")


def _request(session: Session, request: Request) -> None:
    rule = POLICY.get(request.command)
    handler = REQUESTS.get(request.command)
    try:
        if not request.client.admitted and request.command not in BEFORE_ADMISSION:
            text = 'This hub wants its token: give the argument "token" to attach, or connect by raydap connect.'
            raise ProblemError(Problem(Code.NOT_ADMITTED, text))
        if request.client.observer and request.command in POLICY and request.command not in OBSERVING:
            text = f'{request.command} is not for observers; attach without the argument "role" to change anything.'
            raise ProblemError(Problem(Code.OBSERVER, text))
        if rule is not None and not request.client.attached and request.command not in BEFORE_ATTACH:
            text = f"{request.command} may be sent only after attach or launch."
            raise ProblemError(Problem(Code.WRONG_ORDER, text))
        if handler is not None:
            handler(session, request)
        elif rule is not None:
            route(session, request, rule)
        else:
            text = f'"{request.command}" is not supported by raydap.'
            raise ProblemError(Problem(Code.UNSUPPORTED, text))
    except ProblemError as error:
        request.fail(error.problem)
    except Exception:
        session.log("error", traceback.format_exc())
        request.fail(Problem(Code.INTERNAL, f"raydap could not do {request.command}; please report it with the log."))


def _client_gone(session: Session, event: ClientGone) -> None:
    client = session.clients.get(event.client)
    if client is not None:
        session.log("info" if event.reason == "closed" else "warning", f"client {client.name} is gone: {event.reason}")
        lifecycle.vanished(session, client)


def _worker_connected(session: Session, event: WorkerConnected) -> None:
    worker = session.workers.get(event.worker)
    if worker is not None:
        handshake.connected(session, worker)


def _worker_gone(session: Session, event: WorkerGone) -> None:
    worker = session.workers.get(event.worker)
    if worker is not None:
        fleet.gone(session, worker, event)
        if worker.parent is not None:
            handshake.part(session, worker.parent)


def _worker_message(session: Session, event: WorkerMessage) -> None:
    worker = session.workers.get(event.worker)
    if worker is None:
        return
    try:
        message = envelope.read(event.data)
        if message.type == "response":
            waiting = session.pending.take(worker.key, Seq(message.request_seq))
            if waiting is not None:
                waiting.then(message)
        elif message.type == "event":
            handler = WORKER_EVENTS.get(message.event)
            if handler is not None and (not worker.leaving or message.event in _STILL_HEARD):
                body = {} if message.body is None else envelope.load(message.body)
                handler(session, worker, body if isinstance(body, dict) else {})
        else:
            # A worker is not trusted to start anything on the user's machine (runInTerminal, startDebugging).
            worker.refuse(message, "not supported")
    except envelope.EnvelopeError as error:
        session.log("warning", f"{worker} sent what is no DAP message: {error}")
    for each in (worker, worker.parent):
        if each is not None:
            handshake.part(session, each)


def _tick(session: Session, event: Tick) -> None:
    session.now = event.now
    if hosting.overdue(session):
        session.log("info", "nobody has come back; the workers are let go")
        lifecycle.end(session)
    fleet.ask_again(session)
    for key, waiting in session.pending.take_overdue(event.now):
        name = sentence(str(session.workers.get(key, key)))
        waiting.then(Problem(Code.WORKER_SILENT, f"{name} does not answer {waiting.command}; it may be very busy."))
    for key in list(session.parting):
        handshake.part(session, session.workers[key])


def _shutdown(session: Session, _: Shutdown) -> None:
    lifecycle.end(session)


_EVENTS: dict[type, Callable[[Session, Any], None]] = {
    ClientConnected: _client_connected,
    ClientAdmitted: _client_admitted,
    ClientMessage: _client_message,
    ClientGone: _client_gone,
    WorkerConnected: _worker_connected,
    WorkerMessage: _worker_message,
    WorkerGone: _worker_gone,
    WorkersPaused: fleet.paused,
    WorkersDescribed: fleet.described,
    WorkersCrashed: fleet.crashed,
    DiscoveryReady: lifecycle.discovery_ready,
    DiscoveryFailed: lifecycle.discovery_failed,
    DebuggeeStarted: lifecycle.debuggee_started,
    DebuggeeOutput: lifecycle.debuggee_output,
    DebuggeeExited: lifecycle.debuggee_exited,
    DebuggeeFailed: lifecycle.debuggee_failed,
    DoorOpened: perworker.door_opened,
    FilesChecked: files.checked,
    Tick: _tick,
    Shutdown: _shutdown,
}
