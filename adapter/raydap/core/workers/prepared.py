"""Prepared workers: those with an agent, which can be attached at any time, without a breakpoint() in their code.

Each process of a launched program calls when it begins, and waits. It is attached before its first line if something
could stop it there; otherwise it runs on undebugged, at full speed, until somebody sets a breakpoint.
"""

from raydap.core.events import AgentCalled, PausedWorker, ReleaseAgent
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.workers import attach, selection


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


def _attach_if_needed(state: State, row: PausedWorker) -> bool:
    run = state.run
    if row.key in state.workers or not _is_needed(run, row) or not selection.may_attach(state, row):
        return False
    assert run.settings is not None
    worker = Worker(state, run, row, run.settings, state.workers.get(row.parent))
    if row.worker_type == "CHILD":
        run.children.setdefault(selection.origin(run, row).key, {})[row.key] = None
    worker.label = run.paused.labels.get(row.key, worker.label)
    attach.begin(state, worker)
    return True


def _is_needed(run: Run, row: PausedWorker) -> bool:
    """The driver is debugged like any launched program."""
    return row.worker_type == "DRIVER" or run.breakpoints.can_stop
