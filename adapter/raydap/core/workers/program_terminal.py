"""The terminal of a launched program: the client opens it, if `console` requests one (spec: RunInTerminal Request)."""

from raydap.core.effects import StartDebuggee, StopDebuggee
from raydap.core.events import DebuggeeFailed, TerminalNeeded
from raydap.core.model.client import Client
from raydap.core.model.state import State
from raydap.core.settings import LaunchSettings
from raydap.core.workers import program_input, run_events
from raydap.errors import Code, Problem
from raydap.wire import envelope

_KINDS = {"integratedTerminal": "integrated", "externalTerminal": "external"}


def start(state: State, settings: LaunchSettings) -> None:
    """Start the launched program, in a terminal of its client if it can have one."""
    state.emit(StartDebuggee(settings, program_input.has_terminal(state, settings)))


def needed(state: State, event: TerminalNeeded) -> None:
    """Request the terminal from the client that has launched the program."""
    run = state.run
    if run.program is None or run.launcher is None:
        return  # The run has ended in the meantime.
    client = state.clients.get(run.launcher)
    if client is None:
        _fail(state, "the client that has launched it has left.")
        return
    run.terminal_request = client.next_seq()
    arguments = {
        "kind": _KINDS[run.program.console],
        "title": event.title,
        "cwd": event.cwd,
        "args": list(event.args),
    }
    client.send(envelope.request(run.terminal_request, "runInTerminal", arguments))


def answered(state: State, client: Client, answer: envelope.Envelope) -> None:
    """Handle the client's answer to runInTerminal; a refusal fails the launch."""
    run = state.run
    if client.id == run.launcher and answer.request_seq == run.terminal_request:
        run.terminal_request = None
        if not answer.success:
            reason = (answer.message or "no reason given").rstrip(".")
            _fail(state, f'{client.name} has opened no terminal ({reason}). Use "console": "internalConsole".')


def _fail(state: State, reason: str) -> None:
    state.emit(StopDebuggee())
    problem = Problem(Code.LAUNCH_FAILED, f"The program was not started: {reason}")
    run_events.debuggee_failed(state, DebuggeeFailed(problem))
