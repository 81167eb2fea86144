"""Requests that list workers, choose which are attached, and look into them: raydap/workers, raydap/attach,
raydap/pause, raydap/stack, raydap/detach."""

from collections.abc import Iterable

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.workers import alive_listing, pauses, prepared, unprepared, worker_entries, worker_stack
from raydap.core.workers.selection import detach_worker
from raydap.protocol.raydap_messages import (
    AttachWorkersArguments,
    DetachWorkersArguments,
    PauseWorkersArguments,
    StackArguments,
    WorkerList,
    WorkersArguments,
    WorkerStack,
)
from raydap.protocol.types import WorkerKey


def workers(state: State, request: Request, arguments: WorkersArguments) -> WorkerList:
    """Answers with the workers that are known now, and sends changes from now on."""
    view = request.client.view
    view.watching, view.all = True, arguments.all
    return worker_entries.everything(state, view)


def attach_workers(state: State, request: Request, arguments: AttachWorkersArguments) -> None:
    """Attaches to the named workers, paused or alive, or to all that are paused now or later."""
    run = state.run
    if arguments.workers is None:
        run.auto_attach = True
        run.choices.clear()
        run.paused.examine_all()
    else:
        keys = _known(state, arguments.workers)
        run.choices.update(dict.fromkeys(keys, True))
        run.paused.examine_first(keys)
        alive_listing.note_without_agent(state, keys)
        unprepared.try_at_once(run, keys)
    prepared.attach_needed(state)


def pause_workers(state: State, request: Request, arguments: PauseWorkersArguments) -> None:
    """Pauses the named workers, and attaches to them before if that is needed. One that waits at a breakpoint() is only
    attached: it stops there."""
    run = state.run
    others = []
    for key in _known(state, arguments.workers):
        worker = state.workers.get(key)
        if worker is not None and worker.is_attached:
            run.choices[key] = True
            pauses.begin(state, worker, None, request.timeout_s)
        else:
            others.append(key)
            if not run.paused.has(key):
                run.to_pause.add(key)
    if others:
        attach_workers(state, request, AttachWorkersArguments(workers=tuple(others)))


def stack(state: State, request: Request, arguments: StackArguments) -> Flow[WorkerStack]:
    """The stacks of one worker's threads, without stopping it."""
    (key,) = _known(state, [arguments.worker])
    return (yield from worker_stack.of_worker(state, key))


def detach_workers(state: State, request: Request, arguments: DetachWorkersArguments) -> None:
    """Lets workers go. raydap does not attach to them again by itself."""
    for key in _known(state, arguments.workers):
        state.run.choices[key] = False
        state.run.to_pause.discard(key)
        state.run.alive.drop_problem(key)
        detach_worker(state, key)


def _known(state: State, names: Iterable[str]) -> list[WorkerKey]:
    keys = [WorkerKey(name) for name in names]
    for key in keys:
        if key not in state.run.roster.states and key not in state.run.prepared:
            raise ProblemError(Problem(Code.STALE_ID, f'There is no worker "{key}" any more; refresh the view.'))
    return keys
