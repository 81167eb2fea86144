"""Requests about many stopped threads at once: raydap/continue, raydap/step, raydap/evaluate (docs/requests.md)."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from msgspec import UNSET

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.flows import Flow, gather
from raydap.core.model.client import Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, ThreadState
from raydap.core.requests import lockstep, selecting, top_frames
from raydap.core.requests.execution import let_run, note_resumed, runs_on
from raydap.core.sets import folding
from raydap.core.sets.folding import Member
from raydap.core.translate import names, paths
from raydap.core.translate.snapshots import refused
from raydap.core.translate.stacks import location
from raydap.core.workers import collectives, worker_entries
from raydap.core.workers.replies import load_body
from raydap.protocol.raydap_messages import (
    ContinueThreadsArguments,
    Location,
    ResumedThreads,
    SteppedGroup,
    SteppedThreads,
    StepThreadsArguments,
)
from raydap.protocol.types import Handle
from raydap.protocol.value_messages import EvaluateThreadsArguments, Evaluation, Evaluations

MAX_TIMEOUT_S = 3600.0
"""The longest time that a client may wait for results of many threads."""

_NO_FRAME = Problem(Code.NOT_STOPPED, "It runs, or none of the frames on top of its stack is yours.")


def continue_threads(state: State, request: Request, arguments: ContinueThreadsArguments) -> Flow[ResumedThreads]:
    """Resumes the named threads, or all."""
    threads = yield from selecting.threads(state, request.client, arguments.threads, arguments.select)
    yield from collectives.warn(state, threads)
    threads = [thread for thread in threads if thread.is_held]
    resumed = yield from gather({thread: _run(state, thread, "continue", request.timeout_s) for thread in threads})
    return _resumed(state, resumed)


def step_threads(state: State, request: Request, arguments: StepThreadsArguments) -> Flow[SteppedThreads]:
    """Steps a thread, and all others that are stopped at the same line. With a timeout, says to which lines they have
    come."""
    if not 0 <= arguments.timeout <= MAX_TIMEOUT_S:
        text = f'The argument "timeout" must be from 0 to {MAX_TIMEOUT_S:g} seconds.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    if arguments.until is not None and not arguments.timeout:
        text = 'The argument "until" needs a "timeout": the workers may never part.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    first = state.thread(request.client, arguments.thread_id)
    if first.state is ThreadState.BLOCKED:
        raise refused(first)
    if first.state is not ThreadState.STOPPED:
        raise runs_on()
    request.client.view.focus = first
    line = top_frames.line_of((yield from top_frames.of(first)))
    if first.state is not ThreadState.STOPPED:
        raise ProblemError(_NO_FRAME)
    command, timeout_s = arguments.command, request.timeout_s
    others = [] if line is None else (yield from selecting.threads(state, request.client, None, arguments.select))
    yield from collectives.warn(state, [first, *others], partial(_at, line, collectives.ANSWER_TIMEOUT_S))
    if first.state is not ThreadState.STOPPED:
        raise runs_on()
    if arguments.until is not None:
        return (yield from _step_until_parted(state, request, first, others, line, arguments))
    steps = {thread: _step_at(state, thread, line, command, timeout_s) for thread in others if thread is not first}
    replies = yield from gather({first: _run(state, first, command, timeout_s), **steps})
    resumed = _resumed(state, replies).threads
    if not arguments.timeout:
        return SteppedThreads(threads=resumed)
    # Who has ended meanwhile has still to be named.
    members = worker_entries.members(state)
    stepped = [thread for thread in replies if thread.handle in resumed]
    arrivals = state.await_arrivals(request, stepped, arguments.timeout)
    yield from arrivals.over
    groups = yield from _arrived([thread for thread in stepped if thread.is_held], members)
    running = tuple(thread.handle for thread in stepped if thread in arrivals.missing)
    return SteppedThreads(threads=resumed, groups=groups, running=running)


def _step_until_parted(
    state: State,
    request: Request,
    first: Thread,
    others: list[Thread],
    line: object,
    arguments: StepThreadsArguments,
) -> Flow[SteppedThreads]:
    until = state.now + arguments.timeout
    threads = list(dict.fromkeys([first, *(yield from _at(line, request.timeout_s, others))]))
    members = worker_entries.members(state)
    steps, running = yield from lockstep.until_parted(state, request, threads, arguments.command, until)
    return SteppedThreads(
        threads=tuple(thread.handle for thread in threads),
        groups=(yield from _arrived([thread for thread in threads if thread.is_held], members)),
        running=tuple(thread.handle for thread in threads if thread in running),
        steps=steps,
    )


def _at(line: object, timeout_s: float, threads: Collection[Thread]) -> Flow[list[Thread]]:
    """Those that are stopped at this line."""
    frames = yield from gather({thread: top_frames.of(thread, timeout_s) for thread in threads})
    places = {thread: top_frames.line_of(frame) for thread, frame in frames.items() if isinstance(frame, dict)}
    return [thread for thread, place in places.items() if place == line and thread.state is ThreadState.STOPPED]


def _arrived(threads: list[Thread], members: Mapping[str, Member]) -> Flow[tuple[SteppedGroup, ...]]:
    """By the line of the user's top frame."""
    frames = yield from gather({thread: top_frames.of(thread) for thread in threads})
    lines: dict[tuple[str, str, int] | None, list[Thread]] = {}
    for thread, frame in frames.items():
        lines.setdefault(None if isinstance(frame, ProblemError) else _location(thread, frame), []).append(thread)
    groups = [
        SteppedGroup(
            members=tuple(thread.handle for thread in found),
            label=folding.label(members[thread.worker.key] for thread in found),
            frame=None if place is None else Location(name=place[0], path=place[1], line=place[2]),
        )
        for place, found in lines.items()
    ]
    return tuple(sorted(groups, key=lambda group: (len(group.members), group.label)))


