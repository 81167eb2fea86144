"""What the bridge adds about source files: their text, which were shown, and where breakpoints can be."""

import ast
import json
from typing import Any

from raydap.core import paths
from raydap.core.clients import Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.handshake import load_body
from raydap.core.pending import Reply
from raydap.core.policy import POLICY
from raydap.core.routing import route
from raydap.core.session import Session
from raydap.core.workers import Stage
from raydap.protocol.ids import Kind

_LINES = (
    "(lambda walk, dis: sorted({{line for code in walk(walk, compile(open({path!r}, 'rb').read(), {path!r}, 'exec')) "
    "for _, line in dis.findlinestarts(code) if line and {first} <= line <= {last}}}))"
    "(lambda walk, code: [code] + [inner for const in code.co_consts if hasattr(const, 'co_code') "
    "for inner in walk(walk, const)], __import__('dis'))"
)
"""The lines of a file that have code. It is compiled by the worker's own Python, and not run."""


def source(session: Session, request: Request) -> None:
    """The text of a source: debugpy has it where it gave the sourceReference, else the worker reads its file."""
    target = session.ids.down(Kind.SOURCE, request.arguments().get("sourceReference"))
    if not isinstance(target.local, str):
        route(session, request, POLICY["source"])
        return

    def then(reply: Reply) -> None:
        try:
            (text,) = ast.literal_eval(str(load_body(reply).get("result")))
            request.respond({"content": str(text)})
        except (SyntaxError, TypeError, ValueError):
            request.fail(Problem(Code.WORKER_BROKEN, f"The worker cannot read {target.local}."))

    # A list, because the context `clipboard` shows a string without its quotes.
    expression = f"[__import__('tokenize').open({target.local!r}).read()]"
    deadline = session.now + POLICY["source"].patience
    worker = session.workers[target.worker]
    worker.request("evaluate", {"expression": expression, "context": "clipboard"}, then, deadline)


def loaded(session: Session, request: Request) -> None:
    request.respond({"sources": list(session.sources.values())})


def breakpoint_locations(session: Session, request: Request) -> None:
    """Any attached worker that can read the file knows; without one the answer is empty."""
    arguments = request.arguments()
    source, first = arguments.get("source"), arguments.get("line")
    path = source.get("path") if isinstance(source, dict) else None
    last = arguments.get("endLine", first)
    if not isinstance(path, str) or type(first) is not int or type(last) is not int:
        text = 'breakpointLocations needs a "source" with a path, and a "line".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    workers = (worker for worker in session.workers.values() if worker.stage is Stage.ATTACHED and not worker.leaving)
    worker = next(workers, None)
    if worker is None:
        request.respond({"breakpoints": []})
        return

    def then(reply: Reply) -> None:
        request.respond({"breakpoints": [{"line": line} for line in _lines(load_body(reply).get("result"))]})

    # The context `clipboard` is the one whose results pydevd does not shorten.
    path = paths.told(path, paths.workspace(worker.settings), worker.package)[0]
    expression = _LINES.format(path=path, first=first, last=last)
    deadline = session.now + POLICY["breakpointLocations"].patience
    worker.request("evaluate", {"expression": expression, "context": "clipboard"}, then, deadline)


def _lines(result: Any) -> list[int]:
    try:
        lines = json.loads(result)
    except (TypeError, ValueError):
        return []
    return [line for line in lines if type(line) is int] if isinstance(lines, list) else []
