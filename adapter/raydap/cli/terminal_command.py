"""What the commands of the terminal have in common: which session they take part in, and how they end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Coroutine
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TypeVar

import click

from raydap.cli import options, signals, system_limits
from raydap.exit_codes import ExitCode

if TYPE_CHECKING:
    # What takes part in sessions is imported only when it runs: help and the completion of shells do without it.
    from raydap.client.joining import Target

F = TypeVar("F", bound=Callable[..., Any])


def session_options(command: F) -> F:
    """Adds the options that `target` takes, and those of the log."""
    for option in (
        options.verbose,
        options.log_file,
        options.tls_ca,
        options.token_file,
        click.option("--connect", metavar="URL", help="The hub: ws://, wss://, tcp://, tcps://HOST:PORT or HOST:PORT."),
        options.dashboard,
    ):
        command = option(command)
    return command


def target(dashboard: str | None, connect: str | None, token_file: str | None, tls_ca: str | None) -> Target:
    """Raises click.UsageError for what cannot be meant."""
    from raydap.client.joining import Target

    if dashboard is not None and connect is not None:
        raise click.UsageError("--dashboard and --connect exclude each other: a hub knows its cluster.")
    return Target(dashboard, connect, token_file, tls_ca)


def run(work: Coroutine[Any, Any, int], log_file: str | None, verbose: bool) -> None:
    """Runs a command to its exit code. What the user has to know is one line on standard error."""
    from raydap.client.dap_connection import SessionError
    from raydap.errors import ProblemError
    from raydap.hub.hub_token import TokenError

    _take_any_text()
    if log_file is None and not verbose:
        # Users get what concerns them as a sentence; the rest, also of asyncio and other libraries, would spoil tables.
        logging.getLogger().addHandler(logging.NullHandler())
    else:
        options.start_log(log_file, verbose)
    system_limits.warn()
    try:
        code = signals.run(work)
    except ProblemError as error:
        code = _failed(str(error.problem))
    except (SessionError, TokenError) as error:
        code = _failed(str(error))
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    raise SystemExit(code)


def _take_any_text() -> None:
    """No command ends because of text that cannot be encoded or decoded, such as output of a worker in plain ASCII."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def _failed(text: str) -> int:
    options.note(text)
    return ExitCode.FAILED
