"""Threads that were to pause and cannot: a snapshot of their stack is shown in place of a stop.

A thread stops at its next line of Python. One that waits for a lock, for `ray.get` or for native code does not reach
one before that returns, and sends no event. So a moment after each pause the worker is asked which threads have not
stopped, and where they are (inworker/blocked_threads.py). Such a thread is shown as stopped, and described as blocked.
Its pause stays: when it runs on, it stops, and that stop takes the place of the snapshot.
"""

from functools import partial

from raydap.analysis.thread_stacks import ThreadStack, decode
from raydap.core.flows import Flow
from raydap.core.model.state import PendingPause, State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, Thread, ThreadState, Worker
from raydap.core.translate import snapshots
from raydap.core.workers import native_code, stops
from raydap.core.workers.replies import query
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import LocalId, WorkerKey

SILENT_S = 1.5
"""Seconds until the user is told of a worker that does not even say where its threads are."""

_ANSWER_TIMEOUT_S = 3600.0
"""Native code can keep all Python code of its process from running for any time."""


def begin(state: State, worker: Worker, thread: Thread | None, timeout_s: float) -> None:
    """Pauses one thread, or all of a worker. Those that wait at a barrier are shown."""
    if stops.show_waiting(state, worker.threads.values() if thread is None else [thread]) and thread is not None:
        return
    if thread is None:
        # pydevd wants "*" for all threads, and ends if it gets a number. An adapter puts it there.
        worker.tell("pause", {"threadId": "*" if worker.row.agent else 0}, timeout_s)
    else:
        # debugpy's own `pause` stops all threads of the process.
        expression = {"expression": calls.pause_thread(thread.local), "context": "clipboard"}
        worker.tell("evaluate", expression, timeout_s)
    before = state.pauses.get(worker.key)
    threads: frozenset[LocalId] = frozenset()
    if thread is not None and (before is None or before.threads):
        threads = frozenset([thread.local]) | (frozenset() if before is None else before.threads)
    state.pauses[worker.key] = PendingPause(threads, state.now)


def begin_wanted(state: State, worker: Worker) -> None:
    """Pauses a worker that was to be attached for that (raydap/pause). One without an agent was attached because it
    stops at a breakpoint()."""
    with worker.run.processes.changing(worker.key) as process:
        is_wanted, process.is_to_pause = process.is_to_pause, False
    if is_wanted and worker.row.agent:
        begin(state, worker, None, ANSWER_TIMEOUT_S)


def examine(state: State) -> None:
    """Asks the workers that were to pause a moment ago. Called at every Tick."""
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
        state.start(native_code.tell(state, worker))


def _show_blocked(state: State, worker: Worker, pause: PendingPause) -> Flow[None]:
    held = [thread.local for thread in worker.threads.values() if thread.state is ThreadState.STOPPED]
    expression = calls.blocked_threads(sorted(pause.threads), sorted(held))
    try:
        stacks = decode((yield from query(worker, expression, _ANSWER_TIMEOUT_S)))
    except ProblemError as error:
        state.log("info", str(error.problem))
        return
    except ValueError as error:
        state.log("warning", f"{worker} does not say which threads are blocked: {error}")
        return
    finally:
        if state.pauses.get(worker.key) is pause:
            del state.pauses[worker.key]
    if worker.is_attached:
        for stack in snapshots.mapped(stacks, worker.settings):
            _show(state, worker, stack)


def _show(state: State, worker: Worker, stack: ThreadStack) -> None:
    thread = worker.thread(LocalId(stack.id))
    if thread.state is not ThreadState.RUNNING:
        return  # It has stopped meanwhile.
    place = stack.place
    # Editors show the description beside the worker's name, at its expense; the text is in a tooltip.
    stopped = {"reason": "pause", "description": place.partition(" ")[0], "text": place, "threadId": thread.handle}
    stops.halt(state, thread, {**stopped, "allThreadsStopped": False}, stack)
