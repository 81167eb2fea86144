"""What is said of one variable in many workers. No I/O."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from raydap.presentation.numbers import digits, number
from raydap.presentation.short_text import in_one_line

MAX_CHARACTERS = 40
"""A longer value is cut."""

_MAX_GROUPS = 3

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_SAYS_NOTHING = re.compile(r"<.* at 0x[0-9a-fA-F]+>$|<(module|class|function|built-in|bound method) ", re.DOTALL)


class Value(NamedTuple):
    """A variable as debugpy gives it: `repr()` of what it is bound to, and the name of its type."""

    text: str
    type: str


Values = Mapping[str, Value]
"""The variables of one stop, by their names."""


def value_text(name: str, values: Sequence[Value]) -> str:
    """One value if all agree, else the range of numbers or the most frequent values; "" if that would say nothing."""
    told = [value for value in values if not _SAYS_NOTHING.match(value.text)]
    if not told:
        return ""
    groups = Counter(_ADDRESS.sub("", value.text) for value in told)
    if len(groups) == 1:
        return f"{name} = {in_one_line(next(iter(groups)), MAX_CHARACTERS)}"
    numbers = [number(value.text, value.type) for value in told]
    if None not in numbers:
        return f"{name} {_range([each for each in numbers if each is not None])}"
    if len(groups) > _MAX_GROUPS:
        return f"{name} {len(groups)} values"
    counted = (f"{in_one_line(text, MAX_CHARACTERS)} ({count})" for text, count in groups.most_common())
    return f"{name} {', '.join(counted)}"


def _range(numbers: Sequence[float]) -> str:
    """Like "0.29 to 0.33, 1 nan"."""
    finite = [number for number in numbers if math.isfinite(number)]
    parts = []
    if finite:
        least, most = digits(min(finite)), digits(max(finite))
        parts.append(f"≈ {least}" if least == most else f"{least} to {most}")
    counts = Counter(str(number) for number in numbers if not math.isfinite(number))
    return ", ".join([*parts, *(f"{count} {name}" for name, count in sorted(counts.items()))])
