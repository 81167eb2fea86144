"""What `raydap report` is to watch, as users write it: lines with conditions, expressions, durations."""

import os
import re
from dataclasses import dataclass, field

_LINE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?:\s+if\s+(?P<condition>.*\S))?\s*", re.DOTALL)
_DURATION = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,3})?)(?P<unit>ms|s|m|h|d|)")
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class WatchedLine:
    """A line of a file. With an `expression` its values are told; else workers stop there if the `condition`, "" for
    none, is met, and run on at once."""

    file: str
    line: int
    condition: str = ""
    expression: str | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is started. With `module` it is one, as for `python -m`."""

    program: str
    args: tuple[str, ...] = ()
    module: bool = False
    python: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched, and until when. `launch` or `job`: a program that is started, or the id or submission id of a
    job that runs. `every_s`: seconds between two looks where all workers are, None for none; `limit_s`: seconds after
    which nothing is watched any more."""

    launch: Launch | None = None
    job: str | None = None
    lines: tuple[WatchedLine, ...] = ()
    on_error: bool = False
    every_s: float | None = None
    limit_s: float | None = None
    reach: str = "prepared"
    command: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """What users call it."""
        if self.launch is None:
            return f"job {self.job}"
        return " ".join([*(["-m"] if self.launch.module else []), self.launch.program, *self.launch.args])


def line(text: str) -> WatchedLine:
    """Reads FILE:LINE, or FILE:LINE if CONDITION. Raises ValueError with a sentence for the user."""
    found = _LINE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'"{text}" is no line; write it like train.py:42, or "train.py:42 if loss > 10".')
    number = int(found["line"])
    if number < 1:
        raise ValueError(f'"{text}" is no line; lines are counted from 1.')
    return WatchedLine(
        _file(found["file"]), number, _expression(found["condition"] or "", f'The condition in "{text}"')
    )


def traced(text: str, expression: str) -> WatchedLine:
    """Reads FILE:LINE and the expression that is evaluated there. Raises ValueError like `line`."""
    watched = line(text)
    if watched.condition:
        raise ValueError(f'"{text}" has a condition; what is traced there can be: "loss if loss > 10 else None".')
    if not expression.strip():
        raise ValueError(f'There is no expression for "{text}"; write it after the line: train.py:42 loss.')
    return WatchedLine(watched.file, watched.line, "", _expression(expression, f'The expression for "{text}"'))


def _file(name: str) -> str:
    path = os.path.abspath(name)
    if not os.path.isfile(path):
        raise ValueError(f'There is no file "{name}" here; name it as it is found from this folder.')
    return path


def _expression(text: str, what: str) -> str:
    """It runs in another Python, maybe, but what is no expression here is none there."""
    if text:
        try:
            compile(f"({text.strip()}\n)", "<expression>", "eval")
        except (SyntaxError, ValueError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else error
            raise ValueError(f"{what} is no expression of Python: {reason}.") from None
    return text.strip()


def duration(text: str) -> float:
    """Seconds: 30s, 5m, 1h, 2d; a number alone is in seconds. Raises ValueError with a sentence for the user."""
    found = _DURATION.fullmatch(text.strip())
    seconds = 0.0 if found is None else float(found["number"]) * _SECONDS[found["unit"]]
    if seconds <= 0:
        raise ValueError(f'"{text}" is no duration; write it like 30s, 5m or 1h.')
    return seconds
