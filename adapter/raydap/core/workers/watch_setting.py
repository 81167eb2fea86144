"""Watchpoints in workers: what each worker gets, and its answers.

A worker always gets the whole list of its watchpoints. The code that watches travels with the first list, so a worker
without watchpoints has none of it.
"""

import json
from functools import partial

from raydap.analysis.sets.membership import Candidate, is_in
from raydap.analysis.sets.set_syntax import parse
from raydap.core.flows import Flow
from raydap.core.model.run_watches import RunWatch, WatchAnswer, answers_in
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, Worker
from raydap.core.translate.local_ids import paths_in
from raydap.core.workers import worker_entries
from raydap.core.workers.replies import query
from raydap.errors import ProblemError
from raydap.inworker import calls

ANSWER_S = 20.0
"""Seconds in which a worker has to confirm its watchpoints."""


def set_in(state: State, worker: Worker) -> None:
    """Send a worker its watchpoints, unless it has exactly these already."""
    if worker.run.watches.had_any:
        state.start(send(state, worker))


def send(state: State, worker: Worker, timeout_s: float = ANSWER_S) -> Flow[None]:
    """Send a worker its watchpoints, and wait for its answer."""
    watches = [each for each in worker.run.watches.wanted() if _applies(state, worker, each)]
    ids = [each.id for each in watches]
    if ids == worker.watched or worker.leaving:
        return
    worker.watched = ids
    specs = json.dumps([each.spec(paths_in(worker, each.terms.place.path)) for each in watches if each.terms.place])
    try:
        answers = answers_in((yield from query(worker, calls.set_watchpoints(specs), timeout_s)))
        missing = WatchAnswer(False, "This worker cannot watch expressions; raydap's log has the reason.")
    except (ProblemError, calls.ResultError) as error:
        state.log("warning", f"{worker} cannot set watchpoints: {error}")
        answers, missing = {}, WatchAnswer(False, "A worker has not confirmed the watch.")
    if worker.watched is not ids or worker.stage is AttachStage.GONE:
        return
    for watch in worker.run.watches.all():
        watch.take(worker.key, answers.get(watch.id, missing) if watch.id in ids else None)
        changed(state, watch)


def _applies(state: State, worker: Worker, watch: RunWatch) -> bool:
    """Return whether a worker is in the set of a watchpoint, by what raydap knows of the worker now."""
    if not watch.terms.select:
        return True
    entry = worker_entries.entry_of(state, worker.key)
    try:
        return entry is not None and is_in(parse(watch.terms.select, worker.run.sets).tree, Candidate(entry))
    except ProblemError:
        return False  # A named set in it has been removed.


def configured_workers(state: State) -> list[Worker]:
    """Return the workers that accept watchpoints now. The others get them later in their attach."""
    stages = (AttachStage.CONFIGURING, AttachStage.ATTACHED)
    return [each for each in state.workers.values() if each.stage in stages and not each.leaving]


def set_everywhere(state: State) -> Flow[None]:
    """Send all workers their watchpoints."""
    yield from state.parts.for_each(configured_workers(state), partial(set_in, state))


def set_everywhere_and_wait(state: State, timeout_s: float) -> Flow[None]:
    """Send all workers their watchpoints, and wait for their answers."""
    yield from state.parts.gather({each.key: send(state, each, timeout_s) for each in configured_workers(state)})


def changed(state: State, watch: RunWatch) -> None:
    """Send a watchpoint to its client if `verified` has changed; only a new text is sent at the next Tick."""
    before = watch.sent
    if before is None or before["verified"] != watch.view()["verified"]:
        _send(state, watch)
    else:
        state.run.watches.changed[watch.id] = watch


def examine(state: State) -> None:
    """Send new texts to clients, and watchpoints to workers that have come into a set or left it.

    Called at every Tick.
    """
    watches = state.run.watches
    for watch in list(watches.changed.values()):
        _send(state, watch)
    if any(each.terms.select for each in watches.wanted()):
        state.start(set_everywhere(state))


def _send(state: State, watch: RunWatch) -> None:
    state.run.watches.changed.pop(watch.id, None)
    view = watch.view()
    client = None if watch.author is None else state.clients.get(watch.author)
    if client is not None and client.is_ready and view != watch.sent and state.run.watches.find(watch.id) is watch:
        client.event("breakpoint", {"reason": "changed", "breakpoint": view})
    watch.sent = view
