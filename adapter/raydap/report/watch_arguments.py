"""The arguments of `raydap report`: lines with conditions, and expressions, parsed from the user's text."""

import os
import re
from dataclasses import dataclass

from raydap.client.launched_program import Program

_LINE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?:\s+if\s+(?P<condition>.*\S))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WatchedLine:
    """A line where workers stop, or where they evaluate an expression without stopping."""

    file: str
    """The absolute path."""
    line: int
    """Counted from 1."""
    condition: str = ""
    """A worker stops only if this expression is true; "" for every hit."""
    expression: str | None = None
    """The expression that workers evaluate; None for a line where they stop."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The program or job to watch, and for how long. Exactly one of `program` and `job` is set."""

    program: Program | None = None
    """The program to start."""
    job: str | None = None
    """The id or submission id of a running job."""
    lines: tuple[WatchedLine, ...] = ()
    """The lines of `--break-at` and `--trace-at`, in the user's order."""
    on_error: bool = False
    """Whether failing tasks, actors and drivers stop."""
    every_s: float | None = None
    """Seconds between two samples of all stacks; None for no samples."""
    limit_s: float | None = None
    """Seconds after which watching ends; None for no limit."""
    reach: str = "prepared"
    """Which workers of a running job are attached, as in `attach`: `prepared`, `any` or `paused`."""
    command: tuple[str, ...] = ()
    """The command line of raydap, for the report."""
    watches: tuple[WatchedLine, ...] = ()
    """The expressions of `--watch`, in the user's order."""

    @property
    def title(self) -> str:
        """The name of the run for users: the program's command line, or the job."""
        return f"job {self.job}" if self.program is None else self.program.title


def line(text: str) -> WatchedLine:
    """Parse `FILE:LINE` or `FILE:LINE if CONDITION`. Raises ValueError with a sentence for the user."""
    found = _LINE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'"{text}" is not a line. Write train.py:42, or "train.py:42 if loss > 10".')
    number = int(found["line"])
    if number < 1:
        raise ValueError(f'"{text}" is not a line: lines count from 1.')
    path = os.path.abspath(found["file"])
    if not os.path.isfile(path):
        raise ValueError(f'There is no file "{found["file"]}". Write its path relative to the current folder.')
    return WatchedLine(path, number, _expression(found["condition"] or "", f'The condition in "{text}"'))


def traced(text: str, expression: str) -> WatchedLine:
    """Parse `FILE:LINE` and check the expression for it. Raises ValueError with a sentence for the user."""
    watched = line(text)
    if watched.condition:
        raise ValueError(f'"{text}" has a condition. Put it into the expression: "loss if loss > 10 else None".')
    if not expression.strip():
        raise ValueError(f'The expression for "{text}" is missing. Write it after the line: train.py:42 loss.')
    return WatchedLine(watched.file, watched.line, "", _expression(expression, f'The expression for "{text}"'))


def _expression(text: str, what: str) -> str:
    """Return an expression without surrounding spaces. Raises ValueError, which begins with `what`, if it is not one.

    Workers may run another version of Python, but an expression that is invalid here is invalid there, too.
    """
    try:
        compile(f"({text.strip()}\n)", "<expression>", "eval")
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"{what} is not a valid Python expression: {reason}.") from None
    return text.strip()
