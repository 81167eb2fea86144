"""Selection: the threads or workers that a request names by ids, by keys or by a set (docs/usage/sets.md)."""

from collections.abc import Iterable

from raydap.analysis.sets.membership import Candidate, is_in
from raydap.analysis.sets.set_syntax import WorkerSet, parse
from raydap.core.flows import Flow
from raydap.core.model.client import Client, ClientRole, Request
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, WorkerThread
from raydap.core.requests import top_frames
from raydap.core.requests.execution import thread_of
from raydap.core.workers import own_ranks, running_evaluation, worker_entries
from raydap.core.workers.replies import load_body
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.raydap_messages import (
    KeptSet,
    SelectArguments,
    SelectedWorkers,
    SetsArguments,
    WorkerEntry,
    WorkerSets,
)
from raydap.protocol.types import Handle, WorkerKey

TIMEOUT_S = 5.0
"""Seconds in which a worker has to answer what a set depends on; otherwise it is not in the set."""

MAX_KEPT = 1000
"""The maximum number of named sets."""


def threads(
    state: State, client: Client, handles: Iterable[int] | None, select: str | None
) -> Flow[list[WorkerThread]]:
    """Return the stopped threads that `handles` or `select` name, or without both, all that the client sees.

    Raises ProblemError if both are given, for an unknown handle, and for a set that is wrong.
    """
    if handles is not None and select is not None:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'Give the argument "threads" or "select", not both.'))
    if handles is not None:
        # Leave out threads that run by now, without an error: usually the user wants them to run anyway.
        return _held(dict.fromkeys(thread_of(state, client, handle) for handle in handles))
    if select is None:
        return _held(state.stopped_threads(client))
    wanted = _parsed(state, client, select)
    yield from worker_entries.renew_in_parts(state, client)
    stopped = _held(state.stopped_threads(client))
    entries = {entry.key: entry for entry in worker_entries.current(state)}
    chosen = yield from _chosen(state, client, wanted, [(entries[thread.worker.key], thread) for thread in stopped])
    return _held(thread for _, thread in chosen if thread is not None)


def workers(
    state: State, client: Client, keys: Iterable[str] | None, select: str | None, running: bool = False
) -> Flow[list[WorkerKey] | None]:
    """Return the keys of the workers that `keys` or `select` name, or without both, None.

    A worker is in a set if one of its stopped threads is. `running`: also evaluate the expression of the set in workers
    that run. Raises ProblemError if both are given, for an unknown key, and for a set that is wrong.
    """
    if select is None:
        return None if keys is None else _known(state, keys)
    if keys is not None:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'Give the argument "workers" or "select", not both.'))
    wanted = _parsed(state, client, select)
    yield from worker_entries.renew_in_parts(state, client)
    stopped: dict[str, list[WorkerThread]] = {}
    for thread in _held(state.stopped_threads(client)):
        stopped.setdefault(thread.worker.key, []).append(thread)
    pairs: list[tuple[WorkerEntry, WorkerThread | None]] = []
    for entry in worker_entries.current(state):
        pairs += [(entry, thread) for thread in stopped.get(entry.key, [None])]
    chosen = yield from _chosen(state, client, wanted, pairs, running)
    return list(dict.fromkeys(WorkerKey(entry.key) for entry, _ in chosen))


def resolve_targets(
    state: State,
    client: Client,
    handles: Iterable[int] | None,
    select: str | None,
    running: bool,
    outside: bool = False,
    waiting: bool = False,
) -> Flow[tuple[list[WorkerThread], list[WorkerKey], dict[str, WorkerEntry]]]:
    """Return the stopped threads that a request names, the keys of workers that run, and all workers as group members.

    Workers that run or wait are included only with `running`, `outside` or `waiting`, as in `readable`. The members are
    those of now, so that a worker that ends later still has a name.
    """
    yield from worker_entries.renew_in_parts(state, client)
    stopped = yield from threads(state, client, handles, select)
    keys: list[WorkerKey] = []
    if running or outside:
        if handles is not None:
            text = 'Workers that run have no threads to name; give the argument "select" in place of "threads".'
            raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
        chosen = (yield from workers(state, client, None, select or "", running)) or ()
        keys = readable(state, chosen, running, outside, waiting)
    members = worker_entries.members(state)
    known = [thread for thread in stopped if thread.worker.key in members]
    return known, [key for key in keys if key in members], members


