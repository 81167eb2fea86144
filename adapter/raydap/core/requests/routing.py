"""Requests that one worker answers: handles in them become the worker's own ids, and ids in its answers handles."""

from dataclasses import dataclass

from raydap.core.flows import Flow
from raydap.core.model.client import Client, ClientRole, Request
from raydap.core.model.handles import HandleScope
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, Worker, WorkerThread
from raydap.core.requests import caller_frames
from raydap.core.requests.caller_frames import CallerFrame
from raydap.core.requests.execution import not_stopped_error, thread_of
from raydap.core.translate import breakpoint_paths
from raydap.core.translate.local_files import make_readable
from raydap.core.translate.local_ids import answer_to_client, to_local_ids
from raydap.core.translate.snapshots import answer as answer_from_snapshot
from raydap.core.translate.stacks import mark_stack
from raydap.core.workers import shown_arrays, stop_pacing, thread_names
from raydap.core.workers.replies import fetch_result
from raydap.core.workers.working_dirs import look_for_copies
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.id_fields import RESPONSES, Kind
from raydap.wire import envelope
from raydap.wire.envelope import Body


@dataclass(frozen=True, slots=True)
class Route:
    """How a request names the worker that answers it."""

    argument: str = ""
    """The argument that contains a handle of the worker; "" if the request has none."""
    kind: Kind = Kind.THREAD
    """The kind of that handle."""
    else_focused: bool = False
    """Whether a request without the argument goes to the worker that the user looks at."""


_MAX_LINE = 2**31 - 1
"""The largest line number: CPython keeps it in a C int."""

BY_THREAD = Route("threadId", Kind.THREAD)
BY_FRAME = Route("frameId", Kind.FRAME)
BY_FRAME_ELSE_FOCUS = Route("frameId", Kind.FRAME, else_focused=True)
BY_VARIABLES = Route("variablesReference", Kind.VARIABLES)
BY_SOURCE = Route("sourceReference", Kind.SOURCE)
BY_FOCUS = Route(else_focused=True)


def forward(state: State, request: Request, route: Route, arguments: dict[str, object]) -> Flow[Body]:
    """Send a request to the worker that it names, and return the answer. Fields unknown to raydap stay unchanged.

    Raises ProblemError if the request names no worker, or if the thread has been resumed before the answer.
    """
    caller = _caller_frame(state, request, route, arguments)
    if caller is not None:
        answered = yield from _forward_to_caller(state, request, route, arguments, *caller)
        if answered is not None:
            return answered
    worker, scope = worker_of(state, request, route, arguments)
    to_local_ids(state, worker, request.command, arguments)
    shown = next((thread for thread in worker.threads.values() if thread.stop is scope), None)
    if shown is not None and shown.snapshot is not None:
        body = answer_from_snapshot(shown, request.command, arguments)
        if body is not None:
            answer_to_client(worker, scope, request.command, body)
            yield from _finish_stack(state, request, arguments, worker, scope, shown, body)
            return body
    if request.command == "variables":
        yield from shown_arrays.prepare(worker)
        if scope.closed:
            raise not_stopped_error(state, request.client)
    reply = yield from worker.ask(request.command, arguments, request.timeout_s)
    if reply.body is None or request.command not in RESPONSES:
        return reply.body
    if scope.closed:
        raise not_stopped_error(state, request.client)
    try:
        body = envelope.load(reply.body)
    except envelope.EnvelopeError as error:
        text = f"The answer of {worker} cannot be read."
        raise ProblemError(Problem(Code.WORKER_BROKEN, text, str(error))) from None
    if not isinstance(body, dict):
        return reply.body
    answer_to_client(worker, scope, request.command, body)
    number = body.pop("raydapResult", None)
    if number is not None and arguments.get("context") == "clipboard":
        body["result"] = (yield from fetch_result(worker, number, request.timeout_s)) or body.get("result")
    yield from _finish_stack(state, request, arguments, worker, scope, shown, body)
    return body


