"""A session's beginning and end: from initialize to disconnect, and the launched program."""

from typing import TypeVar

import msgspec

from raydap.core import hosting, perworker, roster
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import (
    DebuggeeExited,
    DebuggeeFailed,
    DebuggeeOutput,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    DropClient,
    StartDebuggee,
    StartDiscovery,
    StopDebuggee,
    StopDiscovery,
)
from raydap.core.fanout import share_breakpoints
from raydap.core.handshake import let_go
from raydap.core.policy import CAPABILITIES, HUB_CAPABILITIES, LAUNCH_CAPABILITIES
from raydap.core.session import Phase, Session
from raydap.core.settings import AttachSettings, LaunchSettings, parse, under
from raydap.core.stops import catch_up
from raydap.protocol import messages
from raydap.protocol.types import Seq

S = TypeVar("S", bound=AttachSettings)


def initialize(session: Session, request: Request) -> None:
    if request.client.initialized:
        raise ProblemError(Problem(Code.WRONG_ORDER, "initialize may be sent only once."))
    request.client.introduce(request.arguments())
    request.respond(CAPABILITIES if session.hosting is None else {**CAPABILITIES, **HUB_CAPABILITIES})


def attach(session: Session, request: Request) -> None:
    """The first client says what is debugged; later ones join it."""
    settings = _begin(session, request, AttachSettings)
    ticket = request.arguments().get(perworker.TICKET)
    if ticket is not None or request.client.guest:
        perworker.join(session, request, ticket)
        return
    shared = msgspec.structs.replace(settings, auto_attach=True)
    same = shared in (session.settings, _within(session, AttachSettings()))
    if session.settings is not None and not same and not _makes_room(session):
        text = "This raydap debugs something else already; join it by attach without arguments, or start another one."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    perworker.begin(session, request.client, settings)
    if session.settings is None:
        session.settings = shared
        session.phase = Phase.STARTING
        session.emit(StartDiscovery(settings))
    _admit(session, request)
    if not request.client.observer:
        if settings.auto_attach and not session.auto_attach:
            session.auto_attach = True
            session.look_again()
        hosting.returned(session, request.client)


def launch(session: Session, request: Request) -> None:
    """The program is started once the client has sent its breakpoints (configurationDone)."""
    settings = _begin(session, request, LaunchSettings)
    if request.client.observer:
        raise ProblemError(Problem(Code.OBSERVER, 'An observer launches nothing; leave the argument "role" out.'))
    if request.client.guest or (session.settings is not None and not _makes_room(session)):
        text = "This raydap debugs something already; join it by attach without arguments, or start another one."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    perworker.begin(session, request.client, settings)
    session.settings = settings
    session.auto_attach = settings.auto_attach
    session.phase = Phase.STARTING
    request.client.event("capabilities", {"capabilities": LAUNCH_CAPABILITIES})
    _admit(session, request)


def _begin(session: Session, request: Request, kind: type[S]) -> S:
    if not request.client.initialized:
        raise ProblemError(Problem(Code.WRONG_ORDER, f"{request.command} may be sent only after initialize."))
    if request.client.attached:
        raise ProblemError(Problem(Code.WRONG_ORDER, f"{request.command} may be sent only once."))
    settings = parse(kind, request.arguments())
    request.client.observer = settings.role == "observer"
    return _within(session, msgspec.structs.replace(settings, role="debugger"))


def _makes_room(session: Session) -> bool:
    """Whether a hub's session, which nobody debugs by and which holds nothing, has made room for another one."""
    unused = session.hosting is not None and not _is_used(session)
    empty = unused and not session.workers and not isinstance(session.settings, LaunchSettings)
    if empty:
        end(session)
    return empty


def _within(session: Session, settings: S) -> S:
    if session.hosting is None:
        return settings
    if settings.sessions == "perWorker":
        text = 'The argument "sessions" must be "merged" here: the editor could not reach the child sessions of a hub.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return under(session.hosting, settings)


def _admit(session: Session, request: Request) -> None:
    request.client.attached = True
    request.client.event("initialized")
    if session.phase is Phase.ACTIVE:
        request.respond()
    else:
        session.starting.append(request)


def configuration_done(session: Session, request: Request) -> None:
    client = request.client
    if not client.attached:
        raise ProblemError(Problem(Code.WRONG_ORDER, "configurationDone may be sent only after attach or launch."))
    request.respond()
    if client.ready:
        return
    client.ready = True
    if not client.observer:
        hosting.settled(session)
    share_breakpoints(session, client)
    catch_up(session, client)
    if not session.configured:
        session.configured = True
        if isinstance(session.settings, LaunchSettings):
            session.emit(StartDebuggee(session.settings))
            session.emit(StartDiscovery(session.settings, patient=True))


def terminate(session: Session, request: Request) -> None:
    """Ends the launched program; its `exited` and `terminated` follow when it has ended."""
    _launched(session, request)
    request.respond()
    session.emit(StopDebuggee(silently=False))


def restart(session: Session, request: Request) -> None:
    """Ends the launched program and starts it again, with new arguments if the client sends some."""
    settings = _launched(session, request)
    changed = request.arguments().get("arguments")
    if isinstance(changed, dict) and changed:
        settings = parse(LaunchSettings, changed)
    request.respond()
    session.settings = settings
    session.emit(StopDebuggee())
    session.emit(StartDebuggee(settings))


