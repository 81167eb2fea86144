"""The stacks of a worker's threads, read while they run or hang (raydap/stack).

An attached worker is asked through its debugger, any other through its agent. Neither stops it.
"""

from raydap.core.effects import ReadStack
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import StackRead, WorkerLabel
from raydap.core.flows import Flow, Future
from raydap.core.model.state import State
from raydap.core.model.thread_stacks import CodeOwner, Stacks, ThreadFrame, ThreadStack, decode
from raydap.core.settings import AttachSettings
from raydap.core.translate import names, paths, snapshots
from raydap.core.workers import attach
from raydap.core.workers.pauses import silent
from raydap.core.workers.replies import query
from raydap.inworker import calls
from raydap.protocol import raydap_messages as messages
from raydap.protocol.types import WorkerKey

TIMEOUT_S = 5.0
"""Seconds for an attached worker. It takes 0.1 s, unless native code lets no Python code run."""


def of_worker(state: State, key: WorkerKey) -> Flow[messages.WorkerStack]:
    """Raises ProblemError if it cannot be read."""
    run = state.run
    worker = state.workers.get(key)
    settings = run.settings or AttachSettings()
    try:
        if worker is not None and worker.is_attached:
            name, settings = names.worker(worker), worker.settings
            try:
                text = yield from query(worker, calls.all_stacks(), TIMEOUT_S)
            except ProblemError as error:
                raise ProblemError(silent(worker)) if error.problem.code is Code.WORKER_SILENT else error from None
        else:
            name = _name(state, key)
            text = yield from _ask_agent(state, key)
        return _as_message(name, decode(text), settings)
    except ValueError as error:
        problem = Problem(Code.WORKER_BROKEN, f"The stack of {name} cannot be read.", str(error))
        raise ProblemError(problem) from None


def read(state: State, event: StackRead) -> None:
    """Takes an agent's answer."""
    waiting = state.run.stack_reads.pop(event.worker, None)
    if waiting is not None and event.problem:
        text = f"The stack of {_name(state, event.worker)} cannot be read: {event.problem}."
        waiting.set_exception(ProblemError(Problem(Code.WORKER_BROKEN, text)))
    elif waiting is not None:
        waiting.set_result(event.text)


def _ask_agent(state: State, key: WorkerKey) -> Flow[str]:
    reads, row = state.run.stack_reads, state.run.prepared.get(key)
    if row is None:
        text = (
            "It runs without an agent, so its stack can be read only when it is attached; start the program with "
            "`raydap run`, or launch it, to read the stacks of its workers at any time."
        )
        raise ProblemError(Problem(Code.NO_AGENT, text))
    if key not in reads:
        reads[key] = Future()
        state.emit(ReadStack(attach.dial(row)))
    return (yield from reads[key])


def _name(state: State, key: WorkerKey) -> str:
    alive = state.run.alive.workers.get(key)
    row = state.run.prepared.get(key) if alive is None else alive.row
    label = state.run.paused.labels.get(key, WorkerLabel()) if alive is None else alive.label
    return key if row is None else f"{names.alive(row, label)} · {names.where(row, label)}"


def _as_message(name: str, stacks: Stacks, settings: AttachSettings) -> messages.WorkerStack:
    folder = paths.workspace(settings)
    shown = sorted(snapshots.mapped(stacks, settings), key=lambda stack: not stack.is_users)
    threads = tuple(_thread(stack, folder) for stack in shown)
    text = "\n".join([f"{name}\n", *(_thread_text(thread) for thread in threads)])
    return messages.WorkerStack(name=name, threads=threads, text=text)


def _thread(stack: ThreadStack, folder: str | None) -> messages.ThreadStack:
    frames = tuple(_frame(frame, folder) for frame in stack.frames)
    return messages.ThreadStack(name=stack.name, place=stack.place, is_users=stack.is_users, frames=frames)


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
    """Frames are innermost first, in the words of a traceback; the variables are those of the user's frames."""
    lines = [f"Thread {thread.name}: {thread.place}"]
    for frame in thread.frames:
        lines.append(f'  File "{frame.path}", line {frame.line}, in {frame.name}')
        if frame.is_users:
            lines += [f"    {each.name} = {each.value}" for each in frame.variables]
    return "\n".join(lines) + "\n"
