"""The evaluation of an expression where the code of a worker is, without a stop (inworker/running_values.py)."""

from collections.abc import Mapping

import msgspec

from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.workers import agent_questions, waiting_workers, worker_stack
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

ANSWER_S = 2.0
"""Seconds for the way to the worker and back, in addition to the time for the value."""


class _Value(msgspec.Struct, frozen=True):
    """The answer of a worker."""

    result: str = ""
    """The value as text; "" if there is none."""
    type: str = ""
    """The name of the value's type; "" if there is none."""
    error: str = ""
    """Why there is no value, in one line; otherwise ""."""
    silent: bool = False
    """Whether the worker has no value in time."""


def evaluate(state: State, key: WorkerKey, expression: str, timeout_s: float) -> Flow[Mapping[str, object]]:
    """Evaluate an expression in a worker that runs, or waits in breakpoint().

    Return `result` and `type`, like debugpy's answer to `evaluate`.

    Raises ProblemError, with the code WORKER_SILENT if there is no value in time. A worker is not trusted: it can send
    anything.
    """
    worker, process = state.workers.get(key), state.run.processes[key]
    limit_s = timeout_s + ANSWER_S
    try:
        if worker is not None and worker.is_attached:
            text = yield from query(worker, calls.running_value(expression, timeout_s), limit_s)
        elif process.agent is None and process.paused is not None:
            name, code = worker_stack.name(state, key), calls.running_value(expression, timeout_s)
            text = calls.read_result((yield from waiting_workers.ask(state, key, name, code, limit_s)))
        else:
            name = worker_stack.name(state, key)
            question = {"evaluate": expression, "seconds": timeout_s}
            text = yield from agent_questions.ask(state, key, name, question, limit_s)
        value = msgspec.json.decode(text if isinstance(text, str) else "", type=_Value)
    except (ValueError, RecursionError) as error:
        state.log("warning", f"cannot decode the value that {key} has sent: {error}")
        problem = Problem(Code.WORKER_BROKEN, "The worker's answer cannot be decoded; see the log.")
        raise ProblemError(problem) from None
    if value.silent:
        text = f"No result after {timeout_s:g} s. The expression may wait for a lock that the worker holds."
        raise ProblemError(Problem(Code.WORKER_SILENT, text))
    if value.error:
        raise ProblemError(Problem(Code.NOT_STOPPED, value.error))
    return {"result": value.result, "type": value.type}
