"""Questions to workers that wait for a debugger in breakpoint() and have no agent.

A short attach asks them (runtime/short_attach.py). They keep waiting, are still listed as paused, and the next debugger
that attaches stops them at the same breakpoint(). The design is in docs/design/adapter.md.
"""

from raydap.core.effects import AskWaiting
from raydap.core.events import WaitingAnswered
from raydap.core.flows import Flow, Future
from raydap.core.model.state import State
from raydap.core.workers import attach
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey


def ask(state: State, key: WorkerKey, name: str, expression: str, timeout_s: float) -> Flow[str]:
    """Return the result of an expression of inworker/calls.py in a worker that waits.

    `name` names the worker in messages to users. Raises ProblemError (WORKER_BUSY) if the worker does not wait any
    more, and (WORKER_BROKEN) if its debugger does not answer.
    """
    while (visit := state.visits.get(key)) is not None:
        yield from visit  # A debug port serves one client at a time.
    row = state.run.processes[key].paused
    if row is None or key in state.workers or key in state.cooling_down:
        text = f"raydap is attaching to {name} or detaching from it; try again in a moment."
        raise ProblemError(Problem(Code.WORKER_BUSY, text))
    visit = state.visits[key] = Future()
    state.emit(AskWaiting(attach.dial(row), expression, timeout_s))
    event = yield from visit
    if event.problem:
        raise ProblemError(Problem(Code.WORKER_BROKEN, f"The debugger of {name} does not answer: {event.problem}."))
    return event.text


def answered(state: State, event: WaitingAnswered) -> None:
    """End a short attach, and pass its answer to the flow that waits for it. Another attach may have had to wait."""
    visit = state.visits.pop(event.worker, None)
    if visit is not None:
        visit.set_result(event)
        state.run.processes.examine(event.worker)
