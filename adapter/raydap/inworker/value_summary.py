"""What is said of one value, to compare it among workers (raydap/compare); runs in the worker.

Little is sent, however large the value is: a text that begins it, and a hash by which two workers' values are equal.
The hash is of what the text would be without a limit. Arrays are said by their numbers. `places` is a second hash, for
which only some places of large arrays count: how much of those is looked at depends on the time.
"""

import contextlib
import hashlib
import json
import re
import time
from typing import Any

from .array_libraries import LIBRARIES, NUMBER_OF, library_of, shape_of

TEXT = 600
"""The longest text that is sent, in characters."""

ITEMS = 100_000
"""Values inside a value that are looked at; those after them do not count."""

DEPTH = 20

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def summary(value: Any, seconds: float) -> str:
    """JSON. `seconds` is the time for all numbers of arrays."""
    until = time.monotonic() + seconds
    kind = type(value).__name__
    found = described(value, until)
    if isinstance(found, dict):
        return json.dumps({"type": kind, "array": found})
    walk = Walk(until)
    walk.write(value, DEPTH)
    text = walk.text("places")
    exact = "" if walk.is_sampled else digest(walk.text("hash"))
    cut = text[: TEXT - 3] + "..." if len(text) > TEXT else text
    return json.dumps({"type": kind, "text": cut, "hash": exact, "places": digest(text), "whole": walk.left >= 0})


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def described(value: Any, until: float) -> "dict[str, Any] | str | None":
    """An array by its numbers, and one that is a number, such as a loss, by its text. None for all else, and for what
    its library refuses to describe, such as a parameter of torch that has no shape yet."""
    library = library_of(type(value))
    if not library:
        return None
    try:
        if library in NUMBER_OF and shape_of(value, library) == ():
            # torch's own text would have its device.
            with contextlib.suppress(Exception):
                return repr(NUMBER_OF[library](value, until))
        return LIBRARIES[library](value, until)
    except Exception:
        return None


class Walk:
    """Writes a value as Python would, but the same in each process: without addresses, and sets in order."""

    def __init__(self, until: float) -> None:
        self.pieces: list[str | dict[str, Any]] = []
        self.left = ITEMS
        self.is_sampled = False
        self._until = until
        self._inside: set[int] = set()

    def text(self, by: str) -> str:
        """`by`: which hash of an array it has."""
        return "".join(each if isinstance(each, str) else written(each, by) for each in self.pieces)

    def write(self, value: Any, depth: int) -> None:
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
        # Two dicts are equal in any order of their keys.
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
    shape = ",".join(map(str, found["shape"]))
    # A small array has the one hash only.
    known = found[by] or found["hash"] or found["places"]
    return f"<{found['dtype']}[{shape}]{known and f' #{known}'}>"


class Name(str):
    """The name of a field, which is written without quotes."""


def is_written_by_fields(kind: type) -> bool:
    """Whether what `repr()` gives says nothing, or writes each field, which may be a large array."""
    shown: Any = kind.__repr__
    return shown is object.__repr__ or "__dataclass_fields__" in vars(kind)


def dict_reprs() -> "list[Any]":
    """By which a dict of a library's own class is known to be shown as one."""
    import collections

    return [dict.__repr__, collections.OrderedDict.__repr__, collections.defaultdict.__repr__]
