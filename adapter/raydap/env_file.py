"""Reads the file that `envFile` names: variables for the environment of a launched program."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from raydap.core.settings import LaunchSettings
from raydap.errors import Code, Problem, ProblemError

_DEFAULT_NAME = ".env"
"""VS Code names this file of the workspace folder in every launch, so it is no error if the file does not exist."""

_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?""")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_COMMENT = re.compile(r"(?:^|\s+)#.*")


def with_env_file(settings: LaunchSettings, environ: Mapping[str, str]) -> LaunchSettings:
    """Return the settings with the variables of `envFile` added to `env`.

    A variable that `env` already has keeps its value. Raises ProblemError (LAUNCH_FAILED) if the file cannot be read.
    """
    if not settings.env_file:
        return settings
    path = Path(settings.cwd or "", settings.env_file)
    if path.name == _DEFAULT_NAME and not path.exists():
        return settings
    try:
        # Opening a pipe would block until another process opens it for writing.
        text = path.read_text(encoding="utf-8-sig") if path.is_file() else _missing(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        text = f'The program was not started: the file "{path}" (envFile) cannot be read ({reason}).'
        raise ProblemError(Problem(Code.LAUNCH_FAILED, text, repr(error))) from None
    return msgspec.structs.replace(settings, env={**variables(text, environ), **settings.env})


def variables(text: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables of a file with lines like `NAME=value`, skipping all other lines.

    `${NAME}` stands for a variable of an earlier line or of `environ`, and is empty if neither has it. Values in single
    quotes are taken literally.
    """
    found: dict[str, str] = {}

    def value_of(reference: re.Match[str]) -> str:
        return found.get(reference[1], environ.get(reference[1], ""))

    for line in text.splitlines():
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment is None:
            continue
        name, value = assignment.groups()
        quoted = _QUOTED.fullmatch(value)
        if quoted is None:
            found[name] = _REFERENCE.sub(value_of, _COMMENT.sub("", value))
        elif quoted[2] is not None:
            found[name] = quoted[2]
        else:
            found[name] = _REFERENCE.sub(value_of, quoted[1].replace("\\n", "\n").replace('\\"', '"'))
    return found


def _missing(path: Path) -> str:
    raise OSError(0, "it is not a file" if path.exists() else "it does not exist")
