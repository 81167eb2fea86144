"""Workers without an agent: with `"reach": "any"`, raydap starts an agent in each one that it has to attach.

These are the workers that something can stop, and the ones that the user has chosen. With its agent a worker is like a
prepared one: the agent calls, and prepared.py attaches. If no agent can be started in a worker, the worker's entry
contains the reason. raydap tries again later, because the worker may be free by then.
"""

from raydap.core.effects import InjectAgent
from raydap.core.events import AgentInjected
from raydap.core.model.processes import Injection, Process
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.core.workers import selection
from raydap.errors import Code, Problem
from raydap.protocol.types import WorkerKey

ANSWER_TIMEOUT_S = 180.0
"""Seconds for the runtime to try all ways to start an agent. It answers in any case."""

CALL_TIMEOUT_S = 20.0
"""Seconds for an agent to call raydap after the runtime has started it."""

RETRY_DELAY_S = (10.0, 300.0)
"""Seconds until raydap tries again to start an agent: the first delay, and the longest."""

CONFIRMING_LISTS = 2
"""The number of lists of running workers that must contain a worker after a failure, before the failure is reported. If
the worker has ended, the user needs no report."""

RAYS_OWN = ("JobSupervisor",)
"""Classes of actors in which Ray itself runs the entry points of jobs. raydap leaves them alone unless the user has
chosen them."""

_NO_CALL = "its agent has not called yet; it starts when the worker's native code lets other threads run Python"


def reaches_all(run: Run) -> bool:
    """Return whether the breakpoints apply to all workers, so that raydap needs the list of all that run."""
    return _may_inject(run) and run.auto_attach and run.can_stop


def inject_needed(state: State) -> None:
    """Start the agents that are needed now.

    Called after a change of which workers run, of what can stop workers, or of what the user has chosen.
    """
    run = state.run
    if run.settings is None or not _may_inject(run):
        return
    processes = run.processes
    for process in list(processes.timed.values()):
        if process.injection is not None and process.alive is None:
            _note(run, process.key, None)
    for key, process in list(processes.alive.items()):
        injection = process.injection
        if process.alive is None or process.alive.agent or process.agent is not None:
            continue
        if injection is not None and state.now < injection.until:
            continue
        if _is_needed(run, run.settings, process) and _has_room(state, run.settings, process):
            delay = 0.0 if injection is None else injection.delay
            _note(run, key, Injection(state.now + ANSWER_TIMEOUT_S, delay, under_way=True))
            actor = process.known.actor != ""
            state.emit(InjectAgent(process.alive, actor, run.settings.sub_process))


def inject(state: State, row: ProcessInfo) -> None:
    """Start an agent in a worker without one, although the breakpoints do not apply to all workers."""
    settings, injection = state.run.settings, state.run.processes[row.key].injection
    if settings is not None and (injection is None or not injection.under_way):
        _note(state.run, row.key, Injection(state.now + ANSWER_TIMEOUT_S, 0.0, under_way=True))
        state.emit(InjectAgent(row, True, settings.sub_process))


def _note(run: Run, key: WorkerKey, injection: Injection | None) -> None:
    with run.processes.changing(key) as process:
        process.injection = injection


def _injections(run: Run) -> list[tuple[Process, Injection]]:
    return [(each, each.injection) for each in run.processes.timed.values() if each.injection is not None]


def try_at_once(run: Run, keys: list[WorkerKey]) -> None:
    """Drop the waiting times after failures for these workers, because the user wants them now."""
    for key in keys:
        injection = run.processes[key].injection
        if injection is not None and not injection.under_way:
            _note(run, key, None)


def injected(state: State, event: AgentInjected) -> None:
    """Handle the result of an attempt to start an agent; after a success, wait for the agent's call."""
    process = state.run.processes[event.worker]
    injection = process.injection
    if injection is None or not injection.under_way:
        return
    if event.problem:
        _failed(state, process, injection, event.problem)
    else:
        injection.until = state.now + CALL_TIMEOUT_S


def examine_again(state: State) -> None:
    """Fail the attempts whose agent has not called in time, and try again where a retry is due.

    Called at every Tick.
    """
    due = [(process, injection) for process, injection in _injections(state.run) if injection.until <= state.now]
    for process, injection in due:
        if injection.under_way:
            _failed(state, process, injection, _NO_CALL)
    if due:
        inject_needed(state)


def report_failures(state: State) -> None:
    """Report the first failure of each worker that still runs.

    Called after each list of running workers. Workers with the same reason, such as a missing gdb, share one message.
    The first list after a failure can be older than the end of the worker, so a second list has to confirm that it
    runs.
    """
    run = state.run
    for process, injection in _injections(run):
        if process.alive is None or not injection.failure:
            continue
        injection.listings += 1
        if injection.listings == CONFIRMING_LISTS:
            reason, injection.failure = injection.failure, ""
            if reason not in run.refusals:
                run.refusals.add(reason)
                state.report(_problem(process.alive, reason))


def _failed(state: State, process: Process, injection: Injection, reason: str) -> None:
    if injection.delay == 0:
        injection.failure = reason
    injection.under_way = False
    injection.delay = min(injection.delay * 2, RETRY_DELAY_S[1]) or RETRY_DELAY_S[0]
    injection.until = state.now + injection.delay
    if process.alive is None:
        return  # It has ended, or was attached in the meantime.
    with state.run.processes.changing(process.key):
        process.problem = str(_problem(process.alive, reason))
    state.log("info", process.problem)


def _problem(row: ProcessInfo, reason: str) -> Problem:
    name = f"{row.worker_type.lower()} {row.pid} on {row.node}"
    return Problem(Code.NO_AGENT, f"raydap cannot attach to {name} while it runs: {reason.rstrip('.')}.")


def _may_inject(run: Run) -> bool:
    """Return whether raydap may start agents in running workers.

    A launched program is prepared, and then other workers are left alone.
    """
    return run.settings is not None and run.settings.reach == "any" and run.program is None and run.configured


def _is_needed(run: Run, settings: AttachSettings, process: Process) -> bool:
    row, facts = process.alive, process.known
    if row is None or row.worker_type not in ("WORKER", "DRIVER") or not row.pid:
        return False
    if process.choice is not True and (facts.actor in RAYS_OWN or not run.can_stop):
        return False
    known = None if facts == RayFacts() else facts
    return selection.is_on_node(settings, row) and selection.is_wanted(run, settings, process, known)


def _has_room(state: State, settings: AttachSettings, process: Process) -> bool:
    under_way = sum(injection.under_way for _, injection in _injections(state.run))
    if process.choice is True or selection.may_have_more(state, settings, under_way):
        return True
    selection.report_full(state, settings)
    return False
