"""Decides which processes are attached now: one decision for those that wait for a debugger and those with an agent.

A process that has to wait is examined again after a change of its reason: of what is wanted, an attach that is over, a
worker that is gone, or a time.
"""

from enum import Enum, auto

from raydap.core.errors import Code, Problem
from raydap.core.events import PausedWorker
from raydap.core.model.processes import Process, Retry, after
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, selection
from raydap.protocol.types import WorkerKey

BUSY_DELAY_S = 1.0
"""Seconds until raydap tries again to attach to a worker that it is just leaving."""


class Decision(Enum):
    """What to do with a process."""

    ATTACH = auto()
    LEAVE = auto()
    """Until something about the process changes."""
    AWAIT_ROOM = auto()
    """Until maxWorkers allows another worker."""
    AWAIT_NODE = auto()
    """Until fewer others are being attached on its node."""
    AWAIT_DETACH = auto()
    """Until the last session has left it."""
    AWAIT_TASK = auto()
    """It may run later what the filters name."""


def decide(state: State, settings: AttachSettings, process: Process, at_once: bool = False) -> Decision:
    """Read only. `at_once`: the process waits for it, and would miss its breakpoints later."""
    run, key = state.run, process.key
    row = process.candidate or process.agent
    if row is None:
        return Decision.LEAVE
    if row is process.candidate:
        # The debugger of a paused worker may still be busy with its last client.
        is_busy = key in state.workers or key in state.cooling_down
        if is_busy or not selection.is_wanted(run, settings, process, process.label):
            return Decision.LEAVE
    else:
        worker = state.workers.get(key)
        if worker is not None:
            return Decision.AWAIT_DETACH if worker.leaving else Decision.LEAVE
        is_due = process.retry is None or process.choice is True or state.now >= process.retry.at
        if not is_due or not is_needed(run, row):
            return Decision.LEAVE
        if not selection.may_attach(run, row):
            return Decision.AWAIT_TASK if run.auto_attach else Decision.LEAVE
    if not selection.has_room(state, row):
        return Decision.AWAIT_ROOM
    return Decision.ATTACH if at_once or state.attaching.has_room(row.node) else Decision.AWAIT_NODE


def examine(state: State, key: WorkerKey, at_once: bool = False) -> bool:
    """Decide, and attach or note the reason to wait. Return whether the attach has begun."""
    run = state.run
    process = run.processes[key]
    row = process.candidate or process.agent
    if run.settings is None or not run.configured or row is None:
        return False
    decision = decide(state, run.settings, process, at_once)
    if decision is Decision.ATTACH:
        _attach(state, run.settings, process, row)
    elif decision is Decision.AWAIT_ROOM:
        run.processes.queue.without_room[key] = None
        selection.report_full(state, run.settings)
    elif decision is Decision.AWAIT_NODE:
        run.processes.queue.await_node(key, row.node, process.choice is True)
    elif decision is Decision.AWAIT_TASK:
        run.processes.set_retry(key, after(None, state.now))
    elif decision is Decision.AWAIT_DETACH:
        run.processes.set_retry(key, process.retry or Retry(state.now + BUSY_DELAY_S, BUSY_DELAY_S))
    return decision is Decision.ATTACH


def examine_prepared(state: State) -> None:
    """Examine all processes with an agent, after a change of what can stop them or of what the user has chosen."""
    for key in list(state.run.processes.prepared):
        examine(state, key)


def examine_waiting(state: State) -> None:
    """Begin as many attaches as may be under way. Called after every event."""
    run = state.run
    if not run.configured or run.settings is None:
        return
    queue = run.processes.queue
    while (key := queue.take(not selection.may_have_more(state, run.settings), state.attaching)) is not None:
        examine(state, key)


def examine_due(state: State) -> None:
    """Try again where that is due. Called at every Tick."""
    processes = state.run.processes
    for process in list(processes.timed.values()):
        retry = process.retry
        if retry is None or retry.at > state.now or process.key in state.workers or try_again(state, process):
            continue
        if process.failure is None and process.retry is retry:
            # Nothing needs it now. A change of that is noticed.
            processes.set_retry(process.key, None)


def try_again(state: State, process: Process) -> bool:
    """Examine a process again, whatever has failed before. Return whether the attach has begun."""
    if process.failure is None:
        return examine(state, process.key)
    if process.candidate is None and process.key not in state.workers:
        state.run.processes.wait(process.failure, state.now + selection.LABELS_RETRY_S)
    return False


def is_needed(run: Run, row: PausedWorker) -> bool:
    """Whether a process with an agent has to be attached. The driver that raydap has launched is debugged like any
    launched program."""
    launched = run.program is not None and row.worker_type == "DRIVER"
    return launched or run.breakpoints.can_stop or run.processes[row.key].choice is True


def _attach(state: State, settings: AttachSettings, process: Process, row: PausedWorker) -> None:
    run, key = state.run, process.key
    worker = Worker(state, run, row, settings, state.workers.get(row.parent))
    if process.label is not None:
        worker.label = process.label
    elif process.candidate is not None:
        worker.label = process.known
    if process.candidate is not None:
        run.processes.take(key)
    else:
        _report_lost_stop(state, process)
        if row.worker_type == "CHILD":
            _note_origin(state, row)
        elif selection.may_be_unwanted(run, settings, row):
            selection.ask_labels(state, [row])
    attach.begin(state, worker)


def _report_lost_stop(state: State, process: Process) -> None:
    """Only the connection was lost, and with it the stop."""
    loss = process.loss
    if loss is not None:
        with state.run.processes.changing(process.key):
            process.loss = None
        if loss.stopped:
            state.report(Problem(Code.WORKER_GONE, f"{loss.label}: {loss.problem}" if loss.label else loss.problem))


def _note_origin(state: State, row: PausedWorker) -> None:
    run = state.run
    origin = selection.origin(run, row)
    run.processes.note_child(origin.key, row.key)
    if origin is not row and origin.key not in state.workers and run.processes[origin.key].label is None:
        selection.ask_labels(state, [origin])
