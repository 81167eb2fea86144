"""The requests `raydap/continue` and `raydap/step`, which resume many stopped threads at once (docs/requests.md)."""

from collections.abc import Collection, Mapping
from functools import partial

from raydap.analysis.sets import folding
from raydap.core.flows import Flow
from raydap.core.model.client import Client, Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, WorkerThread
from raydap.core.requests import lockstep, selecting, top_frames
from raydap.core.requests.evaluation import MAX_TIMEOUT_S
from raydap.core.requests.execution import let_run, not_stopped_error, note_resumed, thread_of
from raydap.core.translate import paths
from raydap.core.translate.snapshots import refused
from raydap.core.translate.stacks import location
from raydap.core.workers import collectives, worker_entries
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.raydap_messages import (
    ContinueThreadsArguments,
    ResumedThreads,
    SteppedGroup,
    SteppedThreads,
    StepThreadsArguments,
    WorkerEntry,
)
from raydap.protocol.stack_messages import CodeLocation
from raydap.protocol.types import Handle


def continue_threads(state: State, request: Request, arguments: ContinueThreadsArguments) -> Flow[ResumedThreads]:
    """Resume the named threads, the threads in the set `select`, or all stopped threads; return the resumed ones."""
    threads = yield from selecting.threads(state, request.client, arguments.threads, arguments.select)
    yield from collectives.warn(state, threads)
    threads = [thread for thread in threads if thread.is_held]
    flows = {thread: _run(state, thread, "continue", request.timeout_s) for thread in threads}
    resumed = yield from state.parts.gather(flows, request.client)
    return _resumed(state, resumed)


def step_threads(state: State, request: Request, arguments: StepThreadsArguments) -> Flow[SteppedThreads]:
    """Step a thread, and all other threads that are stopped at the same line.

    With a timeout, wait until they have stopped again, and return their lines, too.
    """
    if not 0 <= arguments.timeout <= MAX_TIMEOUT_S:
        text = f'The argument "timeout" must be from 0 to {MAX_TIMEOUT_S:g} seconds.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    if arguments.until is not None and not arguments.timeout:
        text = 'The argument "until" needs a "timeout": the workers may never part.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    first = thread_of(state, request.client, arguments.thread_id)
    if first.state is ThreadState.BLOCKED:
        raise refused(first)
    if first.state is not ThreadState.STOPPED:
        raise not_stopped_error(state, request.client)
    request.client.view.focus = first
    line = top_frames.line_of((yield from top_frames.of(first)))
    if first.state is not ThreadState.STOPPED:
        raise not_stopped_error(state, request.client)
    command, timeout_s = arguments.command, request.timeout_s
    others = [] if line is None else (yield from selecting.threads(state, request.client, None, arguments.select))
    yield from collectives.warn(
        state, [first, *others], partial(_at, state, request.client, line, collectives.ANSWER_TIMEOUT_S)
    )
    if first.state is not ThreadState.STOPPED:
        raise not_stopped_error(state, request.client)
    if arguments.until is not None:
        return (yield from _step_until_parted(state, request, first, others, line, arguments))
    steps = {thread: _step_at(state, thread, line, command, timeout_s) for thread in others if thread is not first}
    flows = {first: _run(state, first, command, timeout_s), **steps}
    replies = yield from state.parts.gather(flows, request.client)
    resumed = _resumed(state, replies).threads
    if not arguments.timeout:
        return SteppedThreads(threads=resumed)
    # Taken before the wait, because the answer also names workers that end in the meantime.
    members = worker_entries.members(state)
    stepped = [thread for thread in replies if thread.handle in resumed]
    arrivals = state.await_arrivals(request, stepped, arguments.timeout)
    yield from arrivals.over
    groups = yield from _arrived(state, request, [thread for thread in stepped if thread.is_held], members)
    running = tuple(thread.handle for thread in stepped if thread in arrivals.missing)
    return SteppedThreads(threads=resumed, groups=groups, running=running)


