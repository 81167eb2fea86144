"""Barriers: breakpoints with the hit condition `all`, which hold each worker until all of its class have arrived.

A worker that arrives stops, and no client sees it. When the last one has come, all are shown at once. The driver's own
breakpoints, plain ones, steps and pauses are shown at once as always: a user who leads a worker to a barrier sees it.

Those are waited for that are attached or will be, as far as raydap and Ray's list of actors know. A worker that ends is
not waited for. For a task all workers count that run it; Ray's list of tasks lags, so raydap gives it some time, and
looks into those that are missing: Ray does not say that a worker runs a task no more.
"""

from collections.abc import Iterable

from raydap.core.effects import AskActors
from raydap.core.events import ActorsListed
from raydap.core.flows import Flow
from raydap.core.model.barrier_wait import BarrierWait, WorkerClass, class_of
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, ThreadState
from raydap.core.workers import barrier_arrivals, barrier_progress, selection, stops
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

LABEL_WAIT_S = 5.0
"""Seconds for Ray to say what a worker runs that has arrived. Then it is shown: nobody knows whom it waits for."""

TASKS_LAG_S = 2.0
"""Seconds after the first arrival until all workers that run a task are known."""

ACTORS_WAIT_S = 5.0
"""Seconds for Ray to list its actors. After them a barrier opens without."""

ASK_AGAIN_S = 1.0


def examine(state: State) -> None:
    """Shows the workers at barriers at which all have arrived. Called after every event."""
    changed = state.run.roster.changed
    if not state.barriers or not changed:
        return
    classes = {key: class_of(worker) for key in changed if (worker := state.workers.get(key)) is not None}
    for wait in list(state.barriers.values()):
        keys = [key for key in changed if key in wait.arrived or key in wait.members or _is_of(wait, classes.get(key))]
        if keys and wait.id in state.barriers:
            _examine(state, wait, keys)


def _is_of(wait: BarrierWait, of: WorkerClass | None) -> bool:
    return of is not None and of == wait.of


def examine_again(state: State) -> None:
    """Called at every Tick, for time limits. Users read how many actors are starting, so Ray is asked while any are."""
    for wait in list(state.barriers.values()):
        if wait.id in state.barriers:
            _examine(state, wait, ())
    for wait in state.barriers.values():
        is_answered = wait.actors is not None and wait.asked_at is not None
        if wait.starting and (wait.asked_at is None or (is_answered and state.now >= wait.asked_at + ASK_AGAIN_S)):
            _ask_again(state, wait)
    barrier_progress.tell(state)


def examine_all(state: State) -> None:
    """Called when breakpoints have changed, too."""
    for wait in list(state.barriers.values()):
        if wait.id in state.barriers:
            _examine(state, wait, state.workers | wait.members)


def actors_listed(state: State, event: ActorsListed) -> None:
    for wait in list(state.barriers.values()):
        if wait.asked_at is not None and wait.actors is None:
            wait.actors = event.actors
            if wait.of is not None:
                _count_others(state, wait, wait.of)
            _examine(state, wait, ())


def _examine(state: State, wait: BarrierWait, changed: Iterable[WorkerKey]) -> None:
    """Only those that have changed are counted anew: each arrival is examined, and they may be thousands."""
    for key in changed:
        wait.drop_gone(key)
    if not wait.arrived:
        _end(state, wait)
    elif _has_breakpoint(state, wait) and _has_class(state, wait):
        # At first, nobody is counted.
        for key in changed if wait.members else state.workers:
            wait.count(key, state.workers.get(key))
        _show_if_complete(state, wait)


def _show_if_complete(state: State, wait: BarrierWait) -> None:
    terms = wait.breakpoint.barrier
    assert terms is not None
    assert wait.of is not None
    arrived = len(wait.arrived)
    if terms.seconds and state.now >= wait.began + terms.seconds:
        barrier_progress.tell_limit(state, wait, f"{terms.seconds:g} s are over")
        show(state, wait)
    elif terms.count:
        if arrived + wait.ended >= terms.count:
            show(state, wait)
    elif arrived == len(wait.members) and _is_complete(state, wait, wait.of):
        show(state, wait)


