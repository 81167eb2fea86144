"""Prepared workers: those with an agent, which can be attached at any time, without a breakpoint() in their code.

Each process of a launched program calls when it begins, and waits. It is attached before its first line if something
could stop it there; otherwise it runs on undebugged, at full speed, until somebody sets a breakpoint.
"""

from raydap.core.events import AgentCalled, PausedWorker, ReleaseAgent
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.workers import attach, selection
from raydap.protocol.types import WorkerKey


def called(state: State, event: AgentCalled) -> None:
    row, run = event.worker, state.run
    if run.settings is None or not run.configured:
        state.emit(ReleaseAgent(row.key))
        return
    run.prepared[row.key] = row
    if not _attach_if_needed(state, row):
        state.emit(ReleaseAgent(row.key))


def attach_needed(state: State) -> None:
    """Attaches to the prepared workers after a change of what can stop them."""
    if state.run.configured:
        for row in list(state.run.prepared.values()):
            _attach_if_needed(state, row)


def attach_named(state: State, key: WorkerKey) -> bool:
    """Attaches to a worker that a client has named, whatever can stop it; returns whether it has an agent."""
    row = state.run.prepared.get(key)
    if row is not None and key not in state.workers:
        _attach(state, row)
    return row is not None


def _attach_if_needed(state: State, row: PausedWorker) -> bool:
    if row.key in state.workers or not _is_needed(state.run, row) or not selection.may_attach(state, row):
        return False
    _attach(state, row)
    return True


def _attach(state: State, row: PausedWorker) -> None:
    run = state.run
    assert run.settings is not None
    worker = Worker(state, run, row, run.settings)
    worker.label = run.paused.labels.get(row.key, worker.label)
    attach.begin(state, worker)


def _is_needed(run: Run, row: PausedWorker) -> bool:
    """The driver is debugged like any launched program."""
    return row.worker_type == "DRIVER" or run.breakpoints.can_stop
