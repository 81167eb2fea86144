"""The command and the environment of a launched program."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from raydap.core.settings import LaunchSettings
from raydap.env_file import with_env_file
from raydap.errors import Code, Problem, ProblemError
from raydap.runtime.prepared_environment import is_off
from raydap.runtime.program_files import interpreter_named

Prepare = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Gets the environment of a program with the user's variables, and returns variables to add or replace."""


@dataclass(frozen=True)
class ProgramCommand:
    """What the system needs to start the program."""

    args: list[str]
    """The interpreter with its options, then the program or module with its arguments."""
    cwd: str | None
    """The folder in which the program runs; None for that of the process which starts it."""
    environ: dict[str, str]
    """The whole environment."""
    off: bool
    """Whether the environment contains RAYDAP=off."""


def program_command(settings: LaunchSettings, environ: Mapping[str, str], prepare: Prepare) -> ProgramCommand:
    """Return the command of a program whose environment is based on `environ`.

    Raises ProblemError (LAUNCH_FAILED) if the program, its folder or its `envFile` is missing.
    """
    settings = with_env_file(settings, environ)
    missing = _missing(settings)
    if missing:
        raise ProblemError(Problem(Code.LAUNCH_FAILED, f"The program was not started: {missing}."))
    full = environment(settings, environ, prepare)
    return ProgramCommand(command(settings), settings.cwd, full, is_off(full))


def not_run(settings: LaunchSettings, reason: str, detail: str) -> Problem:
    """Return the problem of a program that the system cannot run, with the system's reason."""
    text = f"The program was not started: {settings.python or sys.executable} cannot be run ({reason})."
    return Problem(Code.LAUNCH_FAILED, text, detail)


def command(settings: LaunchSettings) -> list[str]:
    """Return the command line: the interpreter with its options, then the program or module with its arguments."""
    what = ["-m", settings.module] if settings.module is not None else [settings.program or ""]
    return [settings.python or sys.executable, *settings.python_args, "-u", *what, *settings.args]


def environment(
    settings: LaunchSettings, environ: Mapping[str, str], prepare: Prepare = lambda _: {}
) -> dict[str, str]:
    """Return the environment of the program. An empty RAY_DEBUG is left out: it would switch Ray's debugger off."""
    merged: dict[str, str | None] = {"PYTHONUNBUFFERED": "1", **environ, **settings.env}
    merged.update(prepare({name: value for name, value in merged.items() if value is not None}))
    return {name: value for name, value in merged.items() if value is not None and (name != "RAY_DEBUG" or value)}


def _missing(settings: LaunchSettings) -> str:
    """Return why the folder or the program cannot be used; "" if they can.

    The system's exception does not contain the path.
    """
    for path in (settings.cwd, settings.program):
        if path is not None and not _is_encodable(path):
            encoding = sys.getfilesystemencoding()
            return f'the locale encoding ({encoding}) cannot represent "{path}"; start raydap with PYTHONUTF8=1'
    if settings.cwd is not None and not os.path.isdir(settings.cwd):
        return f'the folder "{settings.cwd}" (cwd) does not exist'
    if settings.program is None:
        return ""
    if not os.path.exists(os.path.join(settings.cwd or "", settings.program)):
        return f'the file "{settings.program}" (program) does not exist'
    return interpreter_named(settings.program, settings.cwd or "")


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
