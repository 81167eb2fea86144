"""Requests that list, attach, pause, read and detach workers (docs/requests.md).

They are `raydap/workers`, `raydap/attach`, `raydap/pause`, `raydap/stack` and `raydap/detach`.
"""

from functools import partial

from raydap.core.flows import Flow
from raydap.core.model.client import Client, Request
from raydap.core.model.state import State
from raydap.core.requests import reloads, selecting
from raydap.core.workers import (
    alive_listing,
    attach_decisions,
    pauses,
    prepared,
    selection,
    unprepared,
    worker_entries,
    worker_stack,
)
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.raydap_messages import (
    AttachWorkersArguments,
    DetachWorkersArguments,
    PauseWorkersArguments,
    WorkerList,
    WorkersArguments,
)
from raydap.protocol.stack_messages import StackArguments, WorkerStack
from raydap.protocol.types import WorkerKey


def workers(state: State, request: Request, arguments: WorkersArguments) -> WorkerList:
    """Return the workers that are known now, and send this client their changes from now on."""
    view = request.client.view
    view.watching, view.all = True, arguments.all
    return worker_entries.everything(state, view)


def attach_workers(state: State, request: Request, arguments: AttachWorkersArguments) -> Flow[None]:
    """Attach to the named workers, paused or alive; without names, to all workers that are paused now or later."""
    keys = yield from selecting.workers(state, request.client, arguments.workers, arguments.select)
    yield from _attach(state, request.client, keys)


def _attach(state: State, client: Client, keys: list[WorkerKey] | None) -> Flow[None]:
    run = state.run
    if keys is None:
        run.auto_attach = True
        run.processes.choose([process.key for process in run.processes if process.choice is not None], None)
        yield from state.parts.for_each(list(run.processes.paused), partial(_try_again, state), client)
        run.processes.examine_all()
    else:
        yield from state.parts.for_each(keys, partial(_choose, state), client)
        run.processes.examine_first(keys)
        alive_listing.note_without_agent(state, keys)
        unprepared.try_at_once(run, keys)
    prepared.attach_needed(state)


def _choose(state: State, key: WorkerKey) -> None:
    if not selecting.is_listed(state, key):
        return
    state.run.processes.choose([key], True)
    _try_again(state, key)


def _try_again(state: State, key: WorkerKey) -> None:
    """Attach to a worker again whose last attach has failed, because the user wants it now."""
    process = state.run.processes[key]
    if process.failure is not None:
        attach_decisions.try_again(state, process)


def pause_workers(state: State, request: Request, arguments: PauseWorkersArguments) -> Flow[None]:
    """Pause the named workers, after attaching to those that are not attached yet.

    A worker that waits at a breakpoint() is only attached, because it stops there.
    """
    run = state.run
    others: list[WorkerKey] = []

    def pause(key: WorkerKey) -> None:
        if not selecting.is_listed(state, key):
            return
        worker = state.workers.get(key)
        if worker is not None and worker.is_attached:
            run.processes.choose([key], True)
            pauses.begin(state, worker, None, request.timeout_s)
        else:
            others.append(key)
            if run.processes[key].paused is None:
                with run.processes.changing(key) as process:
                    process.is_to_pause = True

    yield from state.parts.for_each((yield from _named(state, request, arguments)), pause, request.client)
    if others:
        yield from _attach(state, request.client, others)


def stack(state: State, request: Request, arguments: StackArguments) -> Flow[WorkerStack]:
    """Return the stacks of one worker's threads, which are read without stopping it."""
    named = None if arguments.worker is None else [arguments.worker]
    keys = yield from selecting.workers(state, request.client, named, arguments.select)
    if keys is None or len(keys) != 1:
        text = (
            'The argument "worker" is missing.'
            if keys is None
            else f"There are {len(keys)} workers in the set, not one."
        )
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return (yield from worker_stack.of_worker(state, keys[0]))


def detach_workers(state: State, request: Request, arguments: DetachWorkersArguments) -> Flow[None]:
    """Detach from the named workers. raydap does not attach to them again unless a client requests it."""

    def detach(key: WorkerKey) -> None:
        if not selecting.is_listed(state, key):
            return
        with state.run.processes.changing(key) as process:
            process.choice, process.is_to_pause = False, False
            if process.failure is None:
                process.problem = ""
        selection.detach_worker(state, key)

    keys = yield from _named(state, request, arguments)
    reloads.report_kept(state, keys)
    yield from state.parts.for_each(keys, detach, request.client)


def _named(
    state: State, request: Request, arguments: PauseWorkersArguments | DetachWorkersArguments
) -> Flow[list[WorkerKey]]:
    keys = yield from selecting.workers(state, request.client, arguments.workers, arguments.select)
    if keys is None:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "workers" or "select" is missing.'))
    return keys
