"""Conditions of exception filters. The bridge evaluates them, because debugpy has none, and resumes unwanted stops.

Source: DAP, ExceptionFilterOptions. A condition is a Python expression in the frame that debugpy shows for the
exception; there, `__exception__` is the tuple (type, value, traceback).
"""

from raydap.core.errors import ProblemError
from raydap.core.flows import Flow
from raydap.core.model.exception_filters import FILTERS
from raydap.core.model.worker import Thread
from raydap.core.translate.stacks import frames_of
from raydap.core.workers.replies import load_body

_FILTER_OF = dict(zip(("always", "unhandled", "userUnhandled"), FILTERS, strict=True))
"""The filter that debugpy stopped for, by the breakMode of exceptionInfo."""


def is_met(thread: Thread) -> Flow[bool]:
    """Whether the exception that has stopped the thread meets the condition of its filter. If the condition cannot be
    evaluated, the stop is shown."""
    worker = thread.worker
    try:
        info = load_body((yield from worker.ask("exceptionInfo", {"threadId": thread.local})))
        condition = worker.run.breakpoints.conditions.get(_FILTER_OF.get(str(info.get("breakMode")), ""))
        if condition is None:
            return True
        stack = load_body((yield from worker.ask("stackTrace", {"threadId": thread.local, "levels": 1})))
        frames = frames_of(stack)
        frame = frames[0].get("id") if frames else None
        if type(frame) is not int:
            return True
        # The line break ends a comment.
        expression = {"expression": f"bool({condition}\n)", "frameId": frame, "context": "watch"}
        value = load_body((yield from worker.ask("evaluate", expression)))
        return value.get("result") != "False"
    except ProblemError:
        return True
