"""The table of requests: one row for each request that a client may send.

The capabilities are derived from the table, and a test compares docs/protocol.md with it. A command without a row is
answered with "not supported".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from raydap.core.model.client import ClientRole, ClientStage
from raydap.core.requests import (
    barrier_list,
    breakpoint_sync,
    comparison,
    console,
    data_breakpoints,
    evaluation,
    execution,
    merged_stacks,
    multi_thread,
    program,
    reloads,
    selecting,
    session,
    sources,
    waits,
    worker_list,
    worker_places,
)
from raydap.core.requests.routing import (
    BY_FOCUS,
    BY_FRAME,
    BY_FRAME_ELSE_FOCUS,
    BY_SOURCE,
    BY_THREAD,
    BY_VARIABLES,
    Route,
    exception_info,
    goto_targets,
    stack_trace,
)
from raydap.protocol.message_base import Arguments, Message
from raydap.protocol.raydap_messages import REQUESTS


class Mode(Enum):
    """How a request is carried out."""

    LOCAL = auto()
    """The bridge answers alone."""
    ROUTE = auto()
    """The bridge sends the request to the worker that an argument names."""
    RESUME = auto()
    """Like ROUTE, and the request resumes a thread."""
    FANOUT = auto()
    """The bridge answers, and sends the request to all workers."""


ALL_ROLES = frozenset(ClientRole)
TRUSTED = frozenset({ClientRole.DEBUGGER, ClientRole.OBSERVER, ClientRole.PARENT, ClientRole.CHILD})
"""The roles of clients that have shown the hub's token or a ticket, or need none."""
DEBUGGERS = TRUSTED - {ClientRole.OBSERVER}

Handler = Callable[[Any, Any, Any], Any]
"""Takes the state, the request and its arguments; returns the answer, or a Flow whose result is the answer.

A handler that does something after the answer sends it with `request.respond`.
"""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """The properties of one request."""

    mode: Mode
    """How the bridge carries out the request."""
    handler: Handler | None = None
    """None for a request that is only forwarded to the worker that `route` finds."""
    route: Route | None = None
    """How the request names its worker; None if the bridge answers without a worker."""
    types: tuple[type[Arguments], type[Message] | None] | None = None
    """The types of the arguments and of the answer's body. None: both are JSON objects as in DAP's schema, with all
    fields that a client or a worker adds."""
    who: frozenset[ClientRole] = TRUSTED
    """The roles that allow a client to send the request."""
    since: ClientStage = ClientStage.ATTACHED
    """The stage that a client must have reached."""
    timeout_s: float = 30.0
    """The seconds in which a worker has to answer each request that is sent to it for this one."""
    capabilities: tuple[str, ...] = ()
    """The capabilities that announce the request, or parts of it."""
    needs_program: bool = False
    """Whether the capabilities are announced after `launch` only."""


_LOCAL, _ROUTE, _RESUME, _FANOUT = Mode
_CONNECTED, _INITIALIZED = ClientStage.CONNECTED, ClientStage.INITIALIZED

_USER_CODE_S = 3600.0
"""Seconds for code of the user's, which may take long. If the worker ends first, the request is answered then."""

_STEP = RequestRow(_RESUME, execution.resume, BY_THREAD, who=DEBUGGERS)