def _step_until_parted(
    state: State,
    request: Request,
    first: WorkerThread,
    others: list[WorkerThread],
    line: object,
    arguments: StepThreadsArguments,
) -> Flow[SteppedThreads]:
    until = state.now + arguments.timeout
    threads = list(dict.fromkeys([first, *(yield from _at(state, request.client, line, request.timeout_s, others))]))
    members = worker_entries.members(state)
    steps, running = yield from lockstep.until_parted(state, request, threads, arguments.command, until)
    return SteppedThreads(
        threads=tuple(thread.handle for thread in threads),
        groups=(yield from _arrived(state, request, [thread for thread in threads if thread.is_held], members)),
        running=tuple(thread.handle for thread in threads if thread in running),
        steps=steps,
    )


def _at(
    state: State, client: Client, line: object, timeout_s: float, threads: Collection[WorkerThread]
) -> Flow[list[WorkerThread]]:
    """Return the threads that are stopped at this line."""
    frames = yield from state.parts.gather({thread: top_frames.of(thread, timeout_s) for thread in threads}, client)
    places = {thread: top_frames.line_of(frame) for thread, frame in frames.items() if isinstance(frame, dict)}
    return [thread for thread, place in places.items() if place == line and thread.state is ThreadState.STOPPED]


def _arrived(
    state: State, request: Request, threads: list[WorkerThread], members: Mapping[str, WorkerEntry]
) -> Flow[tuple[SteppedGroup, ...]]:
    """Group stopped threads by the line of the user's top frame, the largest group last."""
    frames = yield from state.parts.gather({thread: top_frames.of(thread) for thread in threads}, request.client)
    lines: dict[tuple[str, str, int] | None, list[WorkerThread]] = {}
    for thread, frame in frames.items():
        lines.setdefault(None if isinstance(frame, ProblemError) else _location(thread, frame), []).append(thread)
    groups = [
        SteppedGroup(
            members=tuple(thread.handle for thread in found),
            label=folding.group_name(members[thread.worker.key] for thread in found),
            frame=None if place is None else CodeLocation(name=place[0], path=place[1], line=place[2]),
        )
        for place, found in lines.items()
    ]
    return tuple(sorted(groups, key=lambda group: folding.smallest_first(len(group.members), group.label)))


def _location(thread: WorkerThread, frame: top_frames.Frame) -> tuple[str, str, int] | None:
    if not frame:
        return None
    name, path, line = location(frame)
    return name, paths.to_client(path, paths.workspace(thread.worker.settings)), line


def _step_at(state: State, thread: WorkerThread, line: object, command: str, timeout_s: float) -> Flow[bool]:
    """Step the thread if it is stopped at this line, without waiting for other threads; return whether it is."""
    if thread.state is ThreadState.BLOCKED:
        return False
    is_there = top_frames.line_of((yield from top_frames.of(thread))) == line and thread.state is ThreadState.STOPPED
    if is_there:
        yield from _run(state, thread, command, timeout_s)
    return is_there


def _run(state: State, thread: WorkerThread, command: str, timeout_s: float) -> Flow[bool]:
    """Resume a thread, and return True; return False if another client has resumed it already."""
    if not thread.is_held:
        return False
    yield from let_run(thread, command, {"threadId": thread.local}, timeout_s)
    note_resumed(state, thread)
    return True


def _resumed(state: State, replies: Mapping[WorkerThread, bool | ProblemError]) -> ResumedThreads:
    """Return the threads that were resumed, and log the failures.

    Raises the first failure if no thread was resumed. A thread that was not resumed is still shown as stopped.
    """
    resumed: list[Handle] = []
    failures: list[ProblemError] = []
    for thread, reply in replies.items():
        if isinstance(reply, WorkerRefusedError):
            state.log("warning", f"{thread.worker} failed {reply.reply.command}: {reply.reply.message}")
            failures.append(reply)
        elif isinstance(reply, ProblemError):
            state.log("warning", str(reply.problem))
            failures.append(reply)
        elif reply:
            resumed.append(thread.handle)
    if failures and not resumed:
        raise failures[0]
    return ResumedThreads(threads=tuple(resumed))
