"""New code in one process, whether it is attached, waits in breakpoint(), or has an agent (inworker/code_reload.py)."""

import msgspec

from raydap.core.effects import ReleaseAgent
from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.settings import AttachSettings
from raydap.core.workers import agent_questions, new_texts, waiting_workers, worker_stack
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

CALL_S = 5.0
"""Seconds for a process that calls raydap at its start to take the new code. It waits in the meantime."""


class ProcessReload(msgspec.Struct, frozen=True):
    """The answer of a process."""

    loaded: bool = False
    """Whether the process has functions of the file."""
    changed: tuple[str, ...] = ()
    """The functions that have new code."""
    added: tuple[str, ...] = ()
    """The new functions, methods and constants."""
    kept: tuple[tuple[str, str], ...] = ()
    """The functions and statements that could not be changed or added, each with the reason."""
    running: tuple[str, ...] = ()
    """The changed functions whose old code still runs."""
    error: str = ""
    """Why nothing has changed, such as a syntax error; "" if there is no error."""


def reload(state: State, key: WorkerKey, path: str, packed: str, timeout_s: float) -> Flow[ProcessReload]:
    """Give a process the new code of a file. Raises ProblemError. A worker is not trusted: it can send anything."""
    worker, process = state.workers.get(key), state.run.processes[key]
    settings = (state.run.settings or AttachSettings()) if worker is None else worker.settings
    arguments = new_texts.arguments(settings, path, packed)
    try:
        if worker is not None and worker.is_attached:
            text = yield from query(worker, calls.reload_code(*arguments), timeout_s)
        elif process.agent is None and process.paused is not None:
            name, code = worker_stack.name(state, key), calls.reload_code(*arguments)
            text = calls.read_result((yield from waiting_workers.ask(state, key, name, code, timeout_s)))
        else:
            question = {"query": calls.reload_in_agent(*arguments)}
            text = yield from agent_questions.ask(state, key, worker_stack.name(state, key), question, timeout_s)
        answer = msgspec.json.decode(text if isinstance(text, str) else "", type=ProcessReload)
    except (ValueError, RecursionError) as error:
        state.log("warning", f"cannot decode what {key} has sent about a reload: {error}")
        problem = Problem(Code.WORKER_BROKEN, "The worker's answer cannot be decoded; see the log.")
        raise ProblemError(problem) from None
    if answer.changed or answer.added:
        state.run.reloaded.add(key)
    return answer


def release(state: State, key: WorkerKey) -> None:
    """Let a process that has called raydap continue without a debugger, once it has all new code."""
    if state.run.new_texts and state.run.processes[key].agent is not None:
        state.start(_reload_and_release(state, key))
    else:
        state.emit(ReleaseAgent(key))


def _reload_and_release(state: State, key: WorkerKey) -> Flow[None]:
    try:
        for path, packed in list(state.run.new_texts.items()):
            yield from reload(state, key, path, packed, CALL_S)
    finally:
        state.emit(ReleaseAgent(key))
