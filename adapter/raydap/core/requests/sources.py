"""Requests about source files: their text, the list of files seen in stacks, and the lines for breakpoints."""

from functools import partial
from typing import Any

from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.requests.routing import BY_SOURCE, forward
from raydap.core.translate.local_ids import paths_in
from raydap.core.workers.replies import query, query_text
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol.id_fields import Kind
from raydap.wire.envelope import Body


def source(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Return the text of a source, from debugpy if the sourceReference is debugpy's, else from the worker's file."""
    handle = arguments.get("sourceReference")
    target = state.handles.resolve(Kind.SOURCE, handle)
    if not isinstance(target.local, str):
        try:
            return (yield from forward(state, request, BY_SOURCE, arguments))
        except WorkerRefusedError as error:
            text = "This code has no file that the worker can read, so there is no source to show."
            raise ProblemError(Problem(Code.WORKER_BROKEN, text, str(error.reply.message))) from None
    worker = state.workers[target.worker]
    if not request.client.may_name(worker):
        raise state.handles.unknown(Kind.SOURCE, handle)
    try:
        text = yield from query_text(worker, partial(calls.source_text, target.local), request.timeout_s)
    except calls.ResultError as error:
        problem = Problem(Code.WORKER_BROKEN, f"The worker cannot read {target.local}.", str(error))
        raise ProblemError(problem) from None
    return {"content": text}


def loaded_sources(state: State, request: Request, arguments: dict[str, object]) -> Body:
    """Return the files that have been in stacks so far."""
    return {"sources": list(state.run.sources.values())}


def breakpoint_locations(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Return the lines of a file that have code, as an attached worker reports them; none if no worker can read it."""
    source, first = arguments.get("source"), arguments.get("line")
    path = source.get("path") if isinstance(source, dict) else None
    last = arguments.get("endLine", first)
    if not isinstance(path, str) or type(first) is not int or type(last) is not int:
        text = 'breakpointLocations needs a "source" with a path, and a "line".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    attached = (each for each in state.workers.values() if each.is_attached and request.client.may_name(each))
    worker = next(attached, None)
    lines: Any = None
    if worker is not None:
        path = paths_in(worker, path)[0]
        try:
            lines = yield from query(worker, calls.code_lines(path, first, last), request.timeout_s)
        except (ProblemError, calls.ResultError):
            lines = None
    found = lines if isinstance(lines, list) else []
    return {"breakpoints": [{"line": line} for line in found if type(line) is int]}
