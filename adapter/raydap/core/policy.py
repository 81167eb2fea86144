"""The one table of what happens to each request of a client.

docs/protocol.md is checked against it. A command that is not here is answered with "not supported".
"""

from dataclasses import dataclass
from enum import Enum, auto

from raydap.protocol import messages
from raydap.protocol.ids import Kind


class Mode(Enum):
    """LOCAL: answered by the bridge alone. ROUTE: goes to the worker that an argument names. RESUME: the same, and the
    thread runs on. FANOUT: answered by the bridge and told to all workers."""

    LOCAL = auto()
    ROUTE = auto()
    RESUME = auto()
    FANOUT = auto()


@dataclass(frozen=True, slots=True)
class Rule:
    """`by` is the argument that names the worker, and the kind of its handle; `else_looked_at`: without it the request
    goes to the worker that the user looks at. `patience` is in seconds."""

    mode: Mode
    by: tuple[str, Kind] | None = None
    patience: float = 30.0
    else_looked_at: bool = False


_THREAD = ("threadId", Kind.THREAD)
_FRAME = ("frameId", Kind.FRAME)
_VARIABLES = ("variablesReference", Kind.VARIABLES)
_USER_CODE = 3600.0
"""What the user evaluates may run as long as the user likes; the worker's end answers it in any case."""

POLICY: dict[str, Rule] = {
    "initialize": Rule(Mode.LOCAL),
    "attach": Rule(Mode.LOCAL),
    "launch": Rule(Mode.LOCAL),
    "configurationDone": Rule(Mode.LOCAL),
    "terminate": Rule(Mode.LOCAL),
    "restart": Rule(Mode.LOCAL),
    "cancel": Rule(Mode.LOCAL),
    "threads": Rule(Mode.LOCAL),
    "loadedSources": Rule(Mode.LOCAL),
    "breakpointLocations": Rule(Mode.LOCAL),
    "setBreakpoints": Rule(Mode.FANOUT),
    "setFunctionBreakpoints": Rule(Mode.FANOUT),
    "setExceptionBreakpoints": Rule(Mode.FANOUT),
    "disconnect": Rule(Mode.FANOUT),
    "pause": Rule(Mode.FANOUT),
    "stackTrace": Rule(Mode.ROUTE, _THREAD),
    "exceptionInfo": Rule(Mode.ROUTE, _THREAD),
    "scopes": Rule(Mode.ROUTE, _FRAME),
    "variables": Rule(Mode.ROUTE, _VARIABLES, 120.0),
    "setVariable": Rule(Mode.ROUTE, _VARIABLES, _USER_CODE),
    "evaluate": Rule(Mode.ROUTE, _FRAME, _USER_CODE, else_looked_at=True),
    "setExpression": Rule(Mode.ROUTE, _FRAME, _USER_CODE, else_looked_at=True),
    "completions": Rule(Mode.ROUTE, _FRAME, else_looked_at=True),
    "stepInTargets": Rule(Mode.ROUTE, _FRAME),
    "source": Rule(Mode.ROUTE, ("sourceReference", Kind.SOURCE)),
    "gotoTargets": Rule(Mode.ROUTE, else_looked_at=True),
    "modules": Rule(Mode.ROUTE, else_looked_at=True),
    "continue": Rule(Mode.RESUME, _THREAD),
    "next": Rule(Mode.RESUME, _THREAD),
    "stepIn": Rule(Mode.RESUME, _THREAD),
    "stepOut": Rule(Mode.RESUME, _THREAD),
    "goto": Rule(Mode.RESUME, _THREAD),
    "raydap/workers": Rule(Mode.LOCAL),
    "raydap/focus": Rule(Mode.LOCAL),
    "raydap/attach": Rule(Mode.FANOUT),
    "raydap/detach": Rule(Mode.FANOUT),
    "raydap/continue": Rule(Mode.FANOUT),
    "raydap/step": Rule(Mode.FANOUT),
    "raydap/evaluate": Rule(Mode.FANOUT),
}

BEFORE_ATTACH = frozenset({"initialize", "attach", "launch", "configurationDone", "disconnect", "cancel", "threads"})
BEFORE_ATTACH |= {"terminate", "restart"}
"""What a client may ask before it has attached; everything else would be about workers that are not its own yet."""

BEFORE_ADMISSION = frozenset({"initialize", "disconnect"})
"""What a client may ask that has not shown the hub's token; `attach` brings it."""

OBSERVING = frozenset(POLICY) - {rule for rule in POLICY if POLICY[rule].mode is Mode.RESUME}
OBSERVING -= {"launch", "terminate", "restart", "pause", "setVariable", "setExpression", "evaluate", "completions"}
OBSERVING -= {"raydap/attach", "raydap/detach", "raydap/continue", "raydap/step", "raydap/evaluate"}
"""What an observer may ask. Its breakpoints are answered, because editors send them unasked, but not set."""

_CONDITION = "A Python expression in the frame of the exception; __exception__ is (type, value, traceback)."

CAPABILITIES: messages.Capabilities = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionOptions": True,
    "supportsExceptionFilterOptions": True,
    "supportsEvaluateForHovers": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsValueFormattingOptions": True,
    "supportsClipboardContext": True,
    "supportsSingleThreadExecutionRequests": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsCompletionsRequest": True,
    "supportsStepInTargetsRequest": True,
    "supportsGotoTargetsRequest": True,
    "supportsModulesRequest": True,
    "supportsLoadedSourcesRequest": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsCancelRequest": True,
    "exceptionBreakpointFilters": [
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
    ],
}
"""The answer to `initialize`: only what really works, in the spec's spelling."""

HUB_CAPABILITIES: messages.Capabilities = {"supportSuspendDebuggee": True, "supportTerminateDebuggee": True}
"""What a hub's `disconnect` offers besides: to keep the workers as they are, or to end what it holds."""

LAUNCH_CAPABILITIES: messages.Capabilities = {"supportsTerminateRequest": True, "supportsRestartRequest": True}
"""What works besides once a program is launched, told by a `capabilities` event: raydap ends only what it started."""
