"""The evaluation of an expression in a running worker, where its code is (inworker/running_values.py)."""

from collections.abc import Mapping

import msgspec

from raydap.core.flows import Flow
from raydap.core.model.state import State
from raydap.core.workers import agent_questions, worker_stack
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
    """Evaluate an expression in a running worker; return `result` and `type` like debugpy's answer to `evaluate`.

    Raises ProblemError, with the code WORKER_SILENT if there is no value in time. A worker is not trusted: it can send
    anything.
    """
    worker = state.workers.get(key)
    try:
        if worker is not None and worker.is_attached:
            text = yield from query(worker, calls.running_value(expression, timeout_s), timeout_s + ANSWER_S)
        else:
            name = worker_stack.name(state, key)
            question = {"evaluate": expression, "seconds": timeout_s}
            text = yield from agent_questions.ask(state, key, name, question, timeout_s + ANSWER_S)
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
