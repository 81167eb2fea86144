"""Words after `raydap`, and lines in `raydap debug`, as users type them."""

import asyncio
import logging
import os
import re
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from unittest import mock

from click.testing import CliRunner
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from raydap.analysis.sets.set_syntax import parse as parse_set
from raydap.cli import signals
from raydap.cli.main import main
from raydap.client.dap_connection import SessionError
from raydap.errors import Code, ProblemError
from raydap.terminal.debugger.command_line import parse
from raydap.terminal.debugger.command_table import BY_NAME, Leave
from raydap.terminal.debugger.debugger import CommandError
from raydap.terminal.debugger.prompt import ExpressionCompleter, needs_more_lines
from raydap.transport import runtime_folder
from support.scripted_debugger import ScriptedDebugger

_LINES = 6
"""How many lines are typed in one session; more lines have never found more."""


def commands(data: bytes) -> None:
    """Check that each line is executed, or refused with a message. `\\r` is a line end within one entry."""
    text = data.decode("utf-8", "surrogateescape")
    asyncio.run(_type([line.replace("\r", "\n") for line in text.split("\n")[:_LINES]]))


async def _type(lines: list[str]) -> None:
    played = ScriptedDebugger()
    completer = ExpressionCompleter(played.debugger)
    for line in lines:
        command = parse(line, BY_NAME)
        assert command.name in ("", *BY_NAME)
        assert command.rest in line
        if command.select is not None:
            _check_set(command.select)
        needs_more_lines(Document(line))
        async for completion in completer.get_completions_async(Document(line), CompleteEvent()):
            assert -len(line) <= completion.start_position <= 0
        try:
            await played.execute(line)
        except (CommandError, SessionError) as error:
            refused = str(error)
        except Leave:
            return
        else:
            continue
        assert refused.strip()


def _check_set(text: str) -> None:
    try:
        parse_set(text, {})
    except ProblemError as error:
        problem = error.problem
    else:
        return
    assert problem.code is Code.BAD_ARGUMENT
    assert problem.text.endswith(".")


class _Begun(SystemExit):
    """The words were understood, and the command would start its work."""


def _begin(work: Coroutine[Any, Any, Any] | None = None, *_: Any, **__: Any) -> NoReturn:
    if asyncio.iscoroutine(work):
        work.close()
    raise _Begun(0)


@contextmanager
def _without_work() -> Iterator[None]:
    """Keep commands from doing their work: each ends where the work would start."""
    with (
        mock.patch.object(asyncio, "run", _begin),
        mock.patch.object(signals, "run", _begin),
        mock.patch.object(os, "execvpe", _begin),
        mock.patch.object(logging, "basicConfig"),
        mock.patch.object(runtime_folder, "directory", side_effect=FileNotFoundError("there is none")),
    ):
        yield


@contextmanager
def _in_own_folder() -> Iterator[None]:
    """Run in an empty folder: a command may create a file, for example of its log, before its work starts."""
    before = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


_REFUSAL = re.compile(r"(Usage: raydap .*\n\n)?Error: \S", re.DOTALL)


def words(data: bytes) -> None:
    """Check a command line, one word per line.

    It is understood, or refused with exit code 2 and one message, or its work fails with exit code 1 and a sentence.
    """
    # A word cannot contain a NUL.
    typed = [os.fsdecode(word) for word in data.replace(b"\0", b"").split(b"\n")]
    with _without_work(), _in_own_folder():
        ended = CliRunner().invoke(main, typed, prog_name="raydap")
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    assert ended.exit_code in (0, 1, 2), ended.exit_code
    if ended.exit_code == 2:
        assert _REFUSAL.match(ended.output), ended.output
        assert "Traceback" not in ended.output
    elif ended.exit_code == 1:
        assert ended.output.strip()
