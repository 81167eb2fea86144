"""Questions to workers that wait for a debugger in breakpoint() and have no agent.

A short attach asks them (runtime/short_attach.py). They keep waiting, are still listed as paused, at a new debug port,
and the next debugger that attaches stops them at the same breakpoint(). The design is in docs/design/adapter.md.
"""

from raydap.core.effects import AskWaiting
from raydap.core.events import WaitingAnswered
from raydap.core.flows import Flow
from raydap.core.model.state import State, Visit
from raydap.core.workers import attach
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey

NEW_PORT_S = 30.0
"""Seconds for Ray to list the new debug port of a worker. debugpy starts a new adapter in the meantime."""


def ask(state: State, key: WorkerKey, name: str, expression: str, timeout_s: float) -> Flow[str]:
    """Return the result of an expression of inworker/calls.py in a worker that waits.

    The result comes when another debugger can attach to the worker. `name` names the worker in messages to users.
    Raises ProblemError: WORKER_BUSY if the worker does not wait any more, WORKER_BROKEN if its debugger does not
    answer, and NO_AGENT if Ray does not list the worker.
    """
    while (visit := state.visits.get(key)) is not None:
        yield from visit.over  # A debug port serves one client at a time.
    row = state.run.processes[key].paused
    if row is None or key in state.workers or key in state.cooling_down:
        text = f"raydap is attaching to {name} or detaching from it; try again in a moment."
        raise ProblemError(Problem(Code.WORKER_BUSY, text))
    if row.worker_type == "TARGET":
        # Nothing would report its new debug port.
        text = f"{name} waits at a debug port that Ray does not list; attach to it to evaluate expressions there."
        raise ProblemError(Problem(Code.NO_AGENT, text))
    visit = state.visits[key] = Visit(row.port)
    state.emit(AskWaiting(attach.dial(row), expression, timeout_s))
    event = yield from visit.over
    if event.problem:
        raise ProblemError(Problem(Code.WORKER_BROKEN, f"The debugger of {name} does not answer: {event.problem}."))
    return event.text


def answered(state: State, event: WaitingAnswered) -> None:
    """Take the answer of a short attach."""
    visit = state.visits.get(event.worker)
    if visit is not None:
        visit.event, visit.until = event, state.now + (0.0 if event.problem else NEW_PORT_S)
        end_visits(state)


def end_visits(state: State) -> None:
    """End the short attaches whose workers listen again. Another attach may have waited for that.

    Called when Ray has listed the workers, and at every Tick.
    """
    for key, visit in list(state.visits.items()):
        if visit.event is None:
            continue
        row = state.run.processes[key].paused
        is_late = state.now >= visit.until
        if row is None or row.port != visit.port or is_late:
            if row is not None and is_late and not visit.event.problem:
                state.log("warning", f"{key} does not listen again after {NEW_PORT_S:g} s")
            del state.visits[key]
            if visit.event.problem:
                # The adapter may still be closing the session of the short attach.
                state.cooling_down[key] = state.now
            visit.over.set_result(visit.event)
            state.run.processes.examine(key)
