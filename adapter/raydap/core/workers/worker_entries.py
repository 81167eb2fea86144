"""The list of workers, attached or not: raydap/workers and its event (docs/requests.md).

The transitions of workers, threads and paused workers mark what has changed, and after each event only that is
examined. Entries are made only if a client watches the list, because they are a tenth of the work of an attach.
"""

from collections.abc import Collection
from functools import partial
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from raydap.core.flows import Flow
from raydap.core.model.client import Client, View
from raydap.core.model.roster import RosterEntry
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.translate import names
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry, WorkerList, WorkerState
from raydap.protocol.types import WorkerKey

REMEMBERED = 100
"""The number of ended workers whose last entry is kept: Ray reports a crash only some seconds later."""


def send_changes(state: State) -> None:
    """Send the entries that have changed to the clients that watch.

    Called after every event.
    """
    roster = state.run.roster
    if not roster.changed:
        return
    keys, roster.changed = roster.changed, {}
    for key in keys:
        current = _state(state, key)
        if current is None:
            roster.states.pop(key, None)
        elif key not in roster.states or roster.states[key][0] != current:
            roster.states[key] = current, state.now
    if _watching(state):
        entries = [entry for key in keys if (entry := _renew(state, key)) is not None]
        if entries:
            send(state, entries)
    else:
        roster.stale.update(keys)
        for key in [key for key in keys if key not in roster.states]:
            # Entries of ended workers must not be kept until a client watches.
            _renew(state, key)


def everything(state: State, view: View) -> WorkerList:
    """Return all current workers for a client; alive ones only if the client requests all."""
    _renew_all(state)
    listed = _as_list(state, view, _for_view(view, state.run.roster.entries.values()))
    return msgspec.structs.replace(listed, cluster=state.run.where or UNSET)


def current(state: State) -> list[WorkerEntry]:
    """Return the entries of all current workers."""
    _renew_all(state)
    return [each.entry for each in state.run.roster.entries.values()]


def members(state: State) -> dict[str, WorkerEntry]:
    """Return the entries of all current workers, by their keys, with the changes that clients will get next."""
    entries = {entry.key: entry for entry in current(state)}
    for key in state.run.roster.changed:
        entry = entry_of(state, key) if key in entries else None
        if entry is not None:
            entries[key] = entry
    return entries


def renew_in_parts(state: State, client: Client) -> Flow[None]:
    """Renew the entries that have changed, in parts, so that the functions above have few left to renew."""
    yield from state.parts.for_each(list(state.run.roster.stale), partial(_renew, state), client)


def _renew_all(state: State) -> None:
    for key in list(state.run.roster.stale):
        _renew(state, key)


def send(state: State, entries: Collection[RosterEntry]) -> None:
    """Send these entries to the clients that watch.

    Without entries, the message reports only the outage, and whether the list is complete.
    """
    for client in _watching(state):
        shown = _for_view(client.view, entries)
        if shown or not entries:
            client.event("raydap/workersChanged", _as_list(state, client.view, shown))


def send_complete(state: State) -> None:
    """Notify the clients that watch when the list has become complete.

    If entries have changed, the message with the changes reports this.
    """
    if _is_complete(state) and not state.run.roster.changed:
        send(state, [])


def _is_complete(state: State) -> bool:
    """Return whether Ray has listed the running workers and raydap has searched for their agents."""
    return state.run.processes.is_listed and state.run.agents_searched


def _for_view(view: View, entries: Collection[RosterEntry]) -> Collection[RosterEntry]:
    return entries if view.all else [each for each in entries if not each.only_all]


def _watching(state: State) -> list[Client]:
    return [client for client in state.clients.values() if client.view.watching and client.is_attached]


def _as_list(state: State, view: View, entries: Collection[RosterEntry]) -> WorkerList:
    aged = (
        msgspec.structs.replace(each.entry, age=round(state.now - each.since, 1), retry=_seconds_to_retry(state, each))
        for each in entries
    )
    complete = True if view.all and _is_complete(state) else UNSET
    return WorkerList(workers=tuple(aged), outage=state.run.outage, complete=complete)


def _seconds_to_retry(state: State, each: RosterEntry) -> float | UnsetType:
    retry = state.run.processes[WorkerKey(each.entry.key)].retry
    return UNSET if retry is None or not each.entry.problem else round(max(0.0, retry.at - state.now), 1)


