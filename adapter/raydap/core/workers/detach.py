"""The detach from one worker, which then keeps running and can be attached again.

Wait for all answers first, then send `disconnect`, and close the connection when its answer arrives. Measured with
debugpy 1.8: an adapter dies if it has an answer to forward and its client is gone. The worker's next breakpoint() then
waits forever.
"""

from collections.abc import Collection
from functools import partial

from raydap.core.effects import HangUp, ReleaseAgent
from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, Worker
from raydap.core.workers import breakpoint_events, child_sessions
from raydap.errors import Code, Problem, ProblemError, sentence
from raydap.inworker import calls

DISCONNECT_TIMEOUT_S = 20.0
"""Seconds for a worker that is being detached to answer all requests, and then again to answer `disconnect`."""

REDIAL_DELAY_S = 1.5
"""Seconds until a detached worker may be dialled again. The clock of the core is up to one second late.

Never dial an adapter before it has finished with its last client: it would never accept a connection again
(debugpy/adapter/clients.py: the constructor of the new client reports to the first session it finds, and the exception
ends the thread that accepts connections)."""


def request_detach(state: State, worker: Worker) -> None:
    """Detach from a worker, now or after its handshake.

    Never send `terminate`: debugpy would kill the worker.
    """
    worker.leave()
    _begin(state, worker)


def detach_all(state: State, workers: Collection[Worker]) -> None:
    """Detach from many workers, in parts; from now on none of them counts as attached."""
    for worker in workers:
        worker.leave()
    state.start(state.parts.for_each(workers, partial(_begin, state)))


def _begin(state: State, worker: Worker) -> None:
    """Start the disconnect of a worker if it is attached.

    For a worker in its handshake, attach.py calls `request_detach` again after the handshake.
    """
    if worker.stage is AttachStage.ATTACHED and not worker.detaching:
        worker.detaching = True
        end_threads(state, worker)
        state.start(_disconnect(state, worker))


def _disconnect(state: State, worker: Worker) -> Flow[None]:
    """Send `disconnect` once the worker owes no answer, then close the connection.

    If raydap is ending the launched program, wait for its end first. A worker that resumed earlier would open the port
    of Ray's debugger at its next breakpoint(), only to be killed.
    """
    if worker.run.ending is not None:
        yield from worker.run.ending.over
        if state.workers.get(worker.key) is not worker:
            return
    try:
        worker.answers_until = state.now + DISCONNECT_TIMEOUT_S
        undo = {"expression": calls.leave(worker.settings.tune_workers), "context": "clipboard"}
        worker.ask("evaluate", undo, DISCONNECT_TIMEOUT_S)
        check_quiet(state, worker)
        yield from worker.quiet
        yield from worker.ask("disconnect", {"terminateDebuggee": False}, DISCONNECT_TIMEOUT_S)
    except ProblemError as error:
        state.log("info", f"{worker} did not disconnect cleanly: {error.problem}")
    except Exception as error:
        # An internal error must not keep the worker attached.
        state.log_exception(error)
    if state.workers.get(worker.key) is worker:
        hang_up(state, worker)


def check_quiet(state: State, worker: Worker) -> None:
    """Resolve `quiet` when a worker that is being detached owes no answer, or its time for answers is over.

    Called after every message of the worker or of its children, and at every Tick. The worker is not quiet during the
    handshake of a child that shares its adapter.
    """
    if worker.answers_until is None:
        return
    attaching = (state.workers[key] for key in state.attaching)
    has_attaching_child = any(each.parent is worker and each.shares_adapter for each in attaching)
    if state.now >= worker.answers_until or not (has_attaching_child or state.pending.owes(worker.key)):
        worker.answers_until = None
        worker.quiet.set_result(None)


def hang_up(state: State, worker: Worker) -> None:
    """Close the connection to a worker and remove the worker."""
    state.emit(HangUp(worker.key))
    forget(state, worker, "was detached")


def forget(state: State, worker: Worker, why: str) -> None:
    """Remove a worker: fail the requests that wait for its answers, and end its handles and threads.

    `why` follows the worker's name in the error messages, such as `is gone`.
    """
    worker.advance(AttachStage.GONE)
    del state.workers[worker.key]
    state.leaving.discard(worker.key)
    end_attach(state, worker)
    if worker.leaving:
        state.cooling_down[worker.key] = state.now
    for asked in state.pending.take_worker(worker.key):
        text = sentence(f"{worker} {why}, so {asked.command} has no answer.")
        asked.set_exception(ProblemError(Problem(Code.WORKER_GONE, text)))
    for future in (worker.connected, worker.initialized, worker.quiet):
        future.set_exception(ProblemError(Problem(Code.WORKER_GONE, sentence(f"{worker} {why}."))))
    end_threads(state, worker)
    worker.scope.close()
    worker.run.processes.detached(worker.key)
    state.run.processes.examine(worker.key)
    child_sessions.end(state, worker)
    worker.run.watches.forget(worker.key)
    changed = worker.run.breakpoints.forget(worker.key)
    if worker.run is state.run:
        breakpoint_events.changed(state, changed)


def end_attach(state: State, worker: Worker) -> None:
    """Note that the attach to a worker is over, and release its process if it has called in the meantime."""
    state.attaching.end(worker.key)
    if worker.has_called:
        worker.has_called = False
        state.emit(ReleaseAgent(worker.key))


def end_threads(state: State, worker: Worker) -> None:
    """End all threads of a worker, and notify the clients that know them."""
    for thread in worker.threads.values():
        state.end_thread(thread)
    worker.threads.clear()
