"""Workers without an agent: with `"reach": "any"` raydap starts one in each that something can stop, or that is chosen.

From then on they are like prepared ones: the agent calls, and prepared.py attaches. A worker that no agent can be
started in keeps its reason in its entry. raydap tries again later, because the worker may be free by then.
"""

from raydap.core.effects import InjectAgent
from raydap.core.errors import Code, Problem
from raydap.core.events import AgentInjected, PausedWorker, WorkerLabel
from raydap.core.model.alive import AliveWorker
from raydap.core.model.run import Injection, Run
from raydap.core.model.state import State
from raydap.core.settings import AttachSettings
from raydap.core.workers import selection
from raydap.protocol.types import WorkerKey

ANSWER_TIMEOUT_S = 180.0
"""Seconds for the runtime to try all ways; it answers in any case."""

CALL_TIMEOUT_S = 20.0
"""Seconds for an agent that is on its way to call raydap."""

RETRY_DELAY_S = (10.0, 300.0)
"""Seconds until raydap tries again to start an agent: the first delay, and the longest."""

CONFIRMING_LISTS = 2
"""How many lists of running workers must name a worker after a failure before the failure is reported. The end of a
worker is no problem of the user's."""

RAYS_OWN = ("JobSupervisor",)
"""Classes of actors in which Ray itself runs the entry points of jobs. They are left alone unless chosen."""

_NO_CALL = "its agent does not call; it starts when the native code that it runs lets other threads run Python"


def reaches_all(run: Run) -> bool:
    """Whether the breakpoints are to hold in all workers, so that all that run have to be known."""
    return _may_inject(run) and run.auto_attach and run.breakpoints.can_stop


def inject_needed(state: State) -> None:
    """Starts the agents that are needed now. Called after a change of who runs, of what can stop workers, and of what
    the user has chosen."""
    run = state.run
    if run.settings is None or not _may_inject(run):
        return
    for key in [key for key in run.injections if key not in run.alive.workers]:
        del run.injections[key]
    for key, worker in run.alive.workers.items():
        injection = run.injections.get(key)
        if worker.row.agent or key in run.prepared or (injection is not None and state.now < injection.until):
            continue
        if _is_needed(run, run.settings, worker) and _has_room(state, run.settings, key):
            delay = 0.0 if injection is None else injection.delay
            run.injections[key] = Injection(state.now + ANSWER_TIMEOUT_S, delay, under_way=True)
            actor = worker.label.actor != ""
            state.emit(InjectAgent(worker.row, actor, run.settings.sub_process))


def try_at_once(run: Run, keys: list[WorkerKey]) -> None:
    """The user wants these now, whatever has failed before."""
    for key in keys:
        if key in run.injections and not run.injections[key].under_way:
            del run.injections[key]


def injected(state: State, event: AgentInjected) -> None:
    injection = state.run.injections.get(event.worker)
    if injection is None or not injection.under_way:
        return
    if event.problem:
        _failed(state, event.worker, injection, event.problem)
    else:
        injection.until = state.now + CALL_TIMEOUT_S


def examine_again(state: State) -> None:
    """Called at every Tick."""
    run = state.run
    due = [(key, injection) for key, injection in run.injections.items() if injection.until <= state.now]
    for key, injection in due:
        if injection.under_way:
            _failed(state, key, injection, _NO_CALL)
    if due:
        inject_needed(state)


def report_failures(state: State) -> None:
    """Report the first failure of each worker that still runs. Workers with the same reason, such as no gdb, share one
    message. Called after each list of running workers. The first list after a failure can be older than the end of
    the worker."""
    run = state.run
    for key in [key for key, injection in run.injections.items() if injection.failure and key in run.alive.workers]:
        injection = run.injections[key]
        injection.listings += 1
        if injection.listings == CONFIRMING_LISTS:
            reason, injection.failure = injection.failure, ""
            if reason not in run.refusals:
                run.refusals.add(reason)
                state.report(_problem(run.alive.workers[key].row, reason))


def _failed(state: State, key: WorkerKey, injection: Injection, reason: str) -> None:
    run = state.run
    if injection.delay == 0:
        injection.failure = reason
    injection.under_way = False
    injection.delay = min(injection.delay * 2, RETRY_DELAY_S[1]) or RETRY_DELAY_S[0]
    injection.until = state.now + injection.delay
    worker = run.alive.workers.get(key)
    if worker is None:
        return  # It has ended, or was attached meanwhile.
    problem = str(_problem(worker.row, reason))
    run.alive.set_problem(key, problem)
    state.log("info", problem)


def _problem(row: PausedWorker, reason: str) -> Problem:
    name = f"{row.worker_type.lower()} {row.pid} on {row.node}"
    return Problem(Code.NO_AGENT, f"raydap cannot attach to {name} while it runs: {reason.rstrip('.')}.")


def _may_inject(run: Run) -> bool:
    """A launched program is prepared; others are left alone then."""
    return run.settings is not None and run.settings.reach == "any" and run.program is None and run.configured


def _is_needed(run: Run, settings: AttachSettings, worker: AliveWorker) -> bool:
    row, label = worker.row, worker.label
    if row.worker_type not in ("WORKER", "DRIVER") or not row.pid:
        return False
    chosen = run.choices.get(row.key) is True
    if not chosen and (label.actor in RAYS_OWN or not run.breakpoints.can_stop):
        return False
    known = None if label == WorkerLabel() else label
    return selection.is_on_node(settings, row) and selection.is_wanted(run, settings, row.key, known)


def _has_room(state: State, settings: AttachSettings, key: WorkerKey) -> bool:
    if state.run.choices.get(key) is True:
        return True
    under_way = sum(injection.under_way for injection in state.run.injections.values())
    return not selection.is_full(state, settings, under_way)