def _renew(state: State, key: WorkerKey) -> RosterEntry | None:
    """Renew the entry of one worker; return it, or None if it has not changed."""
    roster = state.run.roster
    roster.stale.pop(key, None)
    before, exit_reason = roster.entries.get(key), roster.exit_reasons.pop(key, None)
    entry = entry_of(state, key)
    if entry is not None:
        if before is not None and before.entry == entry:
            return None
        renewed = roster.entries[key] = RosterEntry(roster.states[key][1], entry, entry.state == "alive")
        return renewed
    roster.entries.pop(key, None)
    if exit_reason is not None:
        state.run.ranks.forget(key)
    if before is not None and before.only_all:
        # It has ended, or no client requests all workers any more.
        gone = RosterEntry(state.now, msgspec.structs.replace(before.entry, state="gone", problem=""), only_all=True)
        return None if exit_reason is None else gone
    last = before or (None if exit_reason is None else roster.ended_entries.get(key))
    if last is None:
        return None
    end: WorkerState = "detached" if exit_reason is None else "gone"
    ended = msgspec.structs.replace(last.entry, state=end, threads=(), problem=exit_reason or "")
    last_entry = roster.ended_entries[key] = RosterEntry(state.now, ended)
    if len(roster.ended_entries) > REMEMBERED:
        del roster.ended_entries[next(iter(roster.ended_entries))]
    return last_entry


def _state(state: State, key: WorkerKey) -> WorkerState | None:
    """Return the state of a worker that is attached, paused or alive; None for any other."""
    worker = state.workers.get(key)
    if worker is not None and not worker.leaving:
        # A worker can stop before its attach is over.
        current = attached_state(worker)
        return current if worker.is_attached or current != "running" else "attaching"
    process = state.run.processes[key]
    if process.paused is not None:
        # Ray's list lags: for a moment after a detach, it still contains the worker as paused.
        is_stale = key in state.cooling_down and process.paused.worker_type != "TARGET"
        return None if is_stale else "paused"
    return None if process.alive is None else "alive"


def attached_state(worker: Worker) -> Literal["stopped", "held", "running"]:
    """Return whether an attached worker is stopped, held at a barrier, or running."""
    threads = worker.threads.values()
    if any(thread.is_shown for thread in threads):
        return "stopped"
    return "held" if any(thread.is_at_barrier for thread in threads) else "running"


def entry_of(state: State, key: WorkerKey) -> WorkerEntry | None:
    """Return the current entry of a worker; None if it has no state."""
    progress = _state(state, key)
    worker = state.workers.get(key)
    if progress is None:
        return None
    if worker is not None and not worker.leaving:
        threads = tuple(_thread(thread) for thread in worker.threads.values() if thread.is_shown)
        return _fill(state, worker.row, worker.origin.facts, names.of_worker(worker), progress, threads)
    process = state.run.processes[key]
    row, facts = process.paused or process.alive, process.shown_facts
    assert row is not None
    ranks = state.run.ranks
    name = names.alive(row, facts, ranks) if progress == "alive" else names.task(row, facts, ranks)
    has_failed = progress == "alive" or process.failure is not None
    return _fill(state, row, facts, name, progress, (), process.problem if has_failed else "")


def facts(state: State, key: WorkerKey) -> RayFacts:
    """Return the newest facts from Ray for a worker in any state."""
    worker = state.workers.get(key)
    return state.run.processes[key].shown_facts if worker is None else worker.facts


def _fill(
    state: State,
    row: ProcessInfo,
    facts: RayFacts,
    name: names.WorkerName,
    progress: WorkerState,
    threads: tuple[StoppedThread, ...],
    problem: str = "",
) -> WorkerEntry:
    where = names.where(row)
    # A child has the facts of its parent, but no rank.
    rank = None if row.worker_type == "CHILD" else state.run.ranks.of(row.key, facts)
    return WorkerEntry(
        key=row.key,
        name=f"{name.label} · {where}",
        title=name.title,
        label=name.label,
        where=where,
        state=progress,
        age=0.0,
        type=row.worker_type.lower(),  # type: ignore[arg-type]  # Both are the same four words.
        pid=row.pid,
        node=row.node,
        node_id=row.node_id,
        job=facts.job,
        submission=facts.submission,
        actor=facts.actor,
        actor_name=facts.actor_name,
        task=facts.task,
        agent=row.agent != "",
        threads=threads,
        problem=problem,
        rank=UNSET if rank is None else rank,
    )


def _thread(thread: WorkerThread) -> StoppedThread:
    stopped = thread.stopped
    shown = names.thread(thread)
    return StoppedThread(
        thread_id=thread.handle,
        name=shown["name"],
        reason=str(stopped.get("reason", "")),
        error=names.exception(stopped.get("text")) if thread.raised else "",
        order=thread.order if thread.worker.threaded else 0,
        place="" if thread.snapshot is None else thread.snapshot.place,
    )
