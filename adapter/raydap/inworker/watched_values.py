"""What is compared of a watched value after each line; runs in the worker.

A watchpoint keeps no reference to a value of the program's that can be large. It keeps a number or a short text itself,
and of any other value a mark: a copy of a small collection, the version of a tensor, a checksum of a small array. Of
everything else it keeps only the identity, and the user is notified of that.
"""

import zlib
from typing import Any

from .safe_values import TEXT, type_name, value_text

PRIMITIVES = frozenset((int, float, complex, bool, type(None)))
"""The types whose values are compared directly. Only a line that assigns to the variable can change them."""

MAX_NODES = 500
"""The largest number of items, with those of nested collections, of a collection that is compared item by item."""

MAX_TEXT = 10_000
"""The length from which a text is compared by its checksum."""

MAX_BYTES = 65_536
"""The largest array in bytes that is compared by its content."""

_COLLECTIONS = (list, tuple, set, frozenset, dict)


class Missing:
    """The type of MISSING, which is no value: the expression has failed, such as for a variable without a value."""


MISSING = Missing()


class _TooLarge(Exception):
    """The collection has more than MAX_NODES items."""


def mark_of(value: Any) -> Any:
    """Return what represents a value in comparisons: itself if it is small, else a tuple. Run no code of the user's.

    Two marks are compared by `is_same`.
    """
    kind = type(value)
    if kind in PRIMITIVES:
        return value
    if kind in (str, bytes, bytearray):
        if kind is not bytearray and len(value) <= MAX_TEXT:
            return value
        data = value.encode("utf-8", "surrogatepass") if kind is str else bytes(value)
        return kind, len(value), zlib.crc32(data)
    if kind in _COLLECTIONS:
        try:
            return _copied(value, [MAX_NODES])
        except (_TooLarge, RuntimeError):  # RuntimeError: another thread is changing it.
            return kind, id(value), len(value)
    return kind, id(value), _content(value)


def is_same(before: Any, after: Any) -> bool:
    """Return whether two marks are those of equal values. A NaN equals itself, and 1 does not equal True."""
    if before is after:
        return True
    if type(before) is not type(after):
        return False
    if type(before) is tuple:
        return len(before) == len(after) and all(map(is_same, before, after))
    return bool(before == after or (before != before and after != after))


def uncompared(value: Any) -> str:
    """Return a sentence about what raydap cannot compare of a value, "" if it compares all of it."""
    kind = type(value)
    if kind in _COLLECTIONS:
        try:
            _copied(value, [MAX_NODES])
        except (_TooLarge, RuntimeError):
            what = f"{type_name(kind)} of {len(value)} items"
            return f"This {what} is too large to be compared: only its length counts; watch one of its items."
        return ""
    if kind in PRIMITIVES or kind in (str, bytes, bytearray) or _content(value) is not None:
        return ""
    if isinstance(getattr(kind, "nbytes", None), property) or hasattr(kind, "__array_interface__"):
        return "This array is too large to be compared: only another array in its place counts; watch a part of it."
    text = "has no content that can be compared: only another object in its place counts; watch its attributes."
    return f"An object of {type_name(kind)} {text}"


def text_of(value: Any) -> str:
    """Return a short text of a value for users, without running the user's code."""
    if value is MISSING:
        return "no value"
    kind = type(value)
    if _is_scalar(value):
        try:
            return value_text(value.item())
        except Exception:
            return f"<{type_name(kind)}>"
    return value_text(value)[:TEXT]


def _copied(value: Any, left: "list[int]") -> Any:
    """Return the marks of a collection's items, as nested tuples."""
    kind = type(value)
    if kind not in _COLLECTIONS:
        if kind in (str, bytes) or kind in PRIMITIVES:
            return mark_of(value)
        return kind, id(value), _content(value)
    left[0] -= len(value) + 1
    if left[0] < 0:
        raise _TooLarge
    if kind is dict:
        return kind, *[(_copied(key, left), _copied(each, left)) for key, each in value.items()]
    if kind in (set, frozenset):
        return kind, *sorted((_copied(each, left) for each in value), key=repr)
    return kind, *[_copied(each, left) for each in value]


def _is_scalar(value: Any) -> bool:
    """Return whether a value is an array of a library without dimensions, such as a loss."""
    kind = type(value)
    package = str(getattr(kind, "__module__", "")).partition(".")[0]
    if package not in ("numpy", "torch", "jax", "jaxlib", "cupy"):
        return False
    try:
        return value.shape == () and callable(value.item)
    except Exception:
        return False


def _content(value: Any) -> Any:
    """Return a mark of the content of an array of a library, None for any other value and for a large array."""
    package = str(getattr(type(value), "__module__", "")).partition(".")[0]
    try:
        if _is_scalar(value):
            return value.item()
        if package == "torch":
            # PyTorch counts the changes of a tensor's content; views of one tensor share the count.
            return value._version
        if package in ("jax", "jaxlib"):
            return 0  # jax never changes an array.
        if package == "numpy" and value.nbytes <= MAX_BYTES and not value.dtype.hasobject:
            return value.shape, zlib.crc32(value.tobytes())
    except Exception:
        return None
    return None
