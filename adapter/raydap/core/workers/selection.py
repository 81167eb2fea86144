"""Selects the workers to attach: from those that discovery finds, by the filters, and so many at a time."""

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from raydap.core.effects import AskLabels
from raydap.core.errors import Code, Problem
from raydap.core.events import PausedWorker, WorkerLabel, WorkersLabelled, WorkersPaused
from raydap.core.model.paused import Candidate
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, Worker
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, thread_names
from raydap.core.workers.detach import REDIAL_DELAY_S, let_go
from raydap.protocol.types import WorkerKey

LATE_LIST_S = 10.0
"""Seconds after a disconnect for which a snapshot may come that was asked for before it."""

LABELS_RETRY_S = 10.0
"""Seconds until Ray is asked again for labels that a filter needs; its task list lags about one second."""


def paused(state: State, event: WorkersPaused) -> None:
    """Takes a snapshot of the paused workers. Workers that are attached already may still be in it for a moment."""
    run = state.run
    listed = {row.key: row for row in event.workers}
    run.paused.keep_only(listed, state.workers)
    run.paused.asked_at = state.now - event.age_s
    _end_cool_downs(state)
    fresh = []
    for key, row in listed.items():
        worker = state.workers.get(key)
        if key in run.paused.candidates or (worker is not None and not worker.leaving):
            continue
        failure = run.paused.failures.get(key)
        if failure is not None and failure.row.port == row.port and state.now < failure.retry.at:
            continue
        if is_on_node(run.settings, row):
            label = run.alive.take(key)
            # A worker never gets another actor, but another task or method.
            known = replace(label, task="", started=0.0) if label.actor else WorkerLabel()
            run.paused.add(Candidate(row, state.now + LABELS_RETRY_S, known))
            fresh.append(row)
    ask_labels(state, fresh)


def examine_again(state: State) -> None:
    """Tries again to attach where that is due. Called at every Tick.

    Workers without the labels that the filters need stay paused: Ray is asked again, and the user is told once.
    """
    _end_cool_downs(state)
    state.attaching.pass_over_slow(state.now)
    paused, settings = state.run.paused, state.run.settings
    for failure in [failure for failure in paused.failures.values() if failure.retry.at <= state.now]:
        if failure.row.key not in state.workers:
            paused.try_again(failure, state.now + LABELS_RETRY_S)
    if settings is None or not settings.needs_labels:
        return
    late = [
        candidate
        for key, candidate in paused.candidates.items()
        if key not in paused.labels and candidate.ask_at <= state.now
    ]
    for candidate in late:
        paused.candidates[candidate.row.key] = replace(candidate, ask_at=state.now + LABELS_RETRY_S)
    ask_labels(state, [candidate.row for candidate in late])
    if late:
        text = "Ray does not say yet what some paused workers run, so the filters cannot choose them; they stay paused."
        state.report_once(Problem(Code.FILTER_UNKNOWN, text))


def ask_labels(state: State, rows: Iterable[PausedWorker]) -> None:
    of_ray = tuple(row for row in rows if row.worker_type != "TARGET")
    if of_ray:
        state.emit(AskLabels(of_ray))


def attach_candidates(state: State) -> None:
    """Begins as many attaches as may be under way. Called after every event. A candidate that cannot be attached now is
    examined again only after a change that concerns it."""
    run = state.run
    if not run.configured or run.settings is None:
        return
    while (key := run.paused.queue.take(not may_have_more(state, run.settings), state.attaching)) is not None:
        candidate = run.paused.candidates.get(key)
        if candidate is None or _is_leaving(state, key) or not _is_wanted(run, run.settings, candidate.row):
            continue
        # maxWorkers does not limit workers that the user has chosen.
        if not run.choices.get(key) and is_full(state, run.settings):
            run.paused.queue.without_room[key] = None
        elif not state.attaching.has_room(candidate.row.node):
            run.paused.queue.await_node(key, candidate.row.node, run.choices.get(key) is True)
        else:
            label = run.paused.label(key)
            run.paused.take(key)
            worker = Worker(state, run, candidate.row, run.settings)
            worker.label = label
            attach.begin(state, worker)


def try_at_once(state: State, keys: Iterable[WorkerKey]) -> None:
    """The user wants these now, whatever has failed before."""
    paused = state.run.paused
    for key in keys:
        failure = paused.failures.get(key)
        if failure is not None and key not in state.workers:
            paused.try_again(failure, state.now + LABELS_RETRY_S)


def may_attach(state: State, row: PausedWorker) -> bool:
    """Whether the user's choice and the filters allow to attach to a prepared worker now.

    Before its first task Ray cannot say what it runs. Filters that need that allow it then; `labelled` may let it go.
    A child is allowed if the worker that it comes from is.
    """
    run = state.run
    if row.worker_type == "CHILD":
        if run.settings is not None and not run.settings.sub_process:
            return False
        row = origin(run, row)
    if run.settings is None or (row.worker_type == "DRIVER" and run.program is not None):
        return run.auto_attach
    unknown = run.auto_attach and run.settings.needs_labels and row.key not in run.paused.labels
    # A driver is no actor, whatever else Ray will say of it.
    is_no_actor = row.worker_type == "DRIVER" and run.settings.actor is not None
    unknown = unknown and row.worker_type != "CHILD" and not is_no_actor
    if not is_on_node(run.settings, row) or not (unknown or _is_wanted(run, run.settings, row)):
        return False
    if unknown:
        ask_labels(state, [row])
    return True