def _location(thread: Thread, frame: top_frames.Frame) -> tuple[str, str, int] | None:
    if not frame:
        return None
    name, path, line = location(frame)
    return name, paths.to_client(path, paths.workspace(thread.worker.settings)), line


def _step_at(state: State, thread: Thread, line: object, command: str, timeout_s: float) -> Flow[bool]:
    """Steps the thread if it is at this line, without waiting for other threads. Returns whether it is."""
    if thread.state is ThreadState.BLOCKED:
        return False
    is_there = top_frames.line_of((yield from top_frames.of(thread))) == line and thread.state is ThreadState.STOPPED
    if is_there:
        yield from _run(state, thread, command, timeout_s)
    return is_there


def evaluate_threads(state: State, request: Request, arguments: EvaluateThreadsArguments) -> Flow[Evaluations]:
    """Evaluates an expression in the user's top frame of each thread. One that hangs is named after a few seconds."""
    expression, timeout_s = arguments.expression, arguments.timeout
    check(expression, timeout_s)
    threads = yield from selecting.threads(state, request.client, arguments.threads, arguments.select)
    # A worker that ends meanwhile is still named.
    members = worker_entries.members(state)
    replies = yield from gather({thread: evaluate(state, thread, expression, timeout_s) for thread in threads})
    return _evaluations(replies, members)


def check(expression: str, timeout_s: float) -> None:
    """Raises ProblemError if one of them cannot be meant."""
    if not expression.strip():
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "expression" is empty.'))
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        text = f'The argument "timeout" must be above 0 and at most {MAX_TIMEOUT_S:g} seconds.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))


def _evaluations(
    replies: Mapping[Thread, Mapping[str, Any] | ProblemError], members: Mapping[str, Member]
) -> Evaluations:
    results = {thread: _evaluation(thread, reply) for thread, reply in replies.items()}
    silent = [thread for thread, reply in replies.items() if is_silent(reply)]
    answers = [(result, members[thread.worker.key]) for thread, result in results.items() if thread not in silent]
    return Evaluations(
        results=tuple(results.values()),
        groups=folding.groups(answers),
        silent=tuple(thread.handle for thread in silent),
        statistics=folding.statistics(result for result, _ in answers) or UNSET,
    )


def is_silent(reply: Mapping[str, Any] | ProblemError) -> bool:
    return isinstance(reply, ProblemError) and reply.problem.code is Code.WORKER_SILENT


def _run(state: State, thread: Thread, command: str, timeout_s: float) -> Flow[bool]:
    yield from let_run(thread, command, {"threadId": thread.local}, timeout_s)
    note_resumed(state, thread)
    return True


def _resumed(state: State, replies: Mapping[Thread, bool | ProblemError]) -> ResumedThreads:
    """Raises an error only if no thread runs on. A thread that fails to run on is in the log, and is still shown."""
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


def evaluate(state: State, thread: Thread, expression: str, timeout_s: float) -> Flow[Mapping[str, Any]]:
    """The answer of debugpy for the user's top frame. Raises ProblemError, with the code WORKER_SILENT if there is none
    in time."""
    if thread.state is ThreadState.BLOCKED:
        raise refused(thread)
    deadline = state.now + timeout_s
    try:
        frame = yield from top_frames.of(thread, timeout_s)
        if not frame:
            raise ProblemError(_NO_FRAME)
        arguments = {"expression": expression, "frameId": frame.get("id"), "context": "watch"}
        return load_body((yield from thread.worker.ask("evaluate", arguments, deadline - state.now)))
    except ProblemError as error:
        if error.problem.code is not Code.WORKER_SILENT:
            raise
        text = f"It has no result after {timeout_s:g} s; it may be busy, or wait for a stopped thread."
        raise ProblemError(Problem(Code.WORKER_SILENT, text)) from None


def _evaluation(thread: Thread, reply: Mapping[str, Any] | ProblemError) -> Evaluation:
    name, label = names.thread(thread)["name"], names.label(thread.worker)
    if isinstance(reply, ProblemError):
        return Evaluation(thread_id=thread.handle, name=name, label=label, error=reason(reply))
    value, kind = str(reply.get("result", "")), str(reply.get("type") or "")
    return Evaluation(thread_id=thread.handle, name=name, label=label, value=value, type=kind)


def reason(error: ProblemError) -> str:
    """One line for users."""
    if not isinstance(error, WorkerRefusedError):
        return error.problem.text
    # debugpy answers with a whole traceback, whose last line says what happened.
    lines = [line for line in (error.reply.message or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "It failed without a word."
