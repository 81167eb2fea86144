"""The request `raydap/evaluate`: evaluate an expression in many threads, and in workers that run (docs/requests.md)."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import UNSET, UnsetType

from raydap.analysis.sets import folding
from raydap.analysis.sets.folding import Answer, Holder
from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, WorkerThread
from raydap.core.requests import selecting, top_frames
from raydap.core.translate import names
from raydap.core.translate.snapshots import refused
from raydap.core.workers import running_evaluation
from raydap.core.workers.replies import load_body
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.value_messages import EvaluateThreadsArguments, Evaluation, Evaluations

MAX_TIMEOUT_S = 3600.0
"""The longest time, in seconds, that a client may wait for the results of many threads."""

_NO_FRAME = Problem(Code.NOT_STOPPED, "The thread is running, or the top of its stack has no code of yours.")

Reply = Mapping[str, object] | ProblemError
"""A worker's answer with `result` and `type`, or the reason why there is none."""


class Evaluated(Protocol):
    """The arguments that `raydap/evaluate` and `raydap/compare` have in common, except for the expression."""

    @property
    def threads(self) -> tuple[int, ...] | None:
        """The ids of stopped threads."""

    @property
    def select(self) -> str | None:
        """A set. Without `threads` and `select`, all stopped threads are meant."""

    @property
    def timeout(self) -> float:
        """The time in seconds that each thread has for its result."""

    @property
    def running(self) -> bool:
        """Whether the expression is also evaluated in workers that run."""


def evaluate_threads(state: State, request: Request, arguments: EvaluateThreadsArguments) -> Flow[Evaluations]:
    """Evaluate an expression in the user's top frame of each thread, and return the results and groups of equal ones.

    A thread that has no result in time is reported as silent, so that it does not delay the results of the others.
    """
    check(arguments.expression, arguments.timeout)
    replies = yield from everywhere(state, request, arguments, arguments.expression)
    answers = [(_answer(reply), holder) for _, holder, reply in replies if not is_silent(reply)]
    return Evaluations(
        results=tuple(_evaluation(thread, reply) for thread, _, reply in replies if thread is not None),
        groups=folding.groups(answers),
        silent=silent_threads(replies),
        unread=unread_workers(replies),
        statistics=folding.statistics(answer for answer, _ in answers) or UNSET,
    )


def check(expression: str, timeout_s: float) -> None:
    """Raise ProblemError if the expression is empty or the timeout is out of range."""
    if not expression.strip():
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "expression" is empty.'))
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        text = f'The argument "timeout" must be above 0 and at most {MAX_TIMEOUT_S:g} seconds.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))


def everywhere(
    state: State, request: Request, arguments: Evaluated, expression: str
) -> Flow[list[tuple[WorkerThread | None, Holder, Reply]]]:
    """Evaluate `expression` in the threads and workers that the arguments name, and return all replies.

    Each reply comes with its thread, None for a worker that runs, and with the holder of the value.
    """
    client, timeout_s = request.client, arguments.timeout
    threads, running, members = yield from selecting.resolve_targets(
        state, client, arguments.threads, arguments.select, arguments.running, waiting=arguments.running
    )
    stopped = state.parts.gather({thread: evaluate(state, thread, expression, timeout_s) for thread in threads}, client)
    flows = {key: running_evaluation.evaluate(state, key, expression, timeout_s) for key in running}
    read = yield from state.parts.gather(flows, client)
    found: list[tuple[WorkerThread | None, Holder, Reply]] = []
    for thread, reply in (yield from stopped).items():
        found.append((thread, Holder(thread.handle, members[thread.worker.key]), reply))
    for key, reply in read.items():
        found.append((None, Holder(None, members[key]), reply))
    return found


def silent_threads(replies: Iterable[tuple[WorkerThread | None, Holder, Reply]]) -> tuple[int, ...]:
    """Return the ids of the stopped threads that had no result in time."""
    return folding.threads_of(holder for _, holder, reply in replies if is_silent(reply))


def unread_workers(replies: Iterable[tuple[WorkerThread | None, Holder, Reply]]) -> tuple[str, ...] | UnsetType:
    """Return the keys of the workers that run and had no result in time; UNSET if there are none."""
    return folding.running_of(holder for _, holder, reply in replies if is_silent(reply))


def is_silent(reply: Reply) -> bool:
    """Return whether there was no result in time. Any other error counts as a result."""
    return isinstance(reply, ProblemError) and reply.problem.code is Code.WORKER_SILENT


def evaluate(state: State, thread: WorkerThread, expression: str, timeout_s: float) -> Flow[Mapping[str, object]]:
    """Return debugpy's answer to an expression in the user's top frame of a thread.

    Raises ProblemError, with the code WORKER_SILENT if debugpy has not answered within `timeout_s`.
    """
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
        text = f"No result after {timeout_s:g} s; the thread may be busy, or wait for a stopped thread."
        raise ProblemError(Problem(Code.WORKER_SILENT, text)) from None


def reason(error: ProblemError) -> str:
    """Return the text of an error in one line, for users."""
    if not isinstance(error, WorkerRefusedError):
        return error.problem.text
    # debugpy sends a whole traceback; its last line names the exception.
    lines = [line for line in (error.reply.message or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "The expression failed without an error message."


def _evaluation(thread: WorkerThread, reply: Reply) -> Evaluation:
    answer = _answer(reply)
    return Evaluation(
        thread_id=thread.handle,
        name=names.thread(thread)["name"],
        label=names.label(thread.worker),
        value=answer.value,
        type=answer.type,
        error=answer.error,
    )


def _answer(reply: Reply) -> Answer:
    if isinstance(reply, ProblemError):
        return Answer(UNSET, UNSET, reason(reply))
    return Answer(str(reply.get("result", "")), str(reply.get("type") or ""), UNSET)
