"""The text for the values of one variable in many workers. No I/O."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from raydap.presentation.numbers import digits, number
from raydap.presentation.short_text import in_one_line

MAX_CHARACTERS = 40
"""The largest number of characters of a value. A longer value is cut."""

_MAX_GROUPS = 3
"""If there are more different values, only their number is shown."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_UNHELPFUL = re.compile(r"<.* at 0x[0-9a-fA-F]+>$|<(module|class|function|built-in|bound method) ", re.DOTALL)
"""Matches values that do not help the user, such as modules and objects without a `__repr__` of their own."""


class Value(NamedTuple):
    """The value of a variable as debugpy sends it."""

    text: str
    """The `repr()` of the value."""
    type: str
    """The name of its type."""


Values = Mapping[str, Value]
"""The variables at one stop, by their names."""


def value_text(name: str, values: Sequence[Value]) -> str:
    """Return a text such as `mode 'train' (7), 'eval' (1)` for the values of a variable.

    It contains the value if all workers agree, otherwise the range of numbers or the different values with their
    counts. It is "" if no value helps the user.
    """
    helpful = [value for value in values if not _UNHELPFUL.match(value.text)]
    if not helpful:
        return ""
    groups = Counter(_ADDRESS.sub("", value.text) for value in helpful)
    if len(groups) == 1:
        return f"{name} = {in_one_line(next(iter(groups)), MAX_CHARACTERS)}"
    numbers = [number(value.text, value.type) for value in helpful]
    if None not in numbers:
        return f"{name} {_range([each for each in numbers if each is not None])}"
    if len(groups) > _MAX_GROUPS:
        return f"{name} {len(groups)} values"
    counted = (f"{in_one_line(text, MAX_CHARACTERS)} ({count})" for text, count in groups.most_common())
    return f"{name} {', '.join(counted)}"


def _range(numbers: Sequence[float]) -> str:
    """Return the range of numbers, such as `0.29 to 0.33, 1 nan`."""
    finite = [number for number in numbers if math.isfinite(number)]
    parts = []
    if finite:
        least, most = digits(min(finite)), digits(max(finite))
        parts.append(f"≈ {least}" if least == most else f"{least} to {most}")
    counts = Counter(str(number) for number in numbers if not math.isfinite(number))
    return ", ".join([*parts, *(f"{count} {name}" for name, count in sorted(counts.items()))])