TABLE: dict[str, RequestRow] = {
    "initialize": RequestRow(_LOCAL, session.initialize, who=ALL_ROLES, since=_CONNECTED),
    "attach": RequestRow(_LOCAL, session.attach, who=TRUSTED | {ClientRole.JOINING}, since=_INITIALIZED),
    "launch": RequestRow(_LOCAL, session.launch, who=DEBUGGERS, since=_INITIALIZED),
    "configurationDone": RequestRow(
        _LOCAL, session.configuration_done, capabilities=("supportsConfigurationDoneRequest",)
    ),
    "terminate": RequestRow(
        _LOCAL,
        program.terminate,
        who=DEBUGGERS,
        since=_CONNECTED,
        capabilities=("supportsTerminateRequest",),
        needs_program=True,
    ),
    "restart": RequestRow(
        _LOCAL,
        program.restart,
        who=DEBUGGERS,
        since=_CONNECTED,
        capabilities=("supportsRestartRequest",),
        needs_program=True,
    ),
    "cancel": RequestRow(_LOCAL, session.cancel, since=_CONNECTED, capabilities=("supportsCancelRequest",)),
    "threads": RequestRow(_LOCAL, execution.threads, since=_CONNECTED),
    "loadedSources": RequestRow(_LOCAL, sources.loaded_sources, capabilities=("supportsLoadedSourcesRequest",)),
    "breakpointLocations": RequestRow(
        _LOCAL, sources.breakpoint_locations, capabilities=("supportsBreakpointLocationsRequest",)
    ),
    "setBreakpoints": RequestRow(
        _FANOUT,
        breakpoint_sync.set_breakpoints,
        capabilities=("supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints"),
    ),
    "setFunctionBreakpoints": RequestRow(
        _FANOUT, breakpoint_sync.set_breakpoints, capabilities=("supportsFunctionBreakpoints",)
    ),
    "setExceptionBreakpoints": RequestRow(
        _FANOUT,
        breakpoint_sync.set_exception_breakpoints,
        capabilities=("supportsExceptionOptions", "supportsExceptionFilterOptions"),
    ),
    "dataBreakpointInfo": RequestRow(_LOCAL, data_breakpoints.data_breakpoint_info),
    "setDataBreakpoints": RequestRow(
        _FANOUT, data_breakpoints.set_data_breakpoints, capabilities=("supportsDataBreakpoints",)
    ),
    "disconnect": RequestRow(_FANOUT, session.disconnect, who=ALL_ROLES, since=_CONNECTED),
    "pause": RequestRow(_FANOUT, execution.pause, who=DEBUGGERS),
    "stackTrace": RequestRow(_ROUTE, stack_trace, BY_THREAD, capabilities=("supportsDelayedStackTraceLoading",)),
    "exceptionInfo": RequestRow(_ROUTE, exception_info, BY_THREAD, capabilities=("supportsExceptionInfoRequest",)),
    "scopes": RequestRow(_ROUTE, None, BY_FRAME),
    "variables": RequestRow(
        _ROUTE, None, BY_VARIABLES, timeout_s=120.0, capabilities=("supportsValueFormattingOptions",)
    ),
    "setVariable": RequestRow(
        _ROUTE, None, BY_VARIABLES, who=DEBUGGERS, timeout_s=_USER_CODE_S, capabilities=("supportsSetVariable",)
    ),
    "evaluate": RequestRow(
        _ROUTE,
        console.evaluate,
        BY_FRAME_ELSE_FOCUS,
        who=DEBUGGERS,
        timeout_s=_USER_CODE_S,
        capabilities=("supportsEvaluateForHovers", "supportsClipboardContext"),
    ),
    "setExpression": RequestRow(
        _ROUTE,
        None,
        BY_FRAME_ELSE_FOCUS,
        who=DEBUGGERS,
        timeout_s=_USER_CODE_S,
        capabilities=("supportsSetExpression",),
    ),
    "completions": RequestRow(
        _ROUTE, None, BY_FRAME_ELSE_FOCUS, who=DEBUGGERS, capabilities=("supportsCompletionsRequest",)
    ),
    "stepInTargets": RequestRow(_ROUTE, None, BY_FRAME, capabilities=("supportsStepInTargetsRequest",)),
    "source": RequestRow(_ROUTE, sources.source, BY_SOURCE),
    "gotoTargets": RequestRow(_ROUTE, goto_targets, BY_FOCUS, capabilities=("supportsGotoTargetsRequest",)),
    "modules": RequestRow(_ROUTE, None, BY_FOCUS, capabilities=("supportsModulesRequest",)),
    "continue": replace(_STEP, capabilities=("supportsSingleThreadExecutionRequests",)),
    "next": _STEP,
    "stepIn": _STEP,
    "stepOut": _STEP,
    "goto": _STEP,
    "raydap/workers": RequestRow(_LOCAL, worker_list.workers, types=REQUESTS["raydap/workers"]),
    "raydap/focus": RequestRow(_LOCAL, execution.focus, types=REQUESTS["raydap/focus"]),
    "raydap/attach": RequestRow(_FANOUT, worker_list.attach_workers, types=REQUESTS["raydap/attach"], who=DEBUGGERS),
    "raydap/pause": RequestRow(_FANOUT, worker_list.pause_workers, types=REQUESTS["raydap/pause"], who=DEBUGGERS),
    "raydap/stack": RequestRow(_LOCAL, worker_list.stack, types=REQUESTS["raydap/stack"]),
    "raydap/stacks": RequestRow(_LOCAL, merged_stacks.stacks, types=REQUESTS["raydap/stacks"]),
    "raydap/places": RequestRow(_LOCAL, worker_places.places, types=REQUESTS["raydap/places"]),
    "raydap/waits": RequestRow(_LOCAL, waits.waits, types=REQUESTS["raydap/waits"]),
    "raydap/detach": RequestRow(_FANOUT, worker_list.detach_workers, types=REQUESTS["raydap/detach"], who=DEBUGGERS),
    "raydap/select": RequestRow(_LOCAL, selecting.select, types=REQUESTS["raydap/select"]),
    "raydap/sets": RequestRow(_LOCAL, selecting.sets, types=REQUESTS["raydap/sets"], who=DEBUGGERS),
    "raydap/barriers": RequestRow(_FANOUT, barrier_list.barriers, types=REQUESTS["raydap/barriers"], who=DEBUGGERS),
    "raydap/breakpoints": RequestRow(_LOCAL, breakpoint_sync.breakpoints, types=REQUESTS["raydap/breakpoints"]),
    "raydap/continue": RequestRow(
        _FANOUT, multi_thread.continue_threads, types=REQUESTS["raydap/continue"], who=DEBUGGERS
    ),
    "raydap/step": RequestRow(_FANOUT, multi_thread.step_threads, types=REQUESTS["raydap/step"], who=DEBUGGERS),
    "raydap/evaluate": RequestRow(
        _FANOUT, evaluation.evaluate_threads, types=REQUESTS["raydap/evaluate"], who=DEBUGGERS
    ),
    "raydap/reload": RequestRow(_FANOUT, reloads.reload_file, types=REQUESTS["raydap/reload"], who=DEBUGGERS),
    "raydap/compare": RequestRow(_FANOUT, comparison.compare, types=REQUESTS["raydap/compare"], who=DEBUGGERS),
}
