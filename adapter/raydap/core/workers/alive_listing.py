"""Lists alive workers while a client asks for all (raydap/workers with `all`), or breakpoints are to hold in all.

Every process of Ray is alive, so the source is asked for them only then.
"""

from collections.abc import Collection

from raydap.core.effects import WatchAlive
from raydap.core.events import PausedWorker, WorkerLabel, WorkersAlive, WorkersLabelled
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.workers import selection, unprepared, worker_entries
from raydap.errors import Code, Problem
from raydap.protocol.types import WorkerKey


def watch(state: State) -> None:
    """Lets the source report alive workers while they are needed. Called after every event."""
    run = state.run
    # A launched program is looked for only when it starts.
    has_source = run.settings is not None and (run.program is None or run.configured)
    asked = any(client.view.all and client.is_attached for client in state.clients.values())
    wanted = has_source and (asked or unprepared.reaches_all(run))
    if wanted != run.processes.is_watched:
        state.emit(WatchAlive(wanted))
        if wanted:
            run.processes.is_watched = True
        else:
            run.processes.forget_alive()


def listed(state: State, event: WorkersAlive) -> None:
    """Takes a report of all workers that run. Those that are attached or paused are listed as such already."""
    run = state.run
    if not run.processes.is_watched:
        return
    alive, labels = {}, {}
    for reported, label in event.workers.items():
        row = _with_agent(run, reported)
        if run.processes.has_ended(_keys(row)):
            continue  # The report is older than its end.
        if row.key not in state.workers and run.processes[row.key].paused is None:
            alive[row.key] = row, label
        elif _label(state, row.key) == WorkerLabel() != label:
            # It was attached before it ran anything and has not stopped yet, or has paused just now.
            labels[row.key] = label
    run.processes.list_alive(alive)
    if labels:
        selection.labelled(state, WorkersLabelled(labels))
    unprepared.report_failures(state)
    unprepared.inject_needed(state)
    if not run.processes.is_listed:
        run.processes.is_listed = True
        worker_entries.tell_complete(state)


def _label(state: State, key: WorkerKey) -> WorkerLabel:
    """Return the newest label that Ray has sent for an attached or paused worker."""
    worker = state.workers.get(key)
    return worker.label if worker is not None else state.run.processes[key].label or WorkerLabel()


def _with_agent(run: Run, row: PausedWorker) -> PausedWorker:
    """The row with the agent of the same process, if there is one."""
    return next((agent for key in _keys(row) if (agent := run.processes[key].agent) is not None), row)


def _keys(row: PausedWorker) -> list[WorkerKey]:
    """What raydap may know the process by. A driver with an agent may have called before it got its id from Ray, and is
    then known by its process (runtime/agents.py)."""
    if row.worker_type != "DRIVER":
        return [row.key]
    return [row.key, WorkerKey(f"pid-{row.pid} on {row.node_id}"), WorkerKey(f"pid-{row.pid}")]


def note_without_agent(state: State, keys: Collection[WorkerKey]) -> None:
    """Lets the entries of those that a client wants to attach to, and that have no agent, say why that cannot be."""
    run = state.run
    if run.settings is None or run.settings.reach == "any":
        return
    for key in keys:
        process = run.processes[key]
        if process.alive is not None and process.agent is None:
            text = (
                "It runs without an agent, so raydap attaches to it only when it calls breakpoint(); "
                'attach with "reach": "any" to reach it as it is, or start the program with `raydap run`, or launch it.'
            )
            with run.processes.changing(key) as process:
                process.problem = str(Problem(Code.NO_AGENT, text))
