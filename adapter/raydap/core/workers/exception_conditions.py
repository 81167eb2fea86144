"""Conditions of exception filters, which debugpy does not support.

The bridge evaluates a condition at each stop of its filter, and resumes the thread if it is not met. Source: DAP,
ExceptionFilterOptions. A condition is a Python expression in the frame that debugpy shows for the exception. In it,
`__exception__` is the tuple (type, value, traceback).
"""

from collections.abc import Mapping

from raydap.core.flows import Flow
from raydap.core.model.exception_filters import FILTERS
from raydap.core.model.worker import WorkerThread
from raydap.core.workers.replies import load_body
from raydap.errors import ProblemError

_FILTER_OF = dict(zip(("always", "unhandled", "userUnhandled"), FILTERS, strict=True))
"""The filter for which debugpy stopped, by the breakMode of exceptionInfo."""


def is_met(thread: WorkerThread, top: Mapping[str, object] | None) -> Flow[bool]:
    """Return whether the exception that has stopped the thread meets the condition of its filter.

    `top` is the top frame. If the condition cannot be evaluated, return True, so that the stop is shown.
    """
    worker, frame = thread.worker, (top or {}).get("id")
    try:
        info = load_body((yield from worker.ask("exceptionInfo", {"threadId": thread.local})))
        condition = worker.run.breakpoints.conditions.get(_FILTER_OF.get(str(info.get("breakMode")), ""))
        if condition is None or type(frame) is not int:
            return True
        # The line break ends a comment in the condition.
        expression = {"expression": f"bool({condition}\n)", "frameId": frame, "context": "watch"}
        value = load_body((yield from worker.ask("evaluate", expression)))
        return value.get("result") != "False"
    except ProblemError:
        return True
