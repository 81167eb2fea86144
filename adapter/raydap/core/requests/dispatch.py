"""Dispatch of requests: check the client's rights, call the handler, and send the answer or the error."""

from functools import partial
from types import GeneratorType
from typing import Any

from raydap.core.arguments import decode
from raydap.core.flows import Future, start
from raydap.core.model.client import Client, ClientRole, ClientStage, Request
from raydap.core.model.state import State
from raydap.core.requests.routing import forward
from raydap.core.requests.table import TABLE, TRUSTED, RequestRow
from raydap.errors import Code, Problem, ProblemError

_REFUSALS = {
    ClientRole.UNTRUSTED: (
        Code.NOT_ADMITTED,
        'This hub requires its token: give the argument "token" to attach, or connect with raydap connect.',
    ),
    ClientRole.JOINING: (Code.OTHER_SESSION, "A child session may send {} only after an attach with its ticket."),
    ClientRole.OBSERVER: (
        Code.OBSERVER,
        'Observers cannot send {}; attach without the argument "role" to send it.',
    ),
}
"""The error for a client whose role does not allow a request. The other roles allow every request."""


def dispatch(state: State, request: Request) -> None:
    """Handle a client's request. The answer or the error is sent now, or when the handler's flow ends."""
    row = TABLE.get(request.command)
    try:
        _check(request.client, request.command, row)
        if row is None:
            raise ProblemError(Problem(Code.UNSUPPORTED, f'"{request.command}" is not supported by raydap.'))
        answer = _handle(state, request, row)
        if not isinstance(answer, GeneratorType):
            _conclude(request, answer)
            return
    except Exception as error:
        _fail(state, request, error)
        return
    start(answer).add_done_callback(partial(_end, state, request))


def _handle(state: State, request: Request, row: RequestRow) -> Any:
    request.timeout_s = row.timeout_s
    arguments = request.arguments()
    if row.handler is None:
        assert row.route is not None
        return forward(state, request, row.route, arguments)
    return row.handler(state, request, arguments if row.types is None else decode(row.types[0], arguments))


def _check(client: Client, command: str, row: RequestRow | None) -> None:
    """Raise ProblemError if this client may not send the command now."""
    if client.role not in (TRUSTED if row is None else row.who):
        code, text = _REFUSALS[client.role]
        raise ProblemError(Problem(code, text.format(command)))
    if row is None:
        return
    if client.stage < row.since:
        earlier = "attach or launch" if row.since is ClientStage.ATTACHED else "initialize"
        raise ProblemError(Problem(Code.WRONG_ORDER, f"{command} may be sent only after {earlier}."))


def _end(state: State, request: Request, future: Future[Any]) -> None:
    try:
        _conclude(request, future.result())
    except Exception as error:
        _fail(state, request, error)


def _conclude(request: Request, answer: Any) -> None:
    if not request.answered:
        request.respond(answer)


def _fail(state: State, request: Request, error: Exception) -> None:
    if not isinstance(error, ProblemError):
        state.log_exception(error)
    if not request.answered:
        request.fail(error)