def stack_trace(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Forward the request, and note when the client has the stack.

    A request for one frame alone does not count: VS Code requests the other frames when it has shown the stop.
    """
    thread = thread_of(state, request.client, arguments.get("threadId"))
    stop_pacing.read(state, request.client, thread)
    is_whole = arguments.get("levels") != 1
    stop = thread.stop
    asked = dict(arguments)
    body = yield from forward(state, request, BY_THREAD, arguments)
    if is_whole and thread.task and request.client.role is not ClientRole.CHILD and isinstance(body, dict):
        callers = yield from caller_frames.of_thread(state, thread)
        if thread.stop is not stop:
            raise not_stopped_error(state, request.client)
        caller_frames.add(body, callers, asked)
    request.respond(body)
    if is_whole and thread.is_shown:
        thread_names.shown(request.client, thread.handle)


def _caller_frame(
    state: State, request: Request, route: Route, arguments: dict[str, object]
) -> tuple[CallerFrame, HandleScope] | None:
    """Return the frame of a caller that a request names, and the scope of its handle; None if it names none."""
    handle = arguments.get(route.argument)
    if handle is None or route.kind not in (Kind.FRAME, Kind.VARIABLES):
        return None
    target = state.handles.resolve(route.kind, handle)
    frame = caller_frames.caller_frame(target)
    if frame is None:
        return None
    if not request.client.may_name(state.workers[target.worker]):
        raise state.handles.unknown(route.kind, handle)
    return frame, target.scope


def _forward_to_caller(
    state: State,
    request: Request,
    route: Route,
    arguments: dict[str, object],
    frame: CallerFrame,
    scope: HandleScope,
) -> Flow[Body]:
    """Answer a request about a frame of a caller; return None if its thread is stopped, and so can answer itself.

    Then `arguments` have the handle of the same frame in the caller's own stop.
    """
    if route.kind is Kind.VARIABLES:
        if request.command != "variables":
            raise caller_frames.refusal(state, frame, is_running=True)
        return (yield from caller_frames.variables(state, frame))
    place = yield from caller_frames.find(state, frame)
    if scope.closed:
        raise not_stopped_error(state, request.client)
    if isinstance(place, tuple):
        thread, local = place
        assert thread.stop is not None
        arguments[route.argument] = thread.stop.handle(Kind.FRAME, local)
        return None
    if request.command != "scopes":
        raise caller_frames.refusal(state, frame, is_running=place is not None)
    return {"scopes": []} if place is None else caller_frames.scopes(scope, frame)


def exception_info(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Forward the request if the thread has stopped for an exception, else raise ProblemError.

    At any other stop pydevd fails, and prints its traceback into the program's output.
    """
    thread = thread_of(state, request.client, arguments.get("threadId"))
    if thread.state is ThreadState.STOPPED and not thread.raised:
        text = 'The argument "threadId" must name a thread that has stopped for an exception.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return (yield from forward(state, request, BY_THREAD, arguments))


def goto_targets(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Forward the request if its line is a valid line number, else raise ProblemError.

    debugpy offers any line as a target, but the thread is lost if `goto` cannot read the line (pydevd_comm.py,
    InternalSetNextStatementThread).
    """
    line = arguments.get("line")
    if type(line) is not int or not 0 < line <= _MAX_LINE:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "line" must be the number of a line.'))
    return (yield from forward(state, request, BY_FOCUS, arguments))


def _finish_stack(
    state: State,
    request: Request,
    arguments: dict[str, object],
    worker: Worker,
    scope: HandleScope,
    thread: WorkerThread | None,
    body: dict[str, object],
) -> Flow[None]:
    """Complete the answer to a `stackTrace`; other answers stay unchanged.

    A file gets the path under which a breakpoint was set in it, and is made readable for the client. Library frames are
    marked. Raises ProblemError if the stop has ended.
    """
    if request.command == "stackTrace":
        if thread is not None and not arguments.get("startFrame"):
            breakpoint_paths.learn(worker.run, thread, body)
        breakpoint_paths.apply(worker.run, body)
        yield from make_readable(state, worker, body)
        if scope.closed:
            raise not_stopped_error(state, request.client)
        raised = thread is not None and thread.raised
        look_for_copies(state, worker, mark_stack(body, worker.run.sources, raised))


def worker_of(state: State, request: Request, route: Route, arguments: dict[str, object]) -> tuple[Worker, HandleScope]:
    """Return the worker that gets a request, and the scope for the handles in its answer."""
    handle = arguments.get(route.argument)
    if handle is None and route.else_focused:
        # A client may send null for a missing argument; debugpy accepts only an integer or no argument.
        arguments.pop(route.argument, None)
        thread = focused_thread(state, request.client)
        return thread.worker, thread.stop or thread.worker.scope
    if route.kind is Kind.THREAD:
        thread = thread_of(state, request.client, handle)
        if thread.stop is None:
            raise not_stopped_error(state, request.client)
        return thread.worker, thread.stop
    target = state.handles.resolve(route.kind, handle)
    worker = state.workers[target.worker]
    if not request.client.may_name(worker):
        raise state.handles.unknown(route.kind, handle)
    if request.command in ("scopes", "evaluate"):
        _focus_on(request.client, worker, target.scope)
    return worker, target.scope


def _focus_on(client: Client, worker: Worker, scope: HandleScope) -> None:
    """Focus the thread of this stop: editors request scopes and evaluate in the frame that they show."""
    threads = worker.threads.values()
    client.view.focus = next((thread for thread in threads if thread.stop is scope), client.view.focus)


def focused_thread(state: State, client: Client) -> WorkerThread:
    """Return the thread for a request without an id: the focused one, else any stopped thread that the client sees.

    Raises ProblemError (NOT_STOPPED) if there is none.
    """
    focus = client.view.focus
    if focus is not None and focus.is_shown:
        return focus
    for thread in state.stopped.values():
        if client.may_name(thread.worker):
            return thread
    text = "No worker is stopped, so none can answer that; wait for a stop, or pause a worker."
    raise ProblemError(Problem(Code.NOT_STOPPED, text))