def readable(
    state: State, keys: Iterable[WorkerKey], running: bool, outside: bool, waiting: bool = False
) -> list[WorkerKey]:
    """Return the workers among `keys` that are not stopped and whose stacks or values raydap can read.

    `running` includes the workers that are attached or have an agent. `outside` includes the others, whose stacks are
    read from outside; of these, idle workers are left out, because they execute no code of the user's. `waiting`
    includes the workers that wait for a debugger, whose values are read by a short attach.
    """
    run = state.run
    asked: set[WorkerKey] = set()
    if running:
        asked.update(key for key, worker in state.workers.items() if worker.is_attached)
        asked.update(run.processes.prepared)
    if outside:
        asked.update(key for key, each in run.processes.alive.items() if each.known.task or each.known.actor)
    if outside or waiting:
        asked.update(run.processes.paused)
    stopped = {thread.worker.key for thread in state.stopped.values()}
    return [key for key in keys if key in asked and key not in stopped]


def select(state: State, request: Request, arguments: SelectArguments) -> Flow[SelectedWorkers]:
    """Return the keys of the workers that are in a set now."""
    keys = yield from workers(state, request.client, None, arguments.select, arguments.running)
    return SelectedWorkers(workers=() if keys is None else tuple(keys))


def sets(state: State, _: object, arguments: SetsArguments) -> WorkerSets:
    """Keep a set under a name, or drop it, and return all sets that are kept."""
    kept = state.run.sets
    if arguments.name is not None:
        name, text = arguments.name, arguments.select
        check_name(name, "a set")
        if text is None:
            kept.pop(name, None)
        else:
            # `parse` also gets the new set under its name, so that it detects a set that contains itself.
            if parse(text, {**kept, name: text}).where:
                text = (
                    'A named set has no "where", because other sets may contain it; add "where" when you use the set.'
                )
                raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
            if len(kept) >= MAX_KEPT:
                raise ProblemError(
                    Problem(Code.BAD_ARGUMENT, f"There are already {MAX_KEPT} named sets; remove one first.")
                )
            kept[name] = text
    return WorkerSets(sets=tuple(KeptSet(name=name, select=text) for name, text in kept.items()))


def check_name(name: str, of: str) -> None:
    """Raise ProblemError if `name` is not a valid name; the error contains `of`, what the name is for: `a set`."""
    if not name or not all(character.isalnum() or character in "_-" for character in name):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The name of {of} has letters, digits, - and _ only."))


def _parsed(state: State, client: Client, text: str) -> WorkerSet:
    wanted = parse(text, state.run.sets)
    if wanted.where and client.role is ClientRole.OBSERVER:
        raise ProblemError(
            Problem(Code.OBSERVER, 'Observers cannot evaluate expressions, so their sets have no "where".')
        )
    return wanted


def is_listed(state: State, key: WorkerKey) -> bool:
    """Return whether there is a worker with this key. A selected worker can end before a request reaches it."""
    has_agent = state.run.processes[key].agent is not None
    return has_agent or key in state.run.roster.states or key in state.cooling_down


def _known(state: State, names: Iterable[str]) -> list[WorkerKey]:
    keys = [WorkerKey(name) for name in names]
    for key in keys:
        if not is_listed(state, key):
            raise ProblemError(
                Problem(Code.STALE_ID, f'There is no worker "{key}", or it has ended; refresh the view.')
            )
    return keys


