"""The standard input of a launched program. Without a terminal there is none, and raydap explains why input() fails."""

from raydap.core.model.state import State
from raydap.core.settings import LaunchSettings

_MESSAGE = "EOF when reading a line"
"""The message of the EOFError that input() raises without a terminal."""


def look_for_failure(state: State, text: object) -> None:
    """Explain the failure of input() once, if this text of an exception or of a traceback contains it."""
    run = state.run
    if run.program is not None and not run.input_explained and isinstance(text, str) and _MESSAGE in text:
        run.input_explained = True
        state.print_to_console(f"input() failed: {_without_terminal(run.program)}")


def take_error_output(state: State, text: str) -> None:
    """Search a piece of the program's standard error for the failure of input().

    The message can be split between two pieces.
    """
    joined = state.run.error_tail + text
    state.run.error_tail = joined[-len(_MESSAGE) :]
    look_for_failure(state, joined)


def has_terminal(state: State, settings: LaunchSettings) -> bool:
    """Return whether a launched program runs in a terminal of its client.

    A job runs on the cluster, and the clients of a hub may be on other machines.
    """
    run = state.run
    client = None if run.launcher is None else state.clients.get(run.launcher)
    can_open = client is not None and "supportsRunInTerminalRequest" in client.supports
    return settings.console != "internalConsole" and not settings.submit and state.hub is None and can_open


def explain_console(state: State) -> None:
    """Explain that the program does not run in the terminal that the client has requested."""
    program = state.run.program
    if program is not None and program.console != "internalConsole" and not has_terminal(state, program):
        state.print_to_console(f'"console": "{program.console}" has no effect here: {_without_terminal(program)}')


def _without_terminal(program: LaunchSettings) -> str:
    """Return a sentence about the missing terminal, with the way to answer input()."""
    if program.submit:
        return "a job has no terminal, so input() raises EOFError. Launch without submit, or give the value in args."
    target = f"-m {program.module}" if program.program is None else program.program
    return (
        "a launched program has no terminal, so input() raises EOFError, and its output is shown here. To answer "
        f"input(), run `raydap run --wait {target}` in a terminal and attach to it."
    )