def _launched(session: Session, request: Request) -> LaunchSettings:
    if not isinstance(session.settings, LaunchSettings) or not session.configured:
        text = f"{request.command} is only for a launched program: raydap never ends a job that it did not start."
        raise ProblemError(Problem(Code.UNSUPPORTED, text))
    return session.settings


def cancel(session: Session, request: Request) -> None:
    """The request named is answered as cancelled; if it has its answer already, there is nothing to cancel."""
    seq = request.arguments().get("requestId")
    cancelled = request.client.open.get(Seq(seq)) if type(seq) is int else None
    if cancelled is not None and cancelled is not request:
        cancelled.cancel()
    request.respond()


def disconnect(session: Session, request: Request) -> None:
    """The client leaves. Of a hub that would hold the workers now, it can ask to let them go (`terminateDebuggee`), or
    to hold them for ever (`suspendDebuggee`). Without a hub the session ends with its last client in any case."""
    arguments = request.arguments()
    request.respond()
    seconds = None if session.hosting is None else session.hosting.hold
    if arguments.get("terminateDebuggee") is True:
        seconds = 0.0
    elif arguments.get("suspendDebuggee") is True:
        seconds = None
    leave(session, request.client, seconds)
    session.emit(DropClient(request.client.id))


def vanished(session: Session, client: Client) -> None:
    """A client is gone without a word."""
    leave(session, client, None if session.hosting is None else session.hosting.hold)


def leave(session: Session, client: Client, seconds: float | None) -> None:
    """A client is gone. With the last one the session ends: workers run on, the launched program is stopped.

    A hub holds both for so many `seconds`; None is for ever. Observers do not count there: they can resume nobody.
    """
    client.gone = True
    session.clients.pop(client.id, None)
    session.starting = [request for request in session.starting if request.client is not client]
    if client.only is not None:
        worker = session.workers.get(client.only)
        others = any(other.only == client.only for other in session.clients.values())
        if worker is not None and not worker.leaving and not others:
            let_go(session, worker)
    elif client.attached and not session.held and not _is_used(session):
        if session.hosting is None or seconds == 0 or not session.configured:
            end(session)
        else:
            hosting.hold(session, seconds)


def _is_used(session: Session) -> bool:
    """Whether anybody is left for whose sake the session goes on."""
    attached = (client for client in session.clients.values() if client.attached and client.only is None)
    return any(session.hosting is None or not client.observer for client in attached)


def end(session: Session) -> None:
    """Back to the beginning; a new client may attach. Workers in a handshake leave when it is over."""
    if isinstance(session.settings, LaunchSettings) and session.configured:
        session.emit(StopDebuggee())
    session.emit(StopDiscovery())
    for client in session.clients.values():
        if client.attached:
            client.event("terminated", {})
            client.attached = client.ready = client.only is not None
    session.reset()
    for worker in list(session.workers.values()):
        let_go(session, worker)


def discovery_ready(session: Session, event: DiscoveryReady) -> None:
    if session.outage:
        session.outage = ""
        roster.tell(session, [])
        session.say(f"{event.where} answers again.")
    if not isinstance(session.settings, LaunchSettings):
        _started(session)


def discovery_failed(session: Session, event: DiscoveryFailed) -> None:
    """At first contact it fails the attach; later it is an outage, which discovery waits out."""
    if session.phase is Phase.STARTING and not isinstance(session.settings, LaunchSettings):
        _failed(session, event.problem)
    elif not session.outage:
        session.outage = str(event.problem)
        roster.tell(session, [])
        session.report(event.problem)


def debuggee_started(session: Session, event: DebuggeeStarted) -> None:
    _started(session)
    body: messages.ProcessEventBody = {"name": event.name, "startMethod": "launch", "isLocalProcess": event.pid != 0}
    if event.pid:
        body["systemProcessId"] = event.pid
    session.broadcast("process", body)


def debuggee_output(session: Session, event: DebuggeeOutput) -> None:
    body: messages.OutputEventBody = {"category": event.category, "output": event.text}
    session.broadcast("output", body)


def debuggee_exited(session: Session, event: DebuggeeExited) -> None:
    session.broadcast("exited", {"exitCode": event.code})
    session.broadcast("terminated", {})
    if session.held:
        end(session)


def debuggee_failed(session: Session, event: DebuggeeFailed) -> None:
    """At first it fails the launch; after a restart, which has its answer, it ends the session for the users."""
    if session.phase is Phase.ACTIVE:
        session.report(event.problem)
        session.broadcast("terminated", {})
    else:
        _failed(session, event.problem)


def _started(session: Session) -> None:
    session.phase = Phase.ACTIVE
    starting, session.starting = session.starting, []
    for request in starting:
        request.respond()


def _failed(session: Session, problem: Problem) -> None:
    session.log("warning", f"{problem} {problem.detail}".rstrip())
    starting, session.starting = session.starting, []
    for request in starting:
        request.fail(problem)
        request.client.attached = request.client.ready = False
    end(session)
