"""Requests that begin and end a client's session: from initialize to disconnect."""

from typing import TypeVar

import msgspec
from msgspec import UNSET

from raydap import __version__
from raydap.core.effects import DropClient, ReachAgents, StartDiscovery
from raydap.core.flows import Flow
from raydap.core.model.client import Client, ClientRole, ClientStage, Request
from raydap.core.model.state import State
from raydap.core.requests import reloads
from raydap.core.requests.breakpoint_sync import share_breakpoints
from raydap.core.settings import AttachSettings, LaunchSettings, complete, parse
from raydap.core.workers import (
    barriers,
    child_sessions,
    holding,
    prepared,
    program_terminal,
    remote_steps,
    run_events,
    stops,
)
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.raydap_messages import Server
from raydap.protocol.types import Seq
from raydap.wire.envelope import Body

S = TypeVar("S", bound=AttachSettings)


def initialize(state: State, request: Request, arguments: dict[str, object]) -> Body:
    """Return the capabilities, and raydap's version and protocol number, by which a client detects a mismatch."""
    if request.client.stage is not ClientStage.CONNECTED:
        raise ProblemError(Problem(Code.WRONG_ORDER, "initialize may be sent only once."))
    request.client.introduce(arguments)
    debugs = UNSET if request.client.role in (ClientRole.UNTRUSTED, ClientRole.JOINING) else state.run.where or UNSET
    return {**state.capabilities, "raydap": Server(version=__version__, debugs=debugs)}