def has_room(state: State, row: PausedWorker) -> bool:
    """Whether maxWorkers allows to attach to a prepared worker now. A child is allowed if the worker that it comes from
    is chosen."""
    run, first = state.run, origin(state.run, row)
    is_launched = first.worker_type == "DRIVER" and run.program is not None
    is_chosen = run.choices.get(first.key) is True
    return run.settings is None or is_launched or is_chosen or not is_full(state, run.settings)


def origin(run: Run, row: PausedWorker) -> PausedWorker:
    """The prepared worker that a child comes from, or the child itself if that is not known. A worker is not trusted:
    it may name itself as its parent."""
    seen: set[WorkerKey] = set()
    while row.worker_type == "CHILD" and row.parent in run.prepared and row.key not in seen:
        seen.add(row.key)
        row = run.prepared[row.parent]
    return row


def may_have_more(state: State, settings: AttachSettings, more: int = 0) -> bool:
    attached = len(state.workers) - len(state.leaving)
    return settings.max_workers is None or attached + more < settings.max_workers


def is_full(state: State, settings: AttachSettings, more: int = 0) -> bool:
    """Return whether maxWorkers allows no other worker, and report it once. `more` are workers that will be attached
    soon."""
    if may_have_more(state, settings, more):
        return False
    text = f"maxWorkers allows {settings.max_workers} workers at a time; the others wait until one is gone."
    state.report_once(Problem(Code.TOO_MANY_WORKERS, text))
    return True


def _end_cool_downs(state: State) -> None:
    """A snapshot that was asked for before the disconnect may still list the worker as paused. Ray lists no targets."""
    paused = state.run.paused
    for key, since in list(state.cooling_down.items()):
        row = paused.row(key)
        is_listed_since = paused.asked_at >= since or (row is not None and row.worker_type == "TARGET")
        if state.now >= since + (REDIAL_DELAY_S if is_listed_since else LATE_LIST_S):
            del state.cooling_down[key]
            paused.examine(key)
            state.run.roster.mark(key)


def _is_leaving(state: State, key: WorkerKey) -> bool:
    """Whether the debugger of a paused worker may still be busy with its last client."""
    return key in state.workers or key in state.cooling_down


def child_started(state: State, parent: Worker, body: dict[str, Any]) -> None:
    """Attaches to a subprocess of a worker at once, beyond all limits, because it waits for a debugger. Without
    `subProcess` it is attached only to let it go: debugpy's `attach` cannot leave subprocesses alone.

    Source: debugpy/adapter/clients.py, notify_of_subprocess. The event has the address as seen on the worker's node, so
    the address by which the parent was reached is used instead.
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
    """Lets a worker go that the user does not want any more."""
    worker = state.workers.get(key)
    if worker is None or worker.leaving:
        return
    let_go(state, worker)
    if worker.row.worker_type == "TARGET":
        # Targets are found only once, and the user may want to attach again.
        state.run.paused.add(Candidate(worker.row, state.now, WorkerLabel()))


def labelled(state: State, event: WorkersLabelled) -> None:
    """Takes the labels that Ray's lists have (now) for workers. The names of shown threads may change."""
    paused = state.run.paused
    renamed: list[Thread] = []
    for key, label in event.labels.items():
        worker = state.workers.get(key)
        if worker is not None or key in paused.candidates or key in paused.failures or key in state.run.prepared:
            paused.set_label(key, label)
        family = [state.workers[child] for child in state.run.children.get(key, ()) if child in state.workers]
        if worker is not None:
            if worker.label != label:
                family.append(worker)
            worker.label = label
        for each in family:
            each.mark()  # What a child runs is what its parent does.
            is_wanted = _is_wanted(each.run, each.settings, origin(each.run, each.row))
            if each.row.agent and not each.leaving and not is_wanted:
                detach_worker(state, each.key)
            else:
                renamed += (thread for thread in each.threads.values() if thread.is_shown)
    for client in state.ready_clients():
        for thread in renamed:
            thread_names.changed(client, thread)


def is_on_node(settings: AttachSettings | None, row: PausedWorker) -> bool:
    wanted = settings.node if settings is not None else None
    return wanted is None or any(fnmatchcase(name, wanted) for name in (row.node, row.node_id, row.host))


def _is_wanted(run: Run, settings: AttachSettings, row: PausedWorker) -> bool:
    return is_wanted(run, settings, row.key, run.paused.labels.get(row.key))


def is_wanted(run: Run, settings: AttachSettings, key: WorkerKey, label: WorkerLabel | None) -> bool:
    """Whether to attach to a worker. The user's choice decides; without one, the filters that need Ray's labels. Until
    its labels are known, the worker stays as it is."""
    chosen = run.choices.get(key)
    if chosen is not None or not run.auto_attach:
        return chosen is True
    if not settings.needs_labels:
        return True
    if label is None:
        return False
    return (
        _matches(settings.job, label.job, label.submission)
        and _matches(settings.actor, label.actor, label.actor_name)
        and _matches(settings.task, label.task, label.task.rpartition(".")[2], "" if label.actor else label.title)
    )


def _matches(pattern: str | None, *names: str) -> bool:
    return pattern is None or any(name and fnmatchcase(name, pattern) for name in names)
