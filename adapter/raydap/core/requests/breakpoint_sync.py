"""Requests that set or list breakpoints and exception filters.

raydap answers them at once, then sends breakpoints and filters to every worker, and breakpoints to the other clients.
"""

from raydap.core.flows import Flow
from raydap.core.model.breakpoints import Group, RunBreakpoint, specs_of
from raydap.core.model.client import Client, ClientRole, Request
from raydap.core.model.state import State
from raydap.core.workers import attach, barriers, prepared
from raydap.protocol.raydap_messages import BreakpointList, BreakpointsArguments, SetBreakpoint
from raydap.protocol.types import Handle

_UNSET = {"verified": False, "message": "Observers cannot set breakpoints."}


def set_breakpoints(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Set the breakpoints of one source, or the function breakpoints; the workers' own answers follow as events.

    A breakpoint of another client is removed only if this client has shown it before and now leaves it out. Breakpoints
    of an observer are answered as not verified.
    """
    client, breakpoints = request.client, state.run.breakpoints
    count = len(specs_of(arguments))
    if client.role is ClientRole.OBSERVER:
        request.respond({"breakpoints": [_UNSET] * count})
        return
    foreign, guarded = _of_others(state, client)
    group = breakpoints.set(request.command, arguments, client.id, foreign, guarded)
    asked = group.breakpoints[len(group.breakpoints) - count :]
    request.respond({"breakpoints": [breakpoint.view() for breakpoint in asked]})
    _show(state, client, group, asked)
    for other in state.ready_clients():
        if other is not client:
            share_breakpoints(state, other)
    yield from attach.set_breakpoints_everywhere(state, group, client)
    prepared.attach_needed(state)
    barriers.examine_all(state)


def _of_others(state: State, client: Client) -> tuple[set[Handle], set[Handle]]:
    """Return the breakpoints that a request of this client must keep, and those whose conditions it must keep.

    The first are shown by other clients, but not by this one. The second were set by other clients, and this client has
    not read their conditions.
    """
    others = [other for other in state.clients.values() if other is not client and other.is_attached]
    shown = {handle for other in others for handle in other.view.shown}
    authors = {other.id for other in others}
    guarded = {each.id for each in state.run.breakpoints.all() if each.author in authors}
    if _is_joining(state, client):
        # An editor that joins sends its own breakpoints unasked; they must not remove any of the others.
        shown = {each.id for each in state.run.breakpoints.all()}
    return shown - client.view.shown, guarded - client.view.read


def _show(state: State, client: Client, group: Group, asked: list[RunBreakpoint]) -> None:
    """Update what the client shows, after it has sent the breakpoints `asked` of a group."""
    view = client.view
    wanted = {breakpoint.id for breakpoint in state.run.breakpoints.all()}
    view.breakpoints.update(breakpoint.id for breakpoint in asked)
    view.shown.difference_update(breakpoint.id for breakpoint in group.breakpoints)
    view.shown.update(breakpoint.id for breakpoint in asked)
    for handles in (view.breakpoints, view.shown, view.read):
        handles.intersection_update(wanted)


def breakpoints(state: State, request: Request, arguments: BreakpointsArguments) -> BreakpointList:
    """Return all breakpoints, with the conditions and other texts that DAP's events about them leave out.

    From now on the client counts as showing all of them: it removes a breakpoint by leaving it out of a request.
    """
    handles = {breakpoint.id for breakpoint in state.run.breakpoints.all()}
    request.client.view.shown |= handles
    request.client.view.read |= handles
    return BreakpointList(breakpoints=tuple(map(_listed, state.run.breakpoints.all())))


def _listed(breakpoint: RunBreakpoint) -> SetBreakpoint:
    spec, view = breakpoint.spec, breakpoint.view()
    line = spec.get("line")
    return SetBreakpoint(
        id=breakpoint.id,
        path="" if breakpoint.source is None else breakpoint.source["path"],
        line=line if type(line) is int else 0,
        function=str(spec.get("name") or ""),
        condition=str(spec.get("condition") or ""),
        hit_condition=str(spec.get("hitCondition") or ""),
        log_message=str(spec.get("logMessage") or ""),
        verified=view["verified"],
        message=view.get("message", ""),
    )


def share_breakpoints(state: State, client: Client) -> None:
    """Send a client events for the breakpoints that other clients have set or removed.

    The sessions of one editor (child_sessions.py) get none, because they share their breakpoints already. New function
    breakpoints are not sent, because editors do not show them.
    """
    if client.role in (ClientRole.PARENT, ClientRole.CHILD):
        return
    wanted = {breakpoint.id: breakpoint for breakpoint in state.run.breakpoints.all()}
    known = client.view.breakpoints
    for handle in sorted(known - wanted.keys()):
        client.event("breakpoint", {"reason": "removed", "breakpoint": {"id": handle, "verified": False}})
    for handle in sorted(wanted.keys() - known):
        if wanted[handle].source is not None:
            client.event("breakpoint", {"reason": "new", "breakpoint": wanted[handle].view()})
    client.view.breakpoints = set(wanted)


def set_exception_breakpoints(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Set the exception filters of this client, unless it is an observer.

    Workers stop for the filters of all clients.
    """
    if request.client.role is not ClientRole.OBSERVER:
        state.run.breakpoints.set_exceptions(arguments, request.client.id)
        state.run.breakpoints.forget_filters(state.clients)
        yield from attach.set_exception_breakpoints_everywhere(state, request.client)
        prepared.attach_needed(state)


def _is_joining(state: State, client: Client) -> bool:
    """Return whether the client joins a session of others and has not sent `configurationDone` yet."""
    others = (other for other in state.ready_clients() if other is not client and other.role is not ClientRole.OBSERVER)
    return not client.is_ready and any(others)
