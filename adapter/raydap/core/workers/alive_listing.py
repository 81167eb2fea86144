"""The list of alive workers: Ray processes that run, and are neither attached nor paused.

The list contains every such process, so the source reports it only while it is needed: while a client requests all
workers (raydap/workers with `all`), or while breakpoints apply to all workers (`"reach": "any"`).
"""

from collections.abc import Collection

from raydap.core.effects import WatchAlive
from raydap.core.events import FactsListed, WorkersAlive
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.workers import renaming, selection, unprepared, worker_entries
from raydap.errors import Code, Problem
from raydap.protocol.types import WorkerKey


def watch(state: State) -> None:
    """Start the reports of alive workers when they are needed, and stop them when they are not.

    Called after every event.
    """
    run = state.run
    # Discovery of a launched program starts at configurationDone, and WatchAlive must come after that.
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
    """Update the list of alive workers from a report of all running workers.

    Workers that are attached or paused are listed as such already.
    """
    run = state.run
    if not run.processes.is_watched:
        return
    alive, late = {}, {}
    for reported, facts in event.workers.items():
        row = _with_agent(run, reported)
        if run.processes.has_ended(_keys(row)):
            continue  # The report is older than the end of the process.
        if row.key not in state.workers and run.processes[row.key].paused is None:
            alive[row.key] = row, facts
        elif facts != RayFacts() and not _facts(state, row.key).job:
            # Ray has not sent its facts yet: it was attached before its first task and has not stopped yet, or it has
            # just paused, or it is the driver that raydap has launched.
            late[row.key] = facts
    renaming.number_classes(state, event.workers.values())
    run.processes.list_alive(alive)
    if late:
        selection.take_facts(state, FactsListed(late))
    unprepared.report_failures(state)
    unprepared.inject_needed(state)
    if not run.processes.is_listed:
        run.processes.is_listed = True
        worker_entries.send_complete(state)


def _facts(state: State, key: WorkerKey) -> RayFacts:
    """Return the newest facts about an attached or paused worker; without a job if Ray has sent none."""
    worker = state.workers.get(key)
    return worker.facts if worker is not None else state.run.processes[key].facts or RayFacts()


def _with_agent(run: Run, row: ProcessInfo) -> ProcessInfo:
    """Return the row of the same process with its agent; `row` itself if the process has no agent."""
    return next((agent for key in _keys(row) if (agent := run.processes[key].agent) is not None), row)


def _keys(row: ProcessInfo) -> list[WorkerKey]:
    """Return the keys under which raydap may have recorded this process.

    The agent of a driver may call before Ray has given the driver an id. Its key is then made of the process id
    (runtime/agents.py).
    """
    if row.worker_type != "DRIVER":
        return [row.key]
    return [row.key, WorkerKey(f"pid-{row.pid} on {row.node_id}"), WorkerKey(f"pid-{row.pid}")]


def note_without_agent(state: State, keys: Collection[WorkerKey]) -> None:
    """Note in the entries of workers without an agent why raydap cannot attach to them.

    Called when a client requests to attach to these workers. With `"reach": "any"` there is no such note, because
    raydap starts an agent in these workers.
    """
    run = state.run
    if run.settings is None or run.settings.reach == "any":
        return
    for key in keys:
        process = run.processes[key]
        if process.alive is not None and process.agent is None:
            text = (
                "The worker has no agent, so raydap can attach to it only when it calls breakpoint(). "
                'Attach with "reach": "any", or start the program with `raydap run`, or launch it.'
            )
            with run.processes.changing(key) as process:
                process.problem = str(Problem(Code.NO_AGENT, text))
