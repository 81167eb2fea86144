"""A summary of one value, to compare it among workers (raydap/compare); runs in the worker.

The summary is small, however large the value is: the beginning of its text, and a hash that is the same for equal
values. The hash is of the text without a limit. Arrays are described by their numbers. `places` is a second hash, to
which large arrays contribute only some places: how much of such an array is read depends on the time.
"""

import contextlib
import hashlib
import json
import re
import time
from typing import Any

from .array_libraries import LIBRARIES, NUMBER_OF, histogram, library_of, shape_of

TEXT = 600
"""The longest text that is sent, in characters."""

ITEMS = 100_000
"""The most values inside a value that are inspected. The values after them do not count."""

DEPTH = 20
"""The most levels of nested values that are inspected."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def summary(value: Any, seconds: float) -> str:
    """Return the summary of a value as JSON. `seconds` is the time for the numbers of all arrays."""
    until = time.monotonic() + seconds
    kind = type(value).__name__
    found = described(value, until)
    if isinstance(found, dict):
        bars = histogram(value, until)
        return json.dumps({"type": kind, "array": {**found, **({"histogram": bars} if bars else {})}})
    walk = Walk(until)
    walk.write(value, DEPTH)
    text = walk.text("places")
    exact = "" if walk.is_sampled else digest(walk.text("hash"))
    cut = text[: TEXT - 3] + "..." if len(text) > TEXT else text
    return json.dumps({"type": kind, "text": cut, "hash": exact, "places": digest(text), "whole": walk.left >= 0})


def digest(text: str) -> str:
    """Return a hash of 64 bits for a text, in hexadecimal."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def described(value: Any, until: float) -> "dict[str, Any] | str | None":
    """Return an array's numbers, or the text of an array that is a single number, such as a loss.

    Return None for any other value, and for an array that its library refuses to describe, such as a parameter of torch
    that has no shape yet.
    """
    library = library_of(type(value))
    if not library:
        return None
    try:
        if library in NUMBER_OF and shape_of(value, library) == ():
            # torch's own text would contain the device.
            with contextlib.suppress(Exception):
                return repr(NUMBER_OF[library](value, until))
        return LIBRARIES[library](value, until)
    except Exception:
        return None


class Walk:
    """The text of a value, which is the same in each process for equal values.

    It is what Python would write, but without addresses, and with sets sorted.
    """

    def __init__(self, until: float) -> None:
        self.pieces: list[str | dict[str, Any]] = []
        """The text so far; a dict is the description of an array."""
        self.left = ITEMS
        """How many more values may be inspected; negative if some were left out."""
        self.is_sampled = False
        """Whether an array was inspected only in part."""
        self._until = until
        self._inside: set[int] = set()

    def text(self, by: str) -> str:
        """Return the text, with the hash of each array that `by` names: `hash` or `places`."""
        return "".join(each if isinstance(each, str) else written(each, by) for each in self.pieces)

    def write(self, value: Any, depth: int) -> None:
        """Append the text of a value, with nested values down to `depth` levels."""
        self.left -= 1
        if self.left < 0:
            return
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes):
            self.pieces.append(repr(value))
        elif depth == 0 or id(value) in self._inside:
            self.pieces.append("...")
        elif (found := described(value, self._until)) is not None:
            self.is_sampled = self.is_sampled or (isinstance(found, dict) and found["sampled"] < 1)
            self.pieces.append(found)
        else:
            self._inside.add(id(value))
            self._write_parts(value, kind, depth - 1)
            self._inside.discard(id(value))

    def _write_parts(self, value: Any, kind: type, depth: int) -> None:
        shown: Any = kind.__repr__
        if isinstance(value, dict) and shown in dict_reprs():
            self._write_pairs("{", [(key, item) for key, item in dict.items(value)], ": ", "}", depth)
        elif isinstance(value, list) and shown is list.__repr__:
            self._write_items("[", list(value), "]", depth)
        elif isinstance(value, tuple) and shown is tuple.__repr__:
            self._write_items("(", list(value), ",)" if len(value) == 1 else ")", depth)
        elif isinstance(value, (set, frozenset)) and shown in (set.__repr__, frozenset.__repr__):
            self._write_items("{", sorted(value, key=repr), "}", depth)
        elif isinstance(getattr(value, "__dict__", None), dict) and is_written_by_fields(kind):
            fields = [(Name(key), item) for key, item in vars(value).items()]
            self._write_pairs(f"{kind.__name__}(", fields, "=", ")", depth)
        else:
            self.pieces.append(_ADDRESS.sub("", repr(value)))

    def _write_items(self, first: str, items: list[Any], last: str, depth: int) -> None:
        self.pieces.append(first)
        for number, item in enumerate(items):
            if self.left < 0:
                break
            if number:
                self.pieces.append(", ")
            self.write(item, depth)
        self.pieces.append(last)

    def _write_pairs(self, first: str, pairs: list[tuple[Any, Any]], between: str, last: str, depth: int) -> None:
        # Dicts are equal in any order of their keys, so the keys are sorted.
        if all(isinstance(key, str) for key, _ in pairs):
            pairs = sorted(pairs, key=lambda pair: pair[0])
        self.pieces.append(first)
        for number, (key, item) in enumerate(pairs):
            if self.left < 0:
                break
            if number:
                self.pieces.append(", ")
            if isinstance(key, Name):
                self.pieces.append(key)
            else:
                self.write(key, depth)
            self.pieces.append(between)
            self.write(item, depth)
        self.pieces.append(last)


def written(found: "dict[str, Any]", by: str) -> str:
    """Return the text of an array: its dtype, its shape, and the hash that `by` names."""
    shape = ",".join(map(str, found["shape"]))
    # A small array has no `places`, and an array that was read in part has no `hash`.
    known = found[by] or found["hash"] or found["places"]
    return f"<{found['dtype']}[{shape}]{known and f' #{known}'}>"


class Name(str):
    """The name of a field, which is written without quotes."""


def is_written_by_fields(kind: type) -> bool:
    """Return whether objects of this class are written field by field.

    Their `repr()` either has no information, or writes each field, which may be a large array.
    """
    shown: Any = kind.__repr__
    return shown is object.__repr__ or "__dataclass_fields__" in vars(kind)


def dict_reprs() -> "list[Any]":
    """Return the `__repr__` functions of the classes whose objects are written as a dict."""
    import collections

    return [dict.__repr__, collections.OrderedDict.__repr__, collections.defaultdict.__repr__]
