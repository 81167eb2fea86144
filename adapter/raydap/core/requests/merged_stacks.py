"""The request `raydap/stacks`: the stacks of stopped threads, and of workers that run, as a tree (docs/requests.md)."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from raydap.analysis.sets.folding import Holder
from raydap.analysis.sets.stack_tree import Place, StackTree
from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.model.worker import WorkerThread
from raydap.core.requests import selecting
from raydap.core.translate import paths
from raydap.core.translate.stacks import frames_of, is_library_frame, location
from raydap.core.workers import worker_stack
from raydap.core.workers.replies import load_body, query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.presentation import stack_pictures
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import MergedStacks, StackNode, StacksArguments, StackVariable, WorkerStack
from raydap.protocol.types import Handle, WorkerKey

TIMEOUT_S = 5.0
"""Seconds in which a worker has to send the stack of a stopped thread, and as many for the variables."""

_Variables = tuple[StackVariable, ...]


class _Stack(NamedTuple):
    """The stack of one thread."""

    places: list[Place]
    """The outermost first."""
    variables: list[_Variables]
    """The local variables of each place; empty if they were not requested or cannot be read."""


_EXPORTS: dict[str, Callable[[StackNode], str]] = {"folded": stack_pictures.folded, "svg": stack_pictures.svg}


def stacks(state: State, request: Request, arguments: StacksArguments) -> Flow[MergedStacks]:
    """Merge the stacks of the named threads, of the stopped threads in the set `select`, or of all stopped threads.

    `running` and `outside` include workers that run. Their stacks are read without stopping them.
    """
    if arguments.max_members < 0:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "maxMembers" must not be negative.'))
    threads, running, members = yield from selecting.resolve_targets(
        state, request.client, arguments.threads, arguments.select, arguments.running, arguments.outside
    )
    parts, client = state.parts, request.client
    found = parts.gather({thread: _stack(state, thread, arguments.locals) for thread in threads}, client)
    read = yield from parts.gather({key: worker_stack.of_worker(state, key) for key in running}, client)
    tree = StackTree(arguments.locals)
    silent: list[Handle] = []

    def add(found: tuple[WorkerThread, _Stack | ProblemError]) -> None:
        thread, stack = found
        if isinstance(stack, ProblemError):
            state.log("info", f"{thread.worker} is not in the tree of stacks: {stack.problem}")
            silent.append(thread.handle)
        else:
            tree.add(stack.places, Holder(thread.handle, members[thread.worker.key]), stack.variables)

    def add_running(found: tuple[WorkerKey, WorkerStack | ProblemError]) -> None:
        key, stack = found
        if not isinstance(stack, ProblemError):
            _add_running(tree, stack, members[key])

    yield from parts.for_each((yield from found).items(), add)
    yield from parts.for_each(read.items(), add_running)
    unread = tuple(key for key, running_stack in read.items() if isinstance(running_stack, ProblemError))
    limit, export = arguments.max_members, arguments.export
    root = tree.root(limit)
    return MergedStacks(
        root=root,
        missing=tree.missing(limit),
        silent=tuple(silent),
        unread=unread,
        export=UNSET if export is None else _EXPORTS[export](root),
    )


def _add_running(tree: StackTree, stack: WorkerStack, member: WorkerEntry) -> None:
    """Add the threads of a running worker that execute the user's code, or its coroutines if there are none.

    A worker without both counts in the root only.
    """
    users = [thread for thread in stack.threads if thread.is_users]
    threads = [thread for thread in users if not thread.coroutine] or users
    for thread in threads:
        frames = [frame for frame in reversed(thread.frames) if frame.is_users]
        places = [Place(each.name, each.path, each.line) for each in frames]
        tree.add(places, Holder(None, member), [each.variables for each in frames])
    if not threads:
        tree.add([], Holder(None, member))


def _stack(state: State, thread: WorkerThread, has_locals: bool) -> Flow[_Stack]:
    """Return a thread's stack without the frames of Ray and debugpy around the user's. Raises ProblemError."""
    folder = paths.workspace(thread.worker.settings)
    if thread.snapshot is not None:
        blocked = thread.snapshot.frames[::-1]
        variables = [tuple(StackVariable(each.name, each.value, each.type) for each in it.locals) for it in blocked]
        return _Stack([Place(each.name, paths.to_client(each.path, folder), each.line) for each in blocked], variables)
    stop = thread.stop
    reply = yield from thread.worker.ask("stackTrace", {"threadId": thread.local}, TIMEOUT_S)
    frames = [frame for frame in frames_of(load_body(reply)) if not is_library_frame(frame)][::-1]
    variables = (yield from _variables(state, thread, frames)) if has_locals else []
    if thread.stop is not stop:
        raise ProblemError(Problem(Code.NOT_STOPPED, "The thread has been resumed."))
    places = [(name, paths.to_client(path, folder), line) for name, path, line in map(location, frames)]
    return _Stack([Place(*each) for each in places], variables)


def _variables(state: State, thread: WorkerThread, frames: list[dict[str, object]]) -> Flow[list[_Variables]]:
    """Return the local variables of each frame; an empty list if they cannot be read, which keeps the stack usable."""
    numbers = [number for frame in frames if type(number := frame.get("id")) is int]
    if len(numbers) < len(frames):
        return []
    try:
        # Innermost first: the worker limits the size of its answer, so the outer frames of a long stack have none.
        found = yield from query(thread.worker, calls.frame_variables(numbers[::-1]), TIMEOUT_S)
        read = msgspec.json.decode(found if isinstance(found, str) else "", type=list[_Variables])
    except (ValueError, RecursionError, ProblemError) as error:
        state.log("info", f"The variables of {thread.worker} cannot be read: {error}")
        return []
    return read[::-1] if len(read) == len(frames) else []
