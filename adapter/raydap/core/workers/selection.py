"""Selects the workers that may be attached, by the filters and the user's choice."""

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from raydap.core.effects import AskFacts
from raydap.core.events import FactsListed, WorkersPaused
from raydap.core.model.processes import Process
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, own_ranks, program_entry, renaming
from raydap.core.workers.detach import REDIAL_DELAY_S, request_detach
from raydap.errors import Code, Problem
from raydap.protocol.types import WorkerKey

LATE_LIST_S = 10.0
"""Seconds after a disconnect during which a list of paused workers may still arrive that is older than the
disconnect."""

LABELS_RETRY_S = 10.0
"""Seconds until Ray is queried again for facts that a filter needs. Ray's task list lags about one second."""


def paused(state: State, event: WorkersPaused) -> None:
    """Update the paused workers from a snapshot.

    For a moment, the snapshot may still contain workers that are attached already.
    """
    run, processes = state.run, state.run.processes
    listed = {row.key: row for row in event.workers}
    processes.keep_paused(listed, state.workers)
    processes.paused_at = state.now - event.age_s
    _end_cool_downs(state)
    fresh = []
    for key, row in listed.items():
        worker, process = state.workers.get(key), processes[key]
        is_known = process.candidate is not None and process.candidate.port == row.port
        if is_known or (worker is not None and not worker.leaving):
            continue
        has_failed = process.failure is not None and process.failure.port == row.port
        if has_failed and process.retry is not None and state.now < process.retry.at:
            continue
        if is_on_node(run.settings, row):
            facts = processes.take_alive(key)
            # The actor of a worker never changes, but its task or method does.
            known = replace(facts, task="", started=0.0) if facts.actor else None
            processes.add_candidate(row, state.now + LABELS_RETRY_S, known)
            fresh.append(row)
    ask_facts(state, fresh)


def examine_again(state: State) -> None:
    """Query Ray again for the facts that the filters need, and report once that they are missing.

    Called at every Tick. Workers without facts stay paused. Also end the cool-downs that are over.
    """
    _end_cool_downs(state)
    state.attaching.pass_over_slow(state.now)
    settings, processes = state.run.settings, state.run.processes
    if settings is None or not settings.needs_facts:
        return
    late = [each for each in processes.candidates() if each.facts is None and each.ask_at <= state.now]
    for process in late:
        with processes.changing(process.key):
            process.ask_at = state.now + LABELS_RETRY_S
    ask_facts(state, [process.candidate for process in late if process.candidate is not None])
    if late:
        text = "Ray has not reported yet what some paused workers run, so raydap cannot filter them; they stay paused."
        state.report_once(Problem(Code.FILTER_UNKNOWN, text))


def ask_facts(state: State, rows: Iterable[ProcessInfo]) -> None:
    """Query Ray for the facts about these workers; explicit targets have none."""
    of_ray = tuple(row for row in rows if row.worker_type != "TARGET")
    if of_ray:
        state.emit(AskFacts(of_ray))


def may_attach(run: Run, row: ProcessInfo) -> bool:
    """Return whether the user's choice and the filters allow attaching to a prepared worker now.

    Ray has no facts for a worker before its first task. Filters that need the facts allow the attach then, and
    `take_facts` may detach the worker later. A child is allowed if the worker from which it descends is.
    """
    if row.worker_type == "CHILD" and run.settings is not None and not run.settings.sub_process:
        return False
    row = origin(run, row)
    if run.settings is None or (row.worker_type == "DRIVER" and run.program is not None):
        return run.auto_attach
    process = run.processes[row.key]
    allowed = may_be_unwanted(run, run.settings, row) or is_wanted(run, run.settings, process, process.facts)
    return allowed and is_on_node(run.settings, row)


def may_be_unwanted(run: Run, settings: AttachSettings, row: ProcessInfo) -> bool:
    """Return whether a prepared worker is attached before Ray has sent the facts that the filters need.

    A driver is never an actor, so a filter for actors excludes it at once.
    """
    can_match = row.worker_type != "CHILD" and not (row.worker_type == "DRIVER" and settings.actor is not None)
    return run.auto_attach and settings.needs_facts and can_match and run.processes[row.key].facts is None


def has_room(state: State, row: ProcessInfo) -> bool:
    """Return whether maxWorkers allows attaching to a worker now.

    maxWorkers does not limit launched drivers and workers that the user has chosen. A child counts as chosen if the
    worker from which it descends is.
    """
    run, first = state.run, origin(state.run, row)
    is_launched = first.worker_type == "DRIVER" and run.program is not None
    is_chosen = run.processes[first.key].choice is True
    return run.settings is None or is_launched or is_chosen or may_have_more(state, run.settings)


def origin(run: Run, row: ProcessInfo) -> ProcessInfo:
    """Return the prepared worker from which a child descends, or the child itself if that is not known.

    A worker is not trusted: it may name itself as its parent.
    """
    seen: set[WorkerKey] = set()
    while row.worker_type == "CHILD" and row.key not in seen:
        parent = run.processes[row.parent].agent
        if parent is None:
            break
        seen.add(row.key)
        row = parent
    return row