def _has_breakpoint(state: State, wait: BarrierWait) -> bool:
    """Whether a barrier is set there still. If not, its workers run on, or are shown if they stop there in any case."""
    current = wait.first.run.breakpoints.at_place(wait.breakpoint.place)
    if current is None or current.mistake:
        release(state, wait)
    elif current.barrier is None:
        show(state, wait)
    else:
        wait.breakpoint = current
        return True
    return False


def _has_class(state: State, wait: BarrierWait) -> bool:
    """Whether it is known whom to wait for."""
    if wait.of is not None:
        return True
    wait.of = class_of(wait.first)
    if wait.of is None:
        if state.now >= wait.began + LABEL_WAIT_S:
            show(state, wait)
        return False
    for other in state.barriers.values():
        if other is not wait and other.breakpoint is wait.breakpoint and other.of == wait.of:
            for arrived in wait.arrived.values():
                for thread, stopped in arrived.items():
                    other.arrive(thread, stopped)
            _end(state, wait)
            _examine(state, other, wait.arrived)
            return False
    barrier_arrivals.ask_labels(state, wait.first)
    return True


def _is_complete(state: State, wait: BarrierWait, of: WorkerClass) -> bool:
    """Whether no more of the class will come, when all attached ones have."""
    if not of.is_actor:
        is_task = not of.children and any(each.row.worker_type == "WORKER" for each in wait.members.values())
        return not is_task or state.now >= wait.began + TASKS_LAG_S
    if wait.actors is None:
        if wait.asked_at is None:
            wait.asked_at = state.now
            state.emit(AskActors())
        return state.now >= wait.asked_at + ACTORS_WAIT_S
    _count_others(state, wait, of)
    return not wait.starting


def _ask_again(state: State, wait: BarrierWait) -> None:
    """Asks Ray for its actors, and what those do that are not known yet."""
    wait.asked_at, wait.actors = state.now, None
    state.emit(AskActors())
    barrier_arrivals.ask_labels(state, wait.first)


def _count_others(state: State, wait: BarrierWait, of: WorkerClass) -> None:
    """Counts the actors of the class that are not attached."""
    run = state.run
    members = {(worker.row.node_id, worker.row.pid) for worker in wait.members.values()}
    attached = {(worker.row.node_id, worker.row.pid) for worker in state.workers.values() if not worker.leaving}
    agents = [each.agent for each in run.processes.prepared.values() if each.agent is not None]
    prepared = {(row.node_id, row.pid): row for row in agents}
    alive = [each.alive for each in run.processes.alive.values() if each.alive is not None and each.injection]
    injected = {(row.node_id, row.pid) for row in alive}
    reach = "paused" if run.settings is None else run.settings.reach
    reaches_new = reach == "any" or (reach == "prepared" and (run.program is not None or run.agents_expected))
    wait.starting = wait.unreached = 0
    for actor in wait.actors or ():
        process = (actor.node_id, actor.pid)
        if (actor.job, actor.actor) != (of.job, of.name) or process in members:
            continue
        row = prepared.get(process)
        # What an attached one runs may not be known yet.
        is_allowed = row is not None and selection.has_room(state, row) and selection.may_attach(run, row)
        will_come = process in attached or process in injected or is_allowed
        if will_come if actor.alive else reaches_new:
            wait.starting += 1
        else:
            wait.unreached += 1


def show(state: State, wait: BarrierWait) -> None:
    """Shows all that wait."""
    _end(state, wait)
    for thread in wait.waiting:
        stops.halt(state, thread, wait.arrived[thread.worker.key][thread])


def release(state: State, wait: BarrierWait) -> None:
    """Lets all that wait run on, without having been seen."""
    _end(state, wait)
    for thread in wait.waiting:
        thread.run()
        state.start(_resume(state, thread, wait))


def _resume(state: State, thread: Thread, wait: BarrierWait) -> Flow[None]:
    """One that does not run on has to be seen."""
    expression = {"expression": calls.resume_thread(thread.local), "context": "clipboard"}
    try:
        yield from thread.worker.ask("evaluate", expression)
    except WorkerRefusedError as error:
        state.log("warning", f"{thread.worker} cannot resume a thread: {error.reply.message}")
        if thread.state is ThreadState.RUNNING:
            stops.halt(state, thread, wait.arrived[thread.worker.key][thread])
    except ProblemError as error:
        state.log("warning", str(error.problem))


def _end(state: State, wait: BarrierWait) -> None:
    del state.barriers[wait.id]
    barrier_progress.end(state, wait)
