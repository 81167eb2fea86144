"""Barriers: breakpoints with the hit condition `all`, which hold each worker until all of its class have arrived.

A worker that arrives stops, but clients do not see that. When the last worker has arrived, all stops are shown at once.
Stops of the driver, at plain breakpoints, and after steps and pauses are shown at once as usual. So a user who steps a
worker to a barrier sees it.

A barrier waits for every worker of its class that is or will be attached, as far as raydap and Ray's list of actors
show. It does not wait for a worker that has ended. The class of a task consists of all workers that run the task. Ray's
list of tasks lags, so the barrier stays closed for TASKS_LAG_S. Ray does not report that a worker no longer runs a
task, so raydap also reads the stacks of missing workers.
"""

from collections.abc import Iterable

from raydap.core.effects import AskActors
from raydap.core.events import ActorsListed
from raydap.core.flows import Flow
from raydap.core.model.barrier_wait import BarrierWait, WorkerClass, class_of
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, WorkerThread
from raydap.core.workers import barrier_arrivals, barrier_progress, selection, stops
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

LABEL_WAIT_S = 5.0
"""Seconds for Ray to report what an arrived worker runs. After that the worker is shown, because its class is
unknown."""

TASKS_LAG_S = 2.0
"""Seconds after the first arrival until Ray has reported all workers that run the task."""

ACTORS_WAIT_S = 5.0
"""Seconds for Ray to list its actors. After that, a barrier opens without the list."""

ASK_AGAIN_S = 1.0
"""Seconds between two queries for the actors while some of them are starting."""


def examine(state: State) -> None:
    """Show the workers at each barrier at which all have arrived.

    Called after every event.
    """
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
    """Open the barriers whose time limit is over, and report the progress of the others.

    Called at every Tick. While actors are starting, raydap queries Ray for them again, because users read their number.
    """
    for wait in list(state.barriers.values()):
        if wait.id in state.barriers:
            _examine(state, wait, ())
    for wait in state.barriers.values():
        is_answered = wait.actors is not None and wait.asked_at is not None
        if wait.starting and (wait.asked_at is None or (is_answered and state.now >= wait.asked_at + ASK_AGAIN_S)):
            _ask_again(state, wait)
    barrier_progress.report(state)


def examine_all(state: State) -> None:
    """Examine all barriers with all workers, for example after a change of the breakpoints."""
    for wait in list(state.barriers.values()):
        if wait.id in state.barriers:
            _examine(state, wait, state.workers | wait.members)


def actors_listed(state: State, event: ActorsListed) -> None:
    """Update the barriers that wait for Ray's list of actors."""
    for wait in list(state.barriers.values()):
        if wait.asked_at is not None and wait.actors is None:
            wait.actors = event.actors
            if wait.of is not None:
                _count_others(state, wait, wait.of)
            _examine(state, wait, ())


def _examine(state: State, wait: BarrierWait, changed: Iterable[WorkerKey]) -> None:
    """Count the changed workers at a barrier, and open it if it is complete.

    The other workers are not counted again: each arrival is examined, and there may be thousands of workers.
    """
    for key in changed:
        wait.drop_gone(key)
    if not wait.arrived:
        _end(state, wait)
    elif _has_breakpoint(state, wait) and _has_class(state, wait):
        # The first examination counts all workers.
        for key in changed if wait.members else state.workers:
            wait.count(key, state.workers.get(key))
        _show_if_complete(state, wait)


def _show_if_complete(state: State, wait: BarrierWait) -> None:
    terms = wait.breakpoint.barrier
    assert terms is not None
    assert wait.of is not None
    arrived = len(wait.arrived)
    if terms.seconds and state.now >= wait.began + terms.seconds:
        barrier_progress.report_limit(state, wait, f"the time limit of {terms.seconds:g} s is over")
        show(state, wait)
    elif terms.count:
        if arrived + wait.ended >= terms.count:
            show(state, wait)
    elif arrived == len(wait.members) and _is_complete(state, wait, wait.of):
        show(state, wait)


def _has_breakpoint(state: State, wait: BarrierWait) -> bool:
    """Return whether the breakpoint is still a barrier; otherwise open the barrier.

    Without any breakpoint the waiting workers resume. At a plain breakpoint they are shown.
    """
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
    """Return whether the class of the waiting workers is known.

    If Ray does not report the class within LABEL_WAIT_S, show the workers. If another barrier waits at the same
    breakpoint for the same class, merge this one into it.
    """
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
    barrier_arrivals.ask_facts(state, wait.first)
    return True


def _is_complete(state: State, wait: BarrierWait, of: WorkerClass) -> bool:
    """Return whether no further worker of the class is expected. All attached ones have arrived already."""
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
    """Query Ray for its actors again, and for what other workers run."""
    wait.asked_at, wait.actors = state.now, None
    state.emit(AskActors())
    barrier_arrivals.ask_facts(state, wait.first)


def _count_others(state: State, wait: BarrierWait, of: WorkerClass) -> None:
    """Count the actors of the class that are not members yet: those that will be attached, and those out of reach."""
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
        # The facts about an attached worker may not be known yet.
        is_allowed = row is not None and selection.has_room(state, row) and selection.may_attach(run, row)
        will_come = process in attached or process in injected or is_allowed
        if will_come if actor.alive else reaches_new:
            wait.starting += 1
        else:
            wait.unreached += 1


def show(state: State, wait: BarrierWait) -> None:
    """Open a barrier: show all threads that wait at it."""
    _end(state, wait)
    for thread in wait.waiting:
        stops.halt(state, thread, wait.arrived[thread.worker.key][thread])


def release(state: State, wait: BarrierWait) -> None:
    """Open a barrier: resume all threads that wait at it, without showing them."""
    _end(state, wait)
    for thread in wait.waiting:
        thread.run()
        state.start(_resume(state, thread, wait))


def _resume(state: State, thread: WorkerThread, wait: BarrierWait) -> Flow[None]:
    """Resume a thread that waited at a barrier; show it if its worker refuses."""
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
