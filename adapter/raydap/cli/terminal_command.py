"""Code that the commands of the terminal share: which session they take part in, and how they end."""

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
    # The modules of sessions are imported only when a command runs, so that help and shell completion stay fast.
    from raydap.client.joining import SessionTarget

F = TypeVar("F", bound=Callable[..., Any])


def session_options(command: F) -> F:
    """Add the options that `target` takes, and the options of the log."""
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


def target(dashboard: str | None, connect: str | None, token_file: str | None, tls_ca: str | None) -> SessionTarget:
    """Return the cluster or hub that the user names. Raises click.UsageError for both at once."""
    from raydap.client.joining import SessionTarget

    if dashboard is not None and connect is not None:
        raise click.UsageError("--dashboard and --connect cannot be combined: a hub already has its cluster.")
    return SessionTarget(dashboard, connect, token_file, tls_ca)


def run(work: Coroutine[Any, Any, int], log_file: str | None, verbose: bool) -> None:
    """Run a command, and raise SystemExit with its exit code. An error is printed as one line on standard error."""
    from raydap.client.dap_connection import SessionError
    from raydap.errors import ProblemError
    from raydap.hub.hub_token import TokenError

    _take_any_text()
    if log_file is None and not verbose:
        # Users get errors as sentences. Log records, also of asyncio and other libraries, would spoil tables.
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
    """Make the standard streams accept any text, so that it ends no command.

    For example, a worker's output may not be encodable where the locale is plain ASCII.
    """
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def _failed(text: str) -> int:
    options.note(text)
    return ExitCode.FAILED
