"""Conditions of exception filters, which debugpy does not have: the bridge looks, and lets what is not wanted run on.

Source: DAP, ExceptionFilterOptions. A condition is a Python expression in the frame that debugpy shows for the
exception; there, `__exception__` is the tuple (type, value, traceback).
"""

from collections.abc import Callable
from typing import Any

from raydap.core.breakpoints import FILTERS
from raydap.core.handshake import load_body
from raydap.core.pending import Reply
from raydap.core.policy import POLICY
from raydap.core.session import Session
from raydap.core.workers import Thread

_FILTER_OF = dict(zip(("always", "unhandled", "userUnhandled"), FILTERS, strict=True))
"""debugpy says by the breakMode of exceptionInfo which filter it stopped for."""


def check(session: Session, thread: Thread, wanted: Callable[[], None], unwanted: Callable[[], None]) -> None:
    """Calls one of the two for a thread that an exception has stopped. What cannot be found out counts as wanted."""
    worker = thread.worker

    def ask(command: str, arguments: dict[str, Any], then: Callable[[Reply], None]) -> None:
        worker.request(command, arguments, then, session.now + POLICY["stackTrace"].patience)

    def on_info(reply: Reply) -> None:
        condition = session.breakpoints.conditions.get(_FILTER_OF.get(str(load_body(reply).get("breakMode")), ""))
        if condition is None:
            wanted()
        else:
            ask("stackTrace", {"threadId": thread.local, "levels": 1}, lambda stack: on_stack(stack, condition))

    def on_stack(reply: Reply, condition: str) -> None:
        frames = load_body(reply).get("stackFrames")
        frame = frames[0] if isinstance(frames, list) and frames else None
        if not isinstance(frame, dict) or type(frame.get("id")) is not int:
            wanted()
        else:
            expression = {"expression": f"bool({condition})", "frameId": frame["id"], "context": "watch"}
            ask("evaluate", expression, on_value)

    def on_value(reply: Reply) -> None:
        if load_body(reply).get("result") == "False":
            unwanted()
        else:
            wanted()

    ask("exceptionInfo", {"threadId": thread.local}, on_info)
