"""The requests `terminate` and `restart`. raydap ends only a program that it has launched itself."""

from raydap.core.effects import StopDebuggee
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.requests.session import complete_by_hub
from raydap.core.settings import LaunchSettings, parse
from raydap.core.workers import program_terminal
from raydap.errors import Code, Problem, ProblemError


def terminate(state: State, request: Request, arguments: dict[str, object]) -> None:
    """Stop the launched program; the events `exited` and `terminated` follow when it has ended."""
    _launched(state, request)
    request.respond()
    state.emit(StopDebuggee(silently=False))


def restart(state: State, request: Request, arguments: dict[str, object]) -> None:
    """Stop the launched program and start it again, with new settings if the request contains some."""
    settings = _launched(state, request)
    changed = arguments.get("arguments")
    if isinstance(changed, dict) and changed:
        settings = complete_by_hub(state, parse(LaunchSettings, changed))
    request.respond()
    state.run.settings = settings
    state.run.program_ended = False
    state.run.driver = None
    state.emit(StopDebuggee())
    program_terminal.start(state, settings)


def _launched(state: State, request: Request) -> LaunchSettings:
    if state.run.program is None or not state.run.configured:
        text = f"{request.command} is only for a launched program: raydap never ends a job that it did not start."
        raise ProblemError(Problem(Code.UNSUPPORTED, text))
    return state.run.program
