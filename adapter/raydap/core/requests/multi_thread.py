"""Requests about many stopped threads at once: raydap/continue, raydap/step, raydap/evaluate (docs/requests.md)."""

from collections.abc import Iterable, Mapping
from typing import Any

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.flows import Flow, gather
from raydap.core.model.client import Client, Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, Thread, ThreadState
from raydap.core.requests.execution import let_run, note_resumed, runs_on
from raydap.core.translate import names
from raydap.core.translate.snapshots import refused
from raydap.core.translate.stacks import frames_of, is_library_frame
from raydap.core.workers.replies import load_body
from raydap.protocol.raydap_messages import (
    ContinueThreadsArguments,
    EvaluateThreadsArguments,
    Evaluation,
    Evaluations,
    ResumedThreads,
    StepThreadsArguments,
)
from raydap.protocol.types import Handle

Frame = dict[str, Any]

_LEVELS = 20
"""The number of frames among which the user's is searched: a few frames of Ray and debugpy are above it."""

MAX_TIMEOUT_S = 3600.0
"""The longest time that a client may wait for results of many threads."""

_NO_FRAME = Problem(Code.NOT_STOPPED, "It runs, or none of the frames on top of its stack is yours.")


def continue_threads(state: State, request: Request, arguments: ContinueThreadsArguments) -> Flow[ResumedThreads]:
    """Resumes the named threads, or all."""
    threads = _named_threads(state, request.client, arguments.threads)
    resumed = yield from gather({thread: _run(state, thread, "continue", request.timeout_s) for thread in threads})
    return _resumed(state, resumed)


def step_threads(state: State, request: Request, arguments: StepThreadsArguments) -> Flow[ResumedThreads]:
    """Steps a thread, and all others that are stopped at the same line."""
    first = state.thread(request.client, arguments.thread_id)
    if first.state is ThreadState.BLOCKED:
        raise refused(first)
    if first.state is not ThreadState.STOPPED:
        raise runs_on()
    request.client.view.focus = first
    line = _line_of((yield from _top_frame(first)))
    if first.state is not ThreadState.STOPPED:
        raise ProblemError(_NO_FRAME)
    command, timeout_s = arguments.command, request.timeout_s
    others = [] if line is None else _stopped_threads(state, request.client)
    steps = {thread: _step_at(state, thread, line, command, timeout_s) for thread in others if thread is not first}
    return _resumed(state, (yield from gather({first: _run(state, first, command, timeout_s), **steps})))


def _step_at(state: State, thread: Thread, line: object, command: str, timeout_s: float) -> Flow[bool]:
    """Steps the thread if it is at this line, without waiting for other threads. Returns whether it is."""
    if thread.state is ThreadState.BLOCKED:
        return False
    is_there = _line_of((yield from _top_frame(thread))) == line and thread.state is ThreadState.STOPPED
    if is_there:
        yield from _run(state, thread, command, timeout_s)
    return is_there


def evaluate_threads(state: State, request: Request, arguments: EvaluateThreadsArguments) -> Flow[Evaluations]:
    """Evaluates an expression in the user's top frame of each thread. One that hangs is named after a few seconds."""
    if not arguments.expression.strip():
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "expression" is empty.'))
    if not 0 < arguments.timeout <= MAX_TIMEOUT_S:
        text = f'The argument "timeout" must be above 0 and at most {MAX_TIMEOUT_S:g} seconds.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    threads = _named_threads(state, request.client, arguments.threads)
    replies = yield from gather({thread: _evaluate(state, thread, arguments) for thread in threads})
    return Evaluations(results=tuple(_evaluation(thread, reply) for thread, reply in replies.items()))


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


def _evaluate(state: State, thread: Thread, arguments: EvaluateThreadsArguments) -> Flow[Mapping[str, Any]]:
    if thread.state is ThreadState.BLOCKED:
        raise refused(thread)
    deadline = state.now + arguments.timeout
    try:
        frame = yield from _top_frame(thread, arguments.timeout)
        if not frame:
            raise ProblemError(_NO_FRAME)
        evaluate = {"expression": arguments.expression, "frameId": frame.get("id"), "context": "watch"}
        return load_body((yield from thread.worker.ask("evaluate", evaluate, deadline - state.now)))
    except ProblemError as error:
        if error.problem.code is not Code.WORKER_SILENT:
            raise
        text = f"It has no result after {arguments.timeout:g} s; it may be busy, or wait for a stopped thread."
        raise ProblemError(Problem(Code.WORKER_SILENT, text)) from None


def _evaluation(thread: Thread, reply: Mapping[str, Any] | ProblemError) -> Evaluation:
    name, label = names.thread(thread)["name"], names.label(thread.worker)
    if isinstance(reply, ProblemError):
        return Evaluation(thread_id=thread.handle, name=name, label=label, error=_reason(reply))
    value, kind = str(reply.get("result", "")), str(reply.get("type") or "")
    return Evaluation(thread_id=thread.handle, name=name, label=label, value=value, type=kind)


def _reason(error: ProblemError) -> str:
    if not isinstance(error, WorkerRefusedError):
        return error.problem.text
    # debugpy answers with a whole traceback, whose last line says what happened.
    lines = [line for line in (error.reply.message or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "It failed without a word."


def _top_frame(thread: Thread, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[Frame]:
    """The top frame of the user's code, with the worker's own ids; empty if this stop shows none.

    If an exception has frames of libraries only, it is the top one of these.
    """
    stop = thread.stop
    try:
        reply = yield from thread.worker.ask("stackTrace", {"threadId": thread.local, "levels": _LEVELS}, timeout_s)
    except WorkerRefusedError:
        return {}
    frames = frames_of(load_body(reply))
    users = [frame for frame in frames if not is_library_frame(frame)] or (frames if thread.raised else [])
    return users[0] if users and thread.stop is stop else {}


def _line_of(frame: Frame) -> tuple[object, object] | None:
    """File and line of a frame; None if no other thread can be at the same one."""
    source = frame.get("source")
    return (source.get("path"), frame.get("line")) if isinstance(source, dict) else None


def _named_threads(state: State, client: Client, handles: Iterable[int] | None) -> list[Thread]:
    """The stopped threads that the request names; without names, all stopped threads that the client sees."""
    if handles is None:
        return _stopped_threads(state, client)
    # Threads that run by now are left out without an error: mostly the user wants them to run anyway.
    return _still(dict.fromkeys(state.thread(client, handle) for handle in handles))


def _stopped_threads(state: State, client: Client) -> list[Thread]:
    return _still(state.stopped_threads(client))


def _still(threads: Iterable[Thread]) -> list[Thread]:
    return [thread for thread in threads if thread.is_held]
