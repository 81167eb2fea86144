"""Numbers: read from the output of `repr()`, written with few digits, and compared in names that are sorted."""

import re

from raydap.protocol.value_messages import Statistics

_NUMBER = re.compile(r"(?:[\w.]+\()?([+-]?(?:\d[\d_]*\.?\d*(?:e[+-]?\d+)?|\.\d+|nan|inf))(?:, [\w.=':]+)*\)?")
_DIGITS = re.compile(r"(\d+)")
_LONGEST = 400
_LARGEST_INTEGER = 1e15


def number(text: str, kind: str) -> float | None:
    """Return the number in the `repr()` of a value, or None if it is not a number.

    It may be wrapped, as in `np.float32(0.5)` or `tensor(0.5, device='cuda:0')`. `kind` is the name of the value's
    type; values of `str`, `bytes` and `bool` are not numbers.
    """
    if kind in ("str", "bytes", "bool") or len(text) > _LONGEST:
        return None
    found = _NUMBER.fullmatch(text)
    try:
        return None if found is None else float(found[1])
    except ValueError:
        return None  # For example 1__0, from a `__repr__` of the user's program.


def digits(value: float) -> str:
    """Return a number as text: an integer below 1e15 with all digits, any other number with four significant ones."""
    # A decoded number can be an int, which has no `is_integer` before Python 3.12.
    return str(int(value)) if float(value).is_integer() and abs(value) < _LARGEST_INTEGER else f"{value:.4g}"


def counted(number: int, what: str) -> str:
    """Return a number with its noun, such as `1 hit`, `12,034 hits` or `2 processes`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}{'es' if what.endswith('s') else 's'}"


def statistics(found: Statistics) -> list[str]:
    """Return texts such as `min 0.5` and `2 nan`; numbers that are missing and counts of 0 are left out."""
    numbers = [("min", found.min), ("max", found.max), ("mean", found.mean), ("std", found.std)]
    counts = [("nan", found.nan), ("inf", found.inf)]
    return [
        *(f"{name} {digits(value)}" for name, value in numbers if value is not None),
        *(f"{count} {name}" for name, count in counts if count),
    ]


def natural_order(text: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that compares the numbers in names by value: worker_2 is before worker_10."""
    parts = _DIGITS.split(text)
    return [(True, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (False, 0, part) for part in parts]
