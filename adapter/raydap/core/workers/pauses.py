"""Pauses of threads that cannot stop: a snapshot of the stack is shown in place of a stop.

A thread stops at its next line of Python. A thread that waits for a lock, for `ray.get` or for native code reaches that
line only after the wait, and sends no event until then. So a moment after each pause, raydap queries the worker for the
threads that have not stopped, and for their stacks (inworker/blocked_threads.py). raydap shows such a thread as
stopped, and describes it as blocked. Its pause stays pending: when the thread runs again, it stops, and that stop
replaces the snapshot.

The design is in docs/design/pauses.md.
"""

from functools import partial

from raydap.analysis.thread_stacks import SampledStack, decode
from raydap.core.flows import Flow
from raydap.core.model.state import PendingPause, State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, ThreadState, Worker, WorkerThread
from raydap.core.translate import snapshots
from raydap.core.workers import native_code, stops
from raydap.core.workers.replies import query
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import LocalId, WorkerKey

SILENT_S = 1.5
"""Seconds after a pause until the user is notified that the worker does not answer."""

_ANSWER_TIMEOUT_S = 3600.0
"""Seconds for the list of blocked threads: native code can block all Python code of its process for any length of
time."""


def begin(state: State, worker: Worker, thread: WorkerThread | None, timeout_s: float) -> None:
    """Pause one thread, or all threads of a worker if `thread` is None; threads that wait at a barrier are shown."""
    if stops.show_waiting(state, worker.threads.values() if thread is None else [thread]) and thread is not None:
        return
    if thread is None:
        # pydevd expects "*" for all threads, and ends if it gets a number. An adapter replaces the number by "*".
        worker.request_logged("pause", {"threadId": "*" if worker.row.agent else 0}, timeout_s)
    else:
        # debugpy's own `pause` stops all threads of the process.
        expression = {"expression": calls.pause_thread(thread.local), "context": "clipboard"}
        worker.request_logged("evaluate", expression, timeout_s)
    before = state.pauses.get(worker.key)
    threads: frozenset[LocalId] = frozenset()
    if thread is not None and (before is None or before.threads):
        threads = frozenset([thread.local]) | (frozenset() if before is None else before.threads)
    state.pauses[worker.key] = PendingPause(threads, state.now)


def begin_wanted(state: State, worker: Worker) -> None:
    """Pause a worker that was attached in order to be paused (raydap/pause).

    A worker without an agent was attached at a breakpoint(), where it stops anyway.
    """
    with worker.run.processes.changing(worker.key) as process:
        is_wanted, process.is_to_pause = process.is_to_pause, False
    if is_wanted and worker.row.agent:
        begin(state, worker, None, ANSWER_TIMEOUT_S)


def examine(state: State) -> None:
    """Query the workers that were paused a moment ago for their blocked threads.

    Called at every Tick.
    """
    if state.pauses:
        state.start(state.parts.for_each(list(state.pauses), partial(_examine, state)))


def _examine(state: State, key: WorkerKey) -> None:
    worker, pause = state.workers.get(key), state.pauses.get(key)
    if pause is None:
        return
    if worker is None or not worker.is_attached:
        del state.pauses[key]
    elif not pause.examined:
        pause.examined = True
        state.start(_show_blocked(state, worker, pause))
    elif not pause.reported and state.now >= pause.since + SILENT_S:
        pause.reported = True
        state.start(native_code.report_unresponsive(state, worker))


def _show_blocked(state: State, worker: Worker, pause: PendingPause) -> Flow[None]:
    held = [thread.local for thread in worker.threads.values() if thread.state is ThreadState.STOPPED]
    expression = calls.blocked_threads(sorted(pause.threads), sorted(held))
    try:
        stacks = decode((yield from query(worker, expression, _ANSWER_TIMEOUT_S)))
    except ProblemError as error:
        state.log("info", str(error.problem))
        return
    except ValueError as error:
        state.log("warning", f"cannot read which threads of {worker} are blocked: {error}")
        return
    finally:
        if state.pauses.get(worker.key) is pause:
            del state.pauses[worker.key]
    if worker.is_attached:
        for stack in snapshots.mapped(stacks, worker.settings):
            _show(state, worker, stack)


def _show(state: State, worker: Worker, stack: SampledStack) -> None:
    thread = worker.thread(LocalId(stack.id))
    if thread.state is not ThreadState.RUNNING:
        return  # It has stopped in the meantime.
    place = stack.place
    # Editors show the description beside the worker's name and at its expense, so keep it short. They show the text in
    # a tooltip.
    stopped = {"reason": "pause", "description": place.partition(" ")[0], "text": place, "threadId": thread.handle}
    stops.halt(state, thread, {**stopped, "allThreadsStopped": False}, stack)
