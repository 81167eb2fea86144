"""Arrivals of threads at barriers (workers/barriers.py)."""

from raydap.core.effects import AskFacts
from raydap.core.model.barrier_wait import BarrierWait, class_of
from raydap.core.model.breakpoints import RunBreakpoint
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey


def waits(state: State, thread: WorkerThread, hit: list[RunBreakpoint], stopped: dict[str, object]) -> bool:
    """Record a stop at these breakpoints; return whether the thread has to wait at a barrier without being shown.

    The thread is shown if one of the breakpoints is no barrier. It is also shown after a step or a pause of the user,
    and then counts as arrived.
    """
    barriers = [breakpoint for breakpoint in hit if breakpoint.barrier is not None]
    if not barriers or len(barriers) < len(hit):
        return False
    wait = _wait(state, thread.worker, barriers[0])
    wait.arrive(thread, stopped)
    return not thread.stepping and thread.snapshot is None


def _wait(state: State, worker: Worker, breakpoint: RunBreakpoint) -> BarrierWait:
    of = class_of(worker)
    for wait in state.barriers.values():
        if wait.breakpoint is breakpoint and wait.of == of and (of is not None or worker.key in wait.arrived):
            return wait
    wait = BarrierWait(state.handles.new(), breakpoint, of, state.now)
    state.barriers[wait.id] = wait
    if of is not None:
        ask_facts(state, worker)
    return wait


def ask_facts(state: State, worker: Worker) -> None:
    """Query Ray for what the attached workers run, because they may have to arrive as well.

    Actors are left out, because their class never changes.
    """
    rows: dict[WorkerKey, ProcessInfo] = {}
    for each in state.workers.values():
        origin = each.origin
        if each.run is worker.run and origin.row.worker_type == "WORKER" and not origin.facts.actor:
            rows[origin.key] = origin.row
    if rows:
        state.emit(AskFacts(tuple(rows.values())))
