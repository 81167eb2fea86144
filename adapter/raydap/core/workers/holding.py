"""The end of a run when its last client leaves; a hub holds the run until a client returns.

When a hub's last client leaves, by `disconnect` or by the end of its connection, nothing changes: stopped threads stay
stopped, workers that pause are attached, and breakpoints stay set. The hub's settings limit the time. The next client
that attaches takes over the run.

The design is in docs/design/hub.md.
"""

from raydap.core.effects import StopDebuggee, StopDiscovery
from raydap.core.model.client import Client, ClientRole, ClientStage
from raydap.core.model.run import Ending, Holding, Run
from raydap.core.model.state import State
from raydap.core.workers import attach, watch_setting
from raydap.core.workers.detach import detach_all, request_detach
from raydap.errors import Code, Problem, ProblemError

PROGRAM_END_S = 8.0
"""Seconds for a launched program to end after raydap has stopped it. The process is killed after 5 s."""

WORKERS_END_S = 2.0
"""Seconds for the workers of a program to end after the program has ended: Ray kills them then."""


def leave(state: State, client: Client, seconds: float | None) -> None:
    """Remove a client, and end the run if this was the last client that used it.

    At the end of a run, raydap detaches the workers and stops the launched program. A hub holds both for `seconds`;
    None means indefinitely.
    """
    was_attached = client.is_attached
    client.stage = ClientStage.GONE
    state.clients.pop(client.id, None)
    state.run.stop_waiting(client.id)
    if state.run.breakpoints.forget_filters(state.clients):
        state.start(attach.set_exception_breakpoints_everywhere(state))
    if is_used(state) and state.run.watches.forget_clients(state.clients):
        state.start(watch_setting.set_everywhere(state))
    if client.role is ClientRole.CHILD:
        _child_left(state, client)
    elif was_attached and state.run.holding is None and not is_used(state):
        if state.hub is None or seconds == 0 or not state.run.configured or _is_over(state):
            end_run(state)
        else:
            _hold(state, seconds)


def withdraw(state: State, client: Client) -> None:
    """Undo an `attach` or `launch` that the client has cancelled, and end the run if no other client uses it."""
    state.run.stop_waiting(client.id)
    if client.is_attached and not client.is_ready:
        client.leave_run()
        if not is_used(state):
            end_run(state)


def _child_left(state: State, client: Client) -> None:
    """Detach the worker of a child session that has ended, unless another session shows it, too."""
    worker = None if client.view.only is None else state.workers.get(client.view.only)
    others = any(other.view.only == client.view.only for other in state.clients.values())
    if worker is not None and not worker.leaving and not others:
        request_detach(state, worker)


def is_used(state: State) -> bool:
    """Return whether a client is left that uses the run.

    Child sessions and clients that have joined do not count. Observers at a hub do not count either: they cannot resume
    workers.
    """
    attached = [
        client for client in state.clients.values() if client.is_attached and client.role is not ClientRole.CHILD
    ]
    return any(
        not client.joined and (state.hub is None or client.role is not ClientRole.OBSERVER) for client in attached
    )


def _is_over(state: State) -> bool:
    """Return whether nothing is left to hold: the launched program and its workers have ended."""
    return state.run.program_ended and not state.workers


def make_room(state: State) -> bool:
    """End the run of a hub if no client uses it and it holds nothing; return whether the run has ended."""
    empty = not state.workers and (state.run.program is None or state.run.program_ended)
    has_room = state.hub is not None and empty and not is_used(state)
    if has_room:
        end_run(state)
    return has_room


def _hold(state: State, seconds: float | None) -> None:
    state.run.holding = Holding(None if seconds is None else state.now + seconds)
    state.run.breakpoints.mark_unconfirmed()
    until = "a client returns" if seconds is None else f"a client returns within {seconds:g} s"
    state.log("info", f"holding {len(state.workers)} workers until {until}")


def take_over(state: State, client: Client) -> None:
    """Hand a held run, and the output since the last client left, to a client that has attached.

    The client's breakpoints follow, and replace those of the run.
    """
    holding, state.run.holding = state.run.holding, None
    for output in [] if holding is None else holding.missed:
        client.event("output", output)


def drop_old_breakpoints(state: State) -> None:
    """Remove the breakpoints of the held run that the returning client has not set again."""
    if state.run.watches.forget_clients(state.clients):
        state.start(watch_setting.set_everywhere(state))
    for group in state.run.breakpoints.drop_unconfirmed():
        state.start(attach.set_breakpoints_everywhere(state, group))


def end_overdue(state: State) -> None:
    """End a held run if no client has returned in time.

    Called at every Tick.
    """
    holding = state.run.holding
    if holding is not None and holding.release_at is not None and state.now >= holding.release_at:
        state.log("info", "no client returned in time; detaching all workers")
        end_run(state)


def program_stopped(state: State) -> None:
    """Limit the time that workers have to end together with a program that raydap has stopped."""
    for ending in state.endings:
        ending.until = min(ending.until, state.now + WORKERS_END_S)


def detach_overdue(state: State) -> None:
    """Detach the workers that did not end with their program, such as detached actors.

    Called at every Tick.
    """
    for ending in [ending for ending in state.endings if state.now >= ending.until]:
        state.endings.remove(ending)
        ending.over.set_result(None)


def end_run(state: State) -> None:
    """End the run, so that a new client can attach; workers in a handshake are detached after the handshake."""
    run = state.run
    if run.program is not None and run.configured:
        state.emit(StopDebuggee())
        if not run.program_ended and state.workers:
            run.ending = Ending(state.now + PROGRAM_END_S)
            state.endings.append(run.ending)
    state.emit(StopDiscovery())
    for client in state.clients.values():
        if client.is_attached:
            client.event("terminated", {})
    # Skip workers that are already detaching: the unread answer to a second disconnect kills debugpy's adapter.
    detach_all(state, [worker for worker in state.workers.values() if not worker.leaving])
    for client in state.clients.values():
        client.leave_run()
    state.run = Run(state.handles)
    error = ProblemError(Problem(Code.OTHER_SESSION, "The session has ended; start it again."))
    state.parts.end(error)
    run.end(error)
