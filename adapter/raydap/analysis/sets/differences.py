"""The differences between two values that are written as Python expressions."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from raydap.presentation.short_text import shortened
from raydap.protocol.python_source import parse_expression

MAX_NAMED = 3
"""The number of differences that a text names."""

_LONGEST = 40
"""The longest text of a value in a difference, in characters."""


class Difference(NamedTuple):
    """A difference between two values."""

    place: str
    """Where it is, such as `['lr']` or `.rate`; "" for the whole value."""
    one: str
    """The part in the first value; "" if only the other value has it."""
    other: str
    """The part in the other value; "" if only the first value has it."""


def difference(one: str, other: str) -> str:
    """Return the differences as text, such as `['lr'] is 0.1 instead of 0.2`; "" if the texts do not show them.

    Both texts may be cut.
    """
    if one == other:
        return ""
    try:
        found = list(_of_nodes(parse_expression(one).body, parse_expression(other).body, ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = []
    found = found or [_of_texts(one, other)]
    more = f", and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return ", ".join(map(_written, found[:MAX_NAMED])) + more


def _written(each: Difference) -> str:
    place = f"{each.place} " if each.place else ""
    if not each.other:
        return f"{place}is there" if place else ""
    if not each.one:
        return f"{place}is missing" if place else ""
    return f"{place}is {shortened(each.one, _LONGEST)} instead of {shortened(each.other, _LONGEST)}"


def _of_nodes(one: ast.expr, other: ast.expr, place: str) -> Iterator[Difference]:
    parts, others = _parts(one), _parts(other)
    if parts is None or others is None or type(one) is not type(other) or _name(one) != _name(other):
        texts = ast.unparse(one), ast.unparse(other)
        if texts[0] != texts[1]:
            yield Difference(place, *texts)
        return
    for key in dict.fromkeys([*parts, *others]):
        inner = place + key
        if key not in others:
            yield Difference(inner, ast.unparse(parts[key]), "")
        elif key not in parts:
            yield Difference(inner, "", ast.unparse(others[key]))
        else:
            yield from _of_nodes(parts[key], others[key], inner)


def _parts(node: ast.expr) -> dict[str, ast.expr] | None:
    """Return the parts of a dict, a list, a tuple, or an object that is written like a call; None for anything else."""
    match node:
        case ast.Dict(keys, values):
            return {f"[{ast.unparse(key)}]": value for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.List(items) | ast.Tuple(items):
            return {f"[{place}]": item for place, item in enumerate(items)}
        case ast.Call(_, [], keywords):
            return {f".{keyword.arg}": keyword.value for keyword in keywords}
    return None


def _name(node: ast.expr) -> Any:
    """Return the name of an object's class; None if the expression is not written like a call."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else None


def _of_texts(one: str, other: str) -> Difference:
    """Return the difference of two texts, from shortly before their first different character."""
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    start = max(0, same - 10)
    dots = "…" if start else ""
    return Difference("", dots + one[start:], dots + other[start:])
