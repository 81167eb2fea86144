"""The stacks of a worker's threads, read while they run or hang (raydap/stack).

An attached worker is queried through its debugger, any other through its agent. Neither stops the worker. If it does
not answer or has no agent, its stacks are read from outside (native_code.py).
"""

from collections.abc import Mapping

import msgspec

from raydap.analysis.thread_stacks import CodeOwner, SampledStack, Stacks, ThreadFrame, decode
from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.translate import names, paths, snapshots
from raydap.core.workers import agent_questions, native_code, worker_entries
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol import stack_messages as messages
from raydap.protocol.types import WorkerKey

AGENT_TIMEOUT_S = 10.0
"""Seconds for the stacks of a process that has an agent. They take 0.1 s, and longer in a process that computes."""

TIMEOUT_S = 1.5
"""Seconds for an attached worker before its stacks are read from outside. They take 0.1 s, unless native code lets no
Python code run."""


def of_worker(state: State, key: WorkerKey) -> Flow[messages.WorkerStack]:
    """Return the stacks of a worker.

    Raises ProblemError if they cannot be read.
    """
    shown = _shown_name(state, key)
    stacks, settings = yield from _read(state, key)
    return _as_message(shown, stacks, settings)


def threads(state: State, key: WorkerKey) -> Flow[tuple[SampledStack, ...]]:
    """Return the stacks of a worker with what each thread waits for, as far as the agent or the debugger reports it.

    The paths are those of the client. There are no local variables. Raises ProblemError if the stacks cannot be read.
    """
    stacks, settings = yield from _read(state, key, with_waits=True)
    folder = paths.workspace(settings)
    replace = msgspec.structs.replace
    return tuple(
        replace(
            stack,
            frames=tuple(replace(each, path=paths.to_client(each.path, folder), locals=()) for each in stack.frames),
        )
        for stack in snapshots.mapped(stacks, settings)
    )


def _read(state: State, key: WorkerKey, with_waits: bool = False) -> Flow[tuple[Stacks, AttachSettings]]:
    """Return the stacks of a worker, and the settings by which their paths are mapped.

    Raises ProblemError if they cannot be read.
    """
    worker, shown = state.workers.get(key), _shown_name(state, key)
    try:
        if worker is not None and worker.is_attached:
            expression = calls.all_waits() if with_waits else calls.all_stacks()
            return (yield from _of_attached(state, worker, expression)), worker.settings
        settings = state.run.settings or AttachSettings()
        question = {"stack": True, "waits": True} if with_waits else {"stack": True}
        return (yield from _of_other(state, key, question)), settings
    except ValueError as error:
        problem = Problem(Code.WORKER_BROKEN, f"The stack of {shown} cannot be read.", str(error))
        raise ProblemError(problem) from None


def _shown_name(state: State, key: WorkerKey) -> str:
    worker = state.workers.get(key)
    return name(state, key) if worker is None or not worker.is_attached else names.worker(worker)


def _of_attached(state: State, worker: Worker, expression: str) -> Flow[Stacks]:
    try:
        return decode((yield from query(worker, expression, TIMEOUT_S)))
    except ProblemError as error:
        if error.problem.code is not Code.WORKER_SILENT:
            raise
    try:
        return (yield from native_code.sample(state, worker.row))
    except ValueError as error:
        raise ProblemError(native_code.silent(worker, str(error))) from None


def _of_other(state: State, key: WorkerKey, question: Mapping[str, bool]) -> Flow[Stacks]:
    row = state.run.processes[key].row
    try:
        return decode((yield from agent_questions.ask(state, key, name(state, key), question, AGENT_TIMEOUT_S)))
    except ProblemError as error:
        if row is None or not row.pid:
            raise
        try:
            return (yield from native_code.sample(state, row))
        except ValueError as reason:
            problem = error.problem
            raise ProblemError(Problem(problem.code, problem.text, str(reason))) from None


def name(state: State, key: WorkerKey) -> str:
    """Return the name, for users, of a worker that is not attached."""
    process = state.run.processes[key]
    row = process.row
    if row is None:
        return key
    facts = worker_entries.facts(state, key)
    named = names.alive if process.paused is None else names.task
    return f"{named(row, facts, state.run.ranks).label} · {names.where(row)}"


def _as_message(name: str, stacks: Stacks, settings: AttachSettings) -> messages.WorkerStack:
    folder = paths.workspace(settings)
    shown = sorted(snapshots.mapped(stacks, settings), key=lambda stack: not stack.is_users)
    threads = tuple(as_thread(stack, folder) for stack in shown)
    text = "\n".join([f"{name}\n", *(_thread_text(thread) for thread in threads)])
    if stacks.more:
        text += f"\n{stacks.more} more coroutines are waiting.\n"
    return messages.WorkerStack(name=name, threads=threads, text=text)


def as_thread(stack: SampledStack, folder: str | None) -> messages.ThreadStack:
    """Return a stack as a message.

    `folder` is the client's folder for the files that jobs run as copies; None if it is unknown.
    """
    frames = tuple(_frame(frame, folder) for frame in stack.frames)
    return messages.ThreadStack(
        name=stack.name, place=stack.place, is_users=stack.is_users, frames=frames, coroutine=stack.coroutine
    )


def _frame(frame: ThreadFrame, folder: str | None) -> messages.StackFrame:
    variables = tuple(messages.StackVariable(name=each.name, value=each.value, type=each.type) for each in frame.locals)
    return messages.StackFrame(
        name=frame.name,
        path=paths.to_client(frame.path, folder),
        line=frame.line,
        is_users=frame.owner == CodeOwner.USER,
        variables=variables,
    )


def _thread_text(thread: messages.ThreadStack) -> str:
    """Return a stack as text, like a traceback but innermost frame first.

    The variables of the user's frames are included.
    """
    lines = [f"{'Coroutine' if thread.coroutine else 'Thread'} {thread.name}: {thread.place}"]
    for frame in thread.frames:
        lines.append(f'  File "{frame.path}", line {frame.line}, in {frame.name}')
        if frame.is_users:
            lines += [f"    {each.name} = {each.value}" for each in frame.variables]
    return "\n".join(lines) + "\n"