def _held(found: Iterable[WorkerThread]) -> list[WorkerThread]:
    return [thread for thread in found if thread.is_held]


def _chosen(
    state: State,
    client: Client,
    wanted: WorkerSet,
    pairs: list[tuple[WorkerEntry, WorkerThread | None]],
    running: bool = False,
) -> Flow[list[tuple[WorkerEntry, WorkerThread | None]]]:
    """Return the pairs that are in the set; send workers only the questions that this set depends on."""
    places = (yield from _places(state, client, pairs)) if wanted.asks_for("line") else {}
    if wanted.asks_for("rank"):
        asked = [worker for entry, _ in pairs if (worker := state.workers.get(WorkerKey(entry.key))) is not None]
        yield from own_ranks.ask(state, client, asked)
        entries = worker_entries.members(state)
        pairs = [(entries.get(entry.key, entry), thread) for entry, thread in pairs]
    found: list[tuple[WorkerEntry, WorkerThread | None]] = []

    def decide(pair: tuple[WorkerEntry, WorkerThread | None]) -> None:
        entry, thread = pair
        shown = next((each for each in entry.threads if thread is not None and each.thread_id == thread.handle), None)
        place = None if thread is None else places.get(thread.handle)
        if is_in(wanted.tree, Candidate(entry, shown, place)):
            found.append(pair)

    yield from state.parts.for_each(pairs, decide, client)
    if wanted.where:
        found = yield from _where_true(state, client, found, wanted.where, running)
    return found


def _places(
    state: State, client: Client, pairs: list[tuple[WorkerEntry, WorkerThread | None]]
) -> Flow[dict[Handle, tuple[str, int]]]:
    asked = {
        thread.handle: top_frames.of(thread, TIMEOUT_S)
        for _, thread in pairs
        if thread is not None and thread.state is ThreadState.STOPPED
    }
    found = {}
    for handle, frame in (yield from state.parts.gather(asked, client)).items():
        line = None if isinstance(frame, ProblemError) else top_frames.line_of(frame)
        if line is not None and isinstance(line[0], str) and isinstance(line[1], int):
            found[handle] = (line[0], line[1])
    return found


def _where_true(
    state: State,
    client: Client,
    pairs: list[tuple[WorkerEntry, WorkerThread | None]],
    expression: str,
    running: bool,
) -> Flow[list[tuple[WorkerEntry, WorkerThread | None]]]:
    """Return the pairs for which the expression is true in the user's top frame. If it fails, it counts as false."""
    asked = {thread: _is_true(thread, expression) for _, thread in pairs if thread is not None}
    keys = [WorkerKey(entry.key) for entry, thread in pairs if thread is None]
    readable_keys = readable(state, keys, True, False, waiting=True) if running else []
    replies = state.parts.gather(asked, client)
    flows = {key: _is_true_in_running(state, key, expression) for key in readable_keys}
    running_replies = yield from state.parts.gather(flows, client)
    true: set[object] = {each for each, reply in (yield from replies).items() if reply is True}
    true.update(key for key, reply in running_replies.items() if reply is True)
    return [(entry, thread) for entry, thread in pairs if (entry.key if thread is None else thread) in true]


def _is_true_in_running(state: State, key: WorkerKey, expression: str) -> Flow[bool]:
    reply = yield from running_evaluation.evaluate(state, key, f"bool({expression}\n)", TIMEOUT_S)
    return bool(reply["result"] == "True")


def _is_true(thread: WorkerThread, expression: str) -> Flow[bool]:
    if thread.state is not ThreadState.STOPPED:
        return False
    frame = yield from top_frames.of(thread, TIMEOUT_S)
    if not frame:
        return False
    # The line break ends a comment in the expression.
    evaluate = {"expression": f"bool({expression}\n)", "frameId": frame.get("id"), "context": "watch"}
    reply = yield from thread.worker.ask("evaluate", evaluate, TIMEOUT_S)
    return load_body(reply).get("result") == "True"