def attach(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Attach a client: the first one decides what is debugged, and later ones join it.

    `initialized` and the answer are sent when discovery has answered. If a client configured itself for an attach that
    is then refused, it would show the errors of its configuration instead of the reason.
    """
    client = request.client
    settings = _settings(client, request.command, AttachSettings, arguments)
    ticket = arguments.get(child_sessions.TICKET)
    if ticket is not None or client.role is ClientRole.JOINING:
        child_sessions.join(state, client, ticket)
        return
    if settings.join:
        yield from _join(state, request, settings)
        return
    wanted = complete_by_hub(state, msgspec.structs.replace(settings, role="debugger"))
    shared = msgspec.structs.replace(wanted, auto_attach=True)
    same = shared in (state.run.settings, complete_by_hub(state, AttachSettings()))
    if state.run.settings is not None and not same and not holding.make_room(state):
        text = "This raydap already debugs something else; join it by attach without arguments, or start another one."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    role = ClientRole.OBSERVER if settings.role == "observer" else child_sessions.role_for(client, wanted, arguments)
    run = state.run
    client.join(role)
    if run.settings is None:
        run.begin(shared)
        state.emit(StartDiscovery(wanted))
        if wanted.reach != "paused" and wanted.workers is None:
            prepared.reach(state, ReachAgents(""))
    if role is not ClientRole.OBSERVER:
        if wanted.auto_attach and not run.auto_attach:
            run.auto_attach = True
            run.processes.examine_all()
            prepared.attach_needed(state)
        holding.take_over(state, client)
    yield from run.started
    if not request.answered:
        _initialized(state, client)


def _join(state: State, request: Request, settings: AttachSettings) -> Flow[None]:
    """Join the run of other clients as soon as there is one. The client does not keep that run alive."""
    client = request.client
    yield from state.run.begin_for(client.id)
    run = state.run
    yield from run.started
    if request.answered or client.stage is not ClientStage.INITIALIZED:
        raise ProblemError(Problem(Code.WRONG_ORDER, "The client has disconnected."))
    client.joined = True
    client.join(ClientRole.OBSERVER if settings.role == "observer" else ClientRole.DEBUGGER)
    _initialized(state, client)


def launch(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Start the program after the client has sent its breakpoints (`configurationDone`), and answer when it runs."""
    client = request.client
    settings = complete_by_hub(state, _settings(client, request.command, LaunchSettings, arguments))
    if settings.role == "observer" or settings.join:
        text = 'A client that observes or joins cannot launch a program; leave out the arguments "role" and "join".'
        raise ProblemError(Problem(Code.OBSERVER, text))
    if state.run.settings is not None and not holding.make_room(state):
        text = "This raydap debugs something already; join it by attach without arguments, or start another one."
        raise ProblemError(Problem(Code.OTHER_SESSION, text))
    role = child_sessions.role_for(client, settings, arguments)
    run = state.run
    run.begin(settings)
    run.launcher = client.id
    run.auto_attach = settings.auto_attach
    client.event("capabilities", {"capabilities": state.launch_capabilities})
    client.join(role)
    _initialized(state, client)
    yield from run.started


def _settings(client: Client, command: str, kind: type[S], arguments: dict[str, object]) -> S:
    if client.is_attached:
        raise ProblemError(Problem(Code.WRONG_ORDER, f"{command} may be sent only once."))
    return parse(kind, arguments)


def complete_by_hub(state: State, settings: S) -> S:
    """Return a client's settings, completed by the hub's. Raises ProblemError if they contradict each other."""
    if state.hub is None:
        return settings
    if settings.sessions == "perWorker":
        text = 'The argument "sessions" must be "merged" here: the editor could not reach the child sessions of a hub.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return complete(state.hub, settings)


def _initialized(state: State, client: Client) -> None:
    client.event("initialized")
    if client.role is ClientRole.PARENT:
        child_sessions.parent_joined(state, client)


def configuration_done(state: State, request: Request, arguments: dict[str, object]) -> None:
    """Send the client the breakpoints and stops that it has missed, and start the launched program if it waits."""
    client, run = request.client, state.run
    request.respond()
    if client.is_ready:
        return
    client.stage = ClientStage.READY
    if _leads(client):
        holding.drop_old_breakpoints(state)
    share_breakpoints(state, client)
    stops.show_missing(state, client)
    if run.jobs is not None:
        client.event("output", {"category": "console", "output": f"{run_events.summary(state)}\n"})
    if run.program_ended:
        client.event("terminated")
    if not run.configured and not _is_configured_by_another(state, client):
        run.configured = True
        if run.program is not None:
            program_terminal.start(state, run.program)
            state.emit(StartDiscovery(run.program, patient=True))
        prepared.attach_needed(state)


def _is_configured_by_another(state: State, client: Client) -> bool:
    """Return whether the run must wait for the configuration of another client.

    That is the case if this client is an observer or has joined, and another client has attached or launched.
    """
    leads = [each for each in state.clients.values() if each.is_attached and _leads(each)]
    return bool(leads) and not _leads(client)


def _leads(client: Client) -> bool:
    return client.role is not ClientRole.OBSERVER and not client.joined


def cancel(state: State, request: Request, arguments: dict[str, object]) -> None:
    """Answer the named request as cancelled, unless it has been answered.

    Cancelling the progress of a barrier shows the workers that wait there, and that of a step gives the step up.
    """
    progress = arguments.get("progressId")
    if request.client.role is not ClientRole.OBSERVER:
        remote_steps.cancel(state, progress)
    for wait in [each for each in state.barriers.values() if each.progress and each.progress == progress]:
        if request.client.role is not ClientRole.OBSERVER:
            barriers.show(state, wait)
    seq = arguments.get("requestId")
    cancelled = request.client.open.get(Seq(seq)) if type(seq) is int else None
    if cancelled is not None and cancelled is not request:
        cancelled.cancel()
        if cancelled.command in ("attach", "launch"):
            holding.withdraw(state, request.client)


def disconnect(state: State, request: Request, arguments: dict[str, object]) -> None:
    """Remove the client from the session.

    Its other requests, open and later ones, get no answer, because Emacs reports each failure. The open requests of VS
    Code are cancelled instead: VS Code waits for the answers, and does not report these failures.

    With `terminateDebuggee` a hub detaches the workers after its last client has left; with `suspendDebuggee` it holds
    them without a time limit. Without a hub, the run ends with its last client in any case.
    """
    client = request.client
    for each in [each for each in client.open.values() if each is not request]:
        # VS Code would report a cancelled `attach` or `launch` as a failure.
        (each.cancel if client.is_vscode and each.command not in ("attach", "launch") else each.drop)()
    if client.is_attached and client.role not in (ClientRole.OBSERVER, ClientRole.CHILD):
        reloads.report_kept(state, state.run.reloaded, client)
    request.respond()
    seconds = None if state.hub is None else state.hub.hold
    if arguments.get("terminateDebuggee") is True:
        seconds = 0.0
    elif arguments.get("suspendDebuggee") is True:
        seconds = None
    holding.leave(state, client, seconds)
    if client.is_vscode:
        client.stage = ClientStage.LEFT
        state.left[client.id] = client
    state.emit(DropClient(client.id))
