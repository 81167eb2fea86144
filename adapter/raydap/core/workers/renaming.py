"""Workers that get another name: Ray reports what they run, or they report their rank."""

from collections.abc import Iterable

from raydap.core.model.state import State
from raydap.core.model.worker import WorkerThread
from raydap.core.process_info import RayFacts
from raydap.core.workers import thread_names
from raydap.protocol.types import WorkerKey


def number_classes(state: State, found: Iterable[RayFacts]) -> None:
    """Rename the actors of each class of which these facts show, for the first time, that it has several actors.

    Only then all processes are walked over: once for each class.
    """
    kinds = {(facts.job, facts.actor) for facts in found if state.run.ranks.number_class(facts)}
    if kinds:
        for process in state.run.processes:
            worker = state.workers.get(process.key)
            facts = process.shown_facts if worker is None else worker.facts
            if (facts.job, facts.actor) in kinds:
                renamed(state, process.key)


def renamed(state: State, key: WorkerKey) -> None:
    """Notify the clients that a worker has another name, and so have its children."""
    state.run.roster.mark(key)
    worker = state.workers.get(key)
    children = [state.workers[child] for child in state.run.processes[key].children if child in state.workers]
    for child in children:
        child.mark()
    family = children if worker is None else [worker, *children]
    threads_renamed(state, [thread for each in family for thread in each.threads.values() if thread.is_shown])


def threads_renamed(state: State, threads: list[WorkerThread]) -> None:
    """Notify the clients that these stopped threads have other names."""
    for client in state.ready_clients():
        for thread in threads:
            thread_names.changed(client, thread)