def may_have_more(state: State, settings: AttachSettings, more: int = 0) -> bool:
    """Return whether maxWorkers allows another worker.

    `more` is the number of workers that will be attached soon.
    """
    attached = len(state.workers) - len(state.leaving)
    return settings.max_workers is None or attached + more < settings.max_workers


def report_full(state: State, settings: AttachSettings) -> None:
    """Report, once in a run, that maxWorkers keeps workers waiting."""
    text = f"maxWorkers allows {settings.max_workers} workers at a time; the others wait until one ends or is detached."
    state.report_once(Problem(Code.TOO_MANY_WORKERS, text))


def _end_cool_downs(state: State) -> None:
    """Allow attaching again to workers that were detached long enough ago.

    A list that was requested before the disconnect may still contain the worker as paused. Ray lists no explicit
    targets, so these need not wait for a newer list.
    """
    processes = state.run.processes
    for key, since in list(state.cooling_down.items()):
        row = processes[key].paused
        is_listed_since = processes.paused_at >= since or (row is not None and row.worker_type == "TARGET")
        if state.now >= since + (REDIAL_DELAY_S if is_listed_since else LATE_LIST_S):
            del state.cooling_down[key]
            processes.examine(key)
            state.run.roster.mark(key)


def child_started(state: State, parent: Worker, body: dict[str, object]) -> None:
    """Attach at once to a subprocess of a worker, beyond all limits, because it waits for a debugger.

    Without `subProcess` the subprocess is attached only to be detached again: debugpy's `attach` cannot leave
    subprocesses alone. Source: debugpy/adapter/clients.py, notify_of_subprocess. The event contains the address as seen
    from the worker's node, so raydap uses the address by which it has reached the parent.
    """
    pid = body.get("subProcessId")
    key = WorkerKey(f"{parent.key}/{pid}")
    if type(pid) is int and key not in state.workers:
        row = replace(parent.row, key=key, pid=pid, worker_type="CHILD")
        worker = Worker(state, parent.run, row, parent.settings, parent)
        if parent.leaving or not parent.settings.sub_process:
            worker.leave()
        attach.begin(state, worker)


def detach_worker(state: State, key: WorkerKey) -> None:
    """Detach from a worker that is not wanted any more."""
    worker = state.workers.get(key)
    if worker is None or worker.leaving:
        return
    request_detach(state, worker)
    if worker.row.worker_type == "TARGET":
        # Discovery reports an explicit target only once, and the user may want to attach again.
        state.run.processes.add_candidate(worker.row, state.now)


def take_facts(state: State, event: FactsListed) -> None:
    """Update workers with the facts from Ray's lists, and detach prepared workers that the filters exclude.

    The names of shown threads may change.
    """
    processes = state.run.processes
    renaming.number_classes(state, event.facts.values())
    shown: list[WorkerThread] = []
    for key, listed in event.facts.items():
        facts = program_entry.with_name(state.run, key, listed)
        worker, process = state.workers.get(key), processes[key]
        if (worker or process.paused or process.agent) is not None:
            processes.set_facts(key, facts)
        family = [state.workers[child] for child in process.children if child in state.workers]
        if worker is not None:
            if worker.facts != facts:
                family.append(worker)
            worker.facts = facts
        for each in family:
            each.mark()  # A child has the facts of the worker from which it descends.
            first = each.run.processes[origin(each.run, each.row).key]
            if each.row.agent and not each.leaving and not is_wanted(each.run, each.settings, first, first.facts):
                detach_worker(state, each.key)
            else:
                shown += (thread for thread in each.threads.values() if thread.is_shown)
    renaming.threads_renamed(state, shown)
    for key in event.facts:
        if key in state.workers:
            own_ranks.ask_stopped(state, state.workers[key])


def is_on_node(settings: AttachSettings | None, row: ProcessInfo) -> bool:
    """Return whether the filter for nodes allows a worker: by the name, Ray's id or the address of its node."""
    wanted = settings.node if settings is not None else None
    return wanted is None or any(fnmatchcase(name, wanted) for name in (row.node, row.node_id, row.host))


def is_wanted(run: Run, settings: AttachSettings, process: Process, facts: RayFacts | None) -> bool:
    """Return whether to attach to a worker, by the user's choice or else by the filters that need Ray's facts.

    While its facts are unknown, such filters do not select the worker.
    """
    if process.choice is not None or not run.auto_attach:
        return process.choice is True
    if not settings.needs_facts:
        return True
    if facts is None:
        return False
    return (
        _matches(settings.job, facts.job, facts.submission)
        and _matches(settings.actor, facts.actor, facts.actor_name)
        and _matches(settings.task, facts.task, facts.task.rpartition(".")[2], "" if facts.actor else facts.given_name)
    )


def _matches(pattern: str | None, *names: str) -> bool:
    return pattern is None or any(name and fnmatchcase(name, pattern) for name in names)
