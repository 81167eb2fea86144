"""Decides whether to attach to a process that waits for a debugger or has an agent.

A process that has to wait is examined again when the reason changes: the user's choice, the breakpoints, the end of
another attach, the end of a worker, or a deadline.
"""

from enum import Enum, auto

from raydap.core import flows
from raydap.core.model.processes import Process, Retry, after
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.process_info import ProcessInfo
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, selection
from raydap.errors import Code, Problem
from raydap.protocol.types import WorkerKey

BUSY_DELAY_S = 1.0
"""Seconds until the next attempt for a worker that is still being detached."""


class Decision(Enum):
    """The result of `decide`."""

    ATTACH = auto()
    LEAVE = auto()
    """Do not attach until the record changes."""
    AWAIT_ROOM = auto()
    """Wait until maxWorkers allows another worker."""
    AWAIT_NODE = auto()
    """Wait until fewer workers are being attached on the node."""
    AWAIT_DETACH = auto()
    """Wait until the previous session has detached from the process."""
    AWAIT_TASK = auto()
    """Wait: the filters exclude what the process runs now, but may match its next task."""


def decide(state: State, settings: AttachSettings, process: Process, at_once: bool = False) -> Decision:
    """Return the decision about a process, without changing anything.

    `at_once`: the process waits for this decision. If it had to wait for other attaches, it would miss its breakpoints.
    """
    run, key = state.run, process.key
    row = process.candidate or process.agent
    if row is None:
        return Decision.LEAVE
    if row is process.candidate:
        # The adapter of a paused worker may still be closing its previous session, or serve a short attach.
        is_busy = key in state.workers or key in state.cooling_down or key in state.visits
        if is_busy or not selection.is_wanted(run, settings, process, process.facts):
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
    """Decide about a process, then attach or queue it; return whether the attach has begun."""
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
    """Examine all processes with an agent, after a change of the breakpoints or of the user's choices."""
    for key in list(state.run.processes.prepared):
        examine(state, key)


def examine_waiting(state: State) -> None:
    """Examine the queued processes that may be attached now, in parts.

    Called after every event.
    """
    run = state.run
    if not run.configured or run.settings is None:
        return
    queue = run.processes.queue
    for _ in range(flows.PART):
        key = queue.take(not selection.may_have_more(state, run.settings), state.attaching)
        if key is None:
            return
        examine(state, key)
    state.parts.next()


def examine_due(state: State) -> None:
    """Examine the processes whose retry is due.

    Called at every Tick.
    """
    processes = state.run.processes
    for process in list(processes.timed.values()):
        retry = process.retry
        if retry is None or retry.at > state.now or process.key in state.workers or try_again(state, process):
            continue
        if process.failure is None and process.retry is retry:
            # Nothing needs this process now. A change of the breakpoints examines all processes again.
            processes.set_retry(process.key, None)


def try_again(state: State, process: Process) -> bool:
    """Examine a process again although an attach has failed; return whether the attach has begun.

    A process that still waits for a debugger becomes a candidate again, and is examined after the current event.
    """
    if process.failure is None:
        return examine(state, process.key)
    if process.candidate is None and process.key not in state.workers:
        state.run.processes.add_candidate(process.failure, state.now + selection.LABELS_RETRY_S)
    return False


def is_needed(run: Run, row: ProcessInfo) -> bool:
    """Return whether a process with an agent has to be attached.

    A launched driver is always attached, like any launched program.
    """
    launched = run.program is not None and row.worker_type == "DRIVER"
    return launched or run.can_stop or run.processes[row.key].choice is True


def _attach(state: State, settings: AttachSettings, process: Process, row: ProcessInfo) -> None:
    run, key = state.run, process.key
    worker = Worker(state, run, row, settings, state.workers.get(row.parent))
    if process.facts is not None:
        worker.facts = process.facts
    elif process.candidate is not None:
        worker.facts = process.known
    if process.candidate is not None:
        run.processes.take_candidate(key)
    else:
        _report_lost_stop(state, process)
        if row.worker_type == "CHILD":
            _note_origin(state, row)
        elif selection.may_be_unwanted(run, settings, row):
            selection.ask_facts(state, [row])
    attach.begin(state, worker)


def _report_lost_stop(state: State, process: Process) -> None:
    """Report a stop that was lost with the last connection to the process.

    The process is alive, because its agent answers.
    """
    loss = process.loss
    if loss is not None:
        with state.run.processes.changing(process.key):
            process.loss = None
        if loss.stopped:
            state.report(Problem(Code.WORKER_GONE, f"{loss.label}: {loss.problem}" if loss.label else loss.problem))


def _note_origin(state: State, row: ProcessInfo) -> None:
    """Link a child to the worker that it descends from, and query Ray for that worker's facts if they are missing."""
    run = state.run
    origin = selection.origin(run, row)
    run.processes.note_child(origin.key, row.key)
    if origin is not row and origin.key not in state.workers and run.processes[origin.key].facts is None:
        selection.ask_facts(state, [origin])
