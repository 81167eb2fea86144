"""Values as short texts, written without running the user's code; runs in the worker.

The `repr` of a class of the user's, or of a library's, may raise, wait for a lock, or never return. So values are
written out only if their type is exactly one of Python's own, and only a few items deep. The text of any other value is
its type.
"""

import itertools
import types
from typing import Any

TEXT = 200
"""The longest text of a value, in characters."""

_ITEMS = 6
"""Items of a collection that are written out."""
_DEPTH = 3
"""Levels of nested collections that are written out."""

_BITS = 512
"""The size in bits of the largest integer that is written out: a larger one takes long, or raises."""

_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}


def value_text(value: Any) -> str:
    """Return the text of a value, cut to TEXT characters."""
    text = _written(value, _DEPTH)
    return text if len(text) <= TEXT else text[: TEXT - 3] + "..."


def type_name(kind: type) -> str:
    """Return a class's own name, without calling a metaclass of the user's that defines another one."""
    names: Any = type.__dict__
    return str(names["__name__"].__get__(kind))


def _written(value: Any, depth: int) -> str:
    kind = type(value)
    if value is None or kind in (bool, float, complex) or (kind is int and value.bit_length() <= _BITS):
        return repr(value)
    if kind in (str, bytes, bytearray):
        # Only the beginning can be shown (value_text).
        return repr(value[:TEXT])
    if kind in _BRACKETS:
        return _collection(value, depth)
    if kind in (types.FunctionType, types.BuiltinFunctionType):
        return "<function " + str(value.__qualname__) + ">"
    if kind is type:
        return "<class " + type_name(value) + ">"
    return "<" + type_name(kind) + ">"


def _collection(value: Any, depth: int) -> str:
    kind = type(value)
    first, last = _BRACKETS[kind]
    if not value:
        return repr(value)
    if depth == 0:
        return first + "..." + last
    try:
        items = list(itertools.islice(value.items() if kind is dict else value, _ITEMS + 1))
    except RuntimeError:
        return first + "..." + last  # Another thread is changing it.
    texts = [
        _written(each[0], depth - 1) + ": " + _written(each[1], depth - 1)
        if kind is dict
        else _written(each, depth - 1)
        for each in items[:_ITEMS]
    ]
    if len(items) > _ITEMS:
        texts.append("...")
    return first + ", ".join(texts) + ("," if kind is tuple and len(value) == 1 else "") + last
