"""Progress of barriers: which workers have arrived, and which are missing.

Clients that support progress show it there, and cancelling that progress shows the waiting workers. All clients get one
line of output.
"""

import msgspec

from raydap.analysis.sets import folding
from raydap.core.flows import Flow, gather
from raydap.core.model.barrier_wait import BarrierWait
from raydap.core.model.client import ClientRole
from raydap.core.model.state import State
from raydap.core.translate import names
from raydap.core.workers import worker_entries, worker_stack
from raydap.presentation.short_text import file_line
from raydap.protocol.raydap_messages import Barrier, MissingWorker
from raydap.protocol.types import WorkerKey

QUIET_S = 1.0
"""Seconds after the first arrival until users are notified. Usually all workers have arrived by then."""

MAX_NAMED = 5
"""The number of missing workers that a text names."""

MAX_READ = 20
"""The number of missing workers whose stacks are read at a time."""

READ_PAUSE_S = 2.0
"""Seconds from the end of one reading of these stacks to the next."""


def describe(state: State, wait: BarrierWait) -> Barrier:
    """Return the description of a barrier for raydap/barriers."""
    members = worker_entries.members(state)
    arrived = wait.arrived
    path, place = wait.breakpoint.place
    missing = wait.missing
    terms = wait.breakpoint.barrier
    known = len(arrived) + len(missing) + wait.starting
    barrier = Barrier(
        id=wait.id,
        breakpoint=wait.breakpoint.id,
        path=path,
        line=place if isinstance(place, int) else 0,
        function="" if path else str(place),
        label=folding.group_name(members[key] for key in arrived if key in members),
        arrived=len(arrived),
        of=terms.count - wait.ended if terms is not None and terms.count else known,
        missing=tuple(
            MissingWorker(
                worker=worker.key,
                label=names.title(worker),
                state=worker_entries.attached_state(worker) if worker.is_attached else "attaching",
                place=wait.places.get(worker.key, ""),
            )
            for worker in missing
        ),
        starting=wait.starting,
        unreached=wait.unreached,
        text="",
    )
    return msgspec.structs.replace(barrier, text=_sentence(barrier))


def _sentence(barrier: Barrier) -> str:
    """Return a text such as `14 of 16 arrived, missing: Trainer 3 (running, train.py:88), 1 that starts`."""
    named = [
        f"{each.label} ({each.state}, {each.place})" if each.place else f"{each.label} ({each.state})"
        for each in barrier.missing[:MAX_NAMED]
    ]
    if len(barrier.missing) > MAX_NAMED:
        named.append(f"{len(barrier.missing) - MAX_NAMED} more")
    if barrier.starting:
        named.append(f"{barrier.starting} starting")
    text = f"{barrier.arrived} of {barrier.of} arrived"
    if named:
        text += f", missing: {', '.join(named)}"
    return f"{text} ({barrier.unreached} more are out of raydap's reach)" if barrier.unreached else text


def place_of(barrier: Barrier) -> str:
    """Return the place of a barrier: `train.py:42`, or the name of a function."""
    return file_line(barrier.path, barrier.line) if barrier.path else barrier.function


def report(state: State) -> None:
    """Report the progress of barriers that have been waiting for a while, and read where the missing workers are.

    Called at every Tick.
    """
    for wait in state.barriers.values():
        if wait.of is not None and wait.waiting and state.now >= wait.began + QUIET_S:
            _report(state, wait)
            if not wait.reading and state.now >= wait.read_at + READ_PAUSE_S:
                state.start(_read_places(state, wait))


def _facts(wait: BarrierWait) -> object:
    """Return the values that the text is made of, to detect a change.

    With thousands of workers, making the text takes much longer.
    """
    missing = wait.missing
    named = missing[:MAX_NAMED]
    states = [worker_entries.attached_state(worker) if worker.is_attached else worker.stage for worker in named]
    places = [wait.places.get(worker.key) for worker in named]
    return len(wait.arrived), len(missing), wait.ended, wait.starting, wait.unreached, named, states, places


def _report(state: State, wait: BarrierWait) -> None:
    facts = _facts(wait)
    if facts == wait.facts:
        return
    wait.facts = facts
    barrier = describe(state, wait)
    text = barrier.text
    if not wait.progress:
        wait.progress = f"barrier {wait.id}"
        # Child sessions get none: the editor shows the parent's progress for all of them.
        clients = [client for client in state.ready_clients() if client.role is not ClientRole.CHILD]
        wait.clients = [client.id for client in clients if "supportsProgressReporting" in client.supports]
        title = {"title": f"Barrier at {place_of(barrier)}", "cancellable": True, "message": text}
        _send(state, wait, "progressStart", title)
        state.print_to_console(f"Barrier at {place_of(barrier)}: {text}.")
    elif text != wait.text:
        percentage = min(99, 100 * barrier.arrived // max(1, barrier.of))
        _send(state, wait, "progressUpdate", {"message": text, "percentage": percentage})
    wait.text = text


def report_limit(state: State, wait: BarrierWait, why: str) -> None:
    """Report that a barrier opens before all workers have arrived; `why` is the reason."""
    barrier = describe(state, wait)
    state.print_to_console(f"Barrier at {place_of(barrier)}: {why}; {barrier.text}.")


def end(state: State, wait: BarrierWait) -> None:
    """End the progress of a barrier in the clients that show it."""
    if wait.progress:
        _send(state, wait, "progressEnd", {})


def _send(state: State, wait: BarrierWait, event: str, body: dict[str, object]) -> None:
    for key in wait.clients:
        client = state.clients.get(key)
        if client is not None and client.is_ready:
            client.event(event, {"progressId": wait.progress, **body})


def _read_places(state: State, wait: BarrierWait) -> Flow[None]:
    """Read where the first missing workers are, without stopping them.

    If the barrier is for a task, a worker that runs no code of the user has finished the task. The barrier stops
    waiting for it.
    """
    missing = [worker for worker in wait.missing if worker.is_attached]
    wait.reading = True
    read = yield from gather({worker.key: _place(state, worker.key) for worker in missing[:MAX_READ]})
    wait.places = {key: place for key, place in read.items() if isinstance(place, str)}
    if wait.of is not None and not wait.of.is_actor:
        idle = {key for key, place in wait.places.items() if not place} - wait.idle
        wait.idle |= idle
        for key in idle:
            state.run.roster.mark(key)
    wait.reading = False
    wait.read_at = state.now


def _place(state: State, key: WorkerKey) -> Flow[str]:
    """Return where a worker runs, such as `train.py:88`; "" if it runs no code of the user."""
    stack = yield from worker_stack.of_worker(state, key)
    frames = [frame for thread in stack.threads if thread.is_users for frame in thread.frames if frame.is_users]
    return file_line(frames[0].path, frames[0].line) if frames else ""
