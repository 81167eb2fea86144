"""DAP's data breakpoints, which are raydap's watchpoints: `dataBreakpointInfo` and `setDataBreakpoints`."""

import json

from raydap.core.flows import Flow
from raydap.core.model.client import ClientRole, Request
from raydap.core.model.run_watches import MAX_EXPRESSION, MAX_WATCHES, WatchPlace, WatchTerms, mistake_in, place_of
from raydap.core.model.state import State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, Worker
from raydap.core.requests import top_frames
from raydap.core.requests.routing import BY_FRAME_ELSE_FOCUS, BY_VARIABLES, focused_thread, worker_of
from raydap.core.translate import paths
from raydap.core.translate.local_ids import to_local_ids
from raydap.core.workers import prepared, watch_setting
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.wire.envelope import Body

_UNSET = {"verified": False, "message": "Observers cannot set watchpoints."}

_UNKNOWN = "This data breakpoint is not one of raydap's; set it again in the variables of a stopped worker."

_READS = "Python can watch changes of a value only, not reads; use the access type `write`."


def data_breakpoint_info(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Return the `dataId` of a variable, or of an expression in a frame; null, with the reason, if there is none."""
    try:
        if arguments.get("asAddress"):
            raise ProblemError(Problem(Code.BAD_ARGUMENT, "A Python program has no addresses to watch."))
        place = yield from find_place(state, request, arguments)
    except ProblemError as error:
        return {"dataId": None, "description": str(error.problem)}
    return {"dataId": place.data_id, "description": place.title, "accessTypes": ["write"], "canPersist": True}


def find_place(state: State, request: Request, arguments: dict[str, object]) -> Flow[WatchPlace]:
    """Return the place of the variable or expression `name` in a stopped worker. Raises ProblemError.

    It is a variable in `variablesReference`, else an expression in the frame `frameId`, else in the frame at which the
    user looks.
    """
    name = arguments.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_EXPRESSION:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "name" must be an expression.'))
    wanted: dict[str, object] = {"name": name}
    wanted |= {key: arguments[key] for key in ("variablesReference", "frameId") if arguments.get(key)}
    route = BY_VARIABLES if "variablesReference" in wanted else BY_FRAME_ELSE_FOCUS
    thread = None if route is BY_VARIABLES or "frameId" in wanted else focused_thread(state, request.client)
    if thread is not None:
        worker = thread.worker
        wanted["frameId"] = (yield from top_frames.of(thread)).get("id")
    else:
        worker, _ = worker_of(state, request, route, wanted)
        to_local_ids(state, worker, "dataBreakpointInfo", wanted)
    frame, variable = wanted.get("frameId"), wanted.get("variablesReference")
    ids = (frame if isinstance(frame, int) else 0, variable if isinstance(variable, int) else 0)
    return (yield from _ask(worker, *ids, name.strip()))


def _ask(worker: Worker, frame: int, variable: int, name: str) -> Flow[WatchPlace]:
    try:
        answer = json.loads((yield from query(worker, calls.watch_place(frame, variable, name), ANSWER_TIMEOUT_S)))
    except (calls.ResultError, ValueError, TypeError, RecursionError) as error:
        text = "The worker could not find the place of the expression."
        raise ProblemError(Problem(Code.WORKER_BROKEN, text, str(error))) from None
    problem = answer.get("problem") if isinstance(answer, dict) else None
    if problem:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, str(problem)))
    path = paths.to_client(str(answer.get("path")), paths.workspace(worker.settings))
    fields = [answer.get("expression"), path, answer.get("line"), answer.get("function")]
    place = place_of(json.dumps(fields))
    if place is None:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"{name} cannot be watched here."))
    return place


def set_data_breakpoints(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Replace the watchpoints of this client; the workers' own answers follow as events."""
    specs = arguments.get("breakpoints")
    if not isinstance(specs, list) or not all(isinstance(each, dict) for each in specs):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "breakpoints" must be an array of objects.'))
    if request.client.role is ClientRole.OBSERVER:
        request.respond({"breakpoints": [_UNSET] * len(specs)})
        return
    check_count(len(specs))
    watches = state.run.watches
    watches.forget_clients(state.clients)
    wanted = [_terms(each) for each in specs]
    set_now = {each.terms: each for each in watches.set(list(dict.fromkeys(wanted)), request.client.id)}
    for each in set_now.values():
        each.sent = each.view()
    request.respond({"breakpoints": [set_now[each].view() for each in wanted]})
    yield from watch_setting.set_everywhere(state)
    prepared.attach_needed(state)


def check_count(count: int) -> None:
    """Raise ProblemError if there would be more watchpoints than allowed."""
    if count > MAX_WATCHES:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"There can be {MAX_WATCHES} watchpoints; remove one first."))


def _terms(spec: dict[str, object]) -> WatchTerms:
    place = place_of(spec.get("dataId"))
    condition, hits, select = (str(spec.get(key) or "") for key in ("condition", "hitCondition", "select"))
    mistake = "" if place is not None else _UNKNOWN
    if spec.get("accessType") not in (None, "write"):
        mistake = _READS
    return WatchTerms(place, condition, hits, bool(spec.get("logMessage")), select, mistake or mistake_in(hits))
