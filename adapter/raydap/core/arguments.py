"""Arguments of requests, decoded into typed objects. An error names the wrong argument and uses JSON's terms."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from raydap.errors import Code, Problem, ProblemError

S = TypeVar("S", bound=msgspec.Struct)

_NAMES: dict[type[inspect.Type], tuple[str, str]] = {
    inspect.StrType: ("a string", "strings"),
    inspect.BoolType: ("true or false", "booleans"),
    inspect.IntType: ("a whole number", "whole numbers"),
    inspect.FloatType: ("a number", "numbers"),
    inspect.DictType: ("an object", "objects"),
    inspect.StructType: ("an object", "objects"),
}
"""The words for types of arguments in error messages: for one value, and for several."""

_LONGEST = 40
"""Characters of a value; error messages do not repeat longer values."""


def decode(kind: type[S], given: Mapping[str, object]) -> S:
    """Convert the arguments of a request to an object of this class.

    Raises ProblemError (BAD_ARGUMENT, UNKNOWN_ARGUMENT).
    """
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    for key in given:
        if key not in names:
            raise ProblemError(Problem(Code.UNKNOWN_ARGUMENT, f'Unknown argument "{key}"{_hint(key, names)}'))
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, _sentence(kind, given, str(error)), str(error))) from None
    except UnicodeEncodeError as error:
        # msgspec compares choices and names of fields as UTF-8, which cannot encode a lone surrogate.
        text = "The arguments contain half of a character (a lone surrogate) where it is not allowed."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text, str(error))) from None


def _sentence(kind: type[msgspec.Struct], given: Mapping[str, object], complaint: str) -> str:
    """Turn msgspec's "Expected `int`, got `str` - at `$.maxWorkers`" into a sentence about the argument."""
    what, _, where = complaint.partition(" - at ")
    name = where.strip("`").removeprefix("$").removeprefix(".")
    missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
    if missing is not None:
        name = f"{name}.{missing[1]}" if name else missing[1]
        return f'The argument "{name}" is missing.'
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL)
    if unknown is not None:
        return f'The argument "{name}" has an unknown field "{unknown[1]}".'
    wanted: inspect.Type = inspect.type_info(kind)
    value: Any = given
    for field, item in re.findall(r"(\w+)|\[(\d+|\.\.\.)\]", name):
        wanted, value = _inner(wanted, value, field, item)
    return f'The argument "{name or "arguments"}" must be {_describe(wanted)}{_instead(value)}.'


def _inner(wanted: inspect.Type, value: Any, field: str, item: str) -> tuple[inspect.Type, Any]:
    """Return the type and the value of the next part of the path; the value is UNSET if msgspec omits its key."""
    if isinstance(wanted, inspect.UnionType):
        wanted = next(each for each in wanted.types if not isinstance(each, inspect.NoneType))
    if isinstance(wanted, inspect.StructType):
        found = next(each for each in wanted.fields if each.encode_name == field)
        return found.type, value[field]
    if isinstance(wanted, inspect.DictType):
        return wanted.value_type, msgspec.UNSET
    assert isinstance(wanted, inspect.VarTupleType)
    return wanted.item_type, value[int(item)]


def _describe(wanted: inspect.Type) -> str:
    if isinstance(wanted, inspect.UnionType):
        # Skip None, which stands for a missing argument.
        return " or ".join(_describe(each) for each in wanted.types if not isinstance(each, inspect.NoneType))
    if isinstance(wanted, inspect.LiteralType):
        return " or ".join(map(json.dumps, wanted.values))
    if isinstance(wanted, inspect.VarTupleType):
        return f"an array of {_NAMES[type(wanted.item_type)][1]}"
    return _NAMES[type(wanted)][0]


def _instead(value: Any) -> str:
    text = json.dumps(value) if isinstance(value, str | int | float) else ""
    return f", not {text}" if 0 < len(text) <= _LONGEST else ""


def _hint(key: str, names: Sequence[str]) -> str:
    """Return the end of the error message: the closest known argument, or else all known arguments.

    An installed raydap comes without a manual, so the message itself lists them.
    """
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(key.casefold().replace("_", "").replace("-", ""), folded, 1)
    if near:
        return f': did you mean "{folded[near[0]]}"?'
    return f"; known arguments: {', '.join(names) or 'none'}."
