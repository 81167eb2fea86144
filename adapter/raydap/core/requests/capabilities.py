"""The capabilities in the answer to `initialize`, derived from the table of requests."""

from raydap.core.requests.table import TABLE
from raydap.protocol import messages

_CONDITION = "A Python expression in the frame of the exception; __exception__ is (type, value, traceback)."

EXCEPTION_FILTERS: list[messages.ExceptionBreakpointsFilter] = [
    {
        "filter": "raised",
        "label": "Raised exceptions",
        "default": False,
        "description": "Stop whenever an exception is raised in any worker.",
        "supportsCondition": True,
        "conditionDescription": _CONDITION,
    },
    {
        "filter": "uncaught",
        "label": "Uncaught exceptions",
        "default": True,
        "description": "Stop where a task or actor method failed, if Ray runs it with RAY_DEBUG_POST_MORTEM=1.",
        "supportsCondition": True,
        "conditionDescription": _CONDITION,
    },
    {
        "filter": "userUnhandled",
        "label": "User-uncaught exceptions",
        "default": False,
        "description": "Stop when an exception leaves the user's code for a library.",
        "supportsCondition": True,
        "conditionDescription": _CONDITION,
    },
]


def _offered(after_launch: bool) -> messages.Capabilities:
    rows = [row for row in TABLE.values() if row.needs_program == after_launch]
    return dict.fromkeys((name for row in rows for name in row.capabilities), True)  # type: ignore[return-value]


CAPABILITIES: messages.Capabilities = {**_offered(False), "exceptionBreakpointFilters": EXCEPTION_FILTERS}
"""The capabilities that every client gets. A test compares the names with DAP's schema."""

HUB_CAPABILITIES: messages.Capabilities = {
    **CAPABILITIES,
    "supportSuspendDebuggee": True,
    "supportTerminateDebuggee": True,
}
"""The capabilities at a hub, where `disconnect` can also choose to hold the workers or to detach them."""

LAUNCH_CAPABILITIES = _offered(True)
"""More capabilities, sent by the event `capabilities` after `launch`: raydap ends only a program that it started."""
