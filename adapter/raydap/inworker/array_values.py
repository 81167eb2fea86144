"""Large arrays of numpy, torch and jax, shown by their numbers and by ranges of rows; runs in the worker.

pydevd shows an array by its `repr`, which shows little of a large one, and lists all attributes or rows at once. It
calls one function for the text of a value and one method for its parts. Both are overridden, in pydevd's module and on
its object. All other values are left to pydevd, and so are arrays that cannot be read.
"""

import math
import time
from collections.abc import Iterator
from typing import Any

from .array_libraries import LIBRARIES, leaving_modes, library_of, shape_of
from .array_text import array_text
from .jax_numbers import devices_of, is_on_cpu
from .replaced_functions import install

REPR_SIZE = 1000
"""Elements up to which the `repr` of an array contains all of them. numpy and torch use this limit by default."""

ROWS = 100
"""Rows, or ranges of rows, that are listed at once."""

LISTING_S = 0.1
"""Seconds for the numbers of all arrays in a list. Arrays after that are shown without numbers."""

ARRAY_S = 0.03
"""Seconds for the numbers of one array in a list."""

GAP_S = 0.05
"""Seconds without an array after which the next one belongs to another list."""

NUMBERS_S = 1.0
"""Seconds for the numbers of an array whose parts are listed."""

_CONTEXTS = (None, "variables", "hover")
"""The contexts in which pydevd needs the text of a value for a list. In other contexts it needs the `repr`."""

Part = tuple[str, Any, "str | None"]
"""The name, the value, and the text that evaluates to it when appended to the array's own expression."""


class Rows:
    """A range of an array's rows, from `first` until before `end`."""

    def __init__(self, array: Any, first: int, end: int) -> None:
        self.array = array
        self.first = first
        self.end = end


class ArrayValues:
    """The overrides of pydevd's functions for the texts and the parts of values."""

    def __init__(self) -> None:
        self._libraries: dict[Any, str] = {}
        self._until = self._last = 0.0

    def override(self) -> None:
        """Replace pydevd's functions with the methods of this object."""
        install("_pydevd_bundle.pydevd_xml:_str_from_providers", self._text)
        install("_pydevd_bundle.pydevd_xml:_TYPE_RESOLVE_HANDLER._get_type", self._get_type)

    def get_contents_debug_adapter_protocol(self, value: Any, fmt: Any = None) -> list[Part]:
        """Return the parts of a large array or of a range of its rows, as a resolver of pydevd does."""
        array = value.array if type(value) is Rows else value
        with leaving_modes(library_of(type(array))):
            if type(value) is Rows:
                return list(rows(array, value.first, value.end))
            return [*attributes(value), *numbers_and_rows(value)]

    def _get_type(self, o: Any, type_object: Any, type_name: str) -> tuple[Any, str, Any]:
        """Return the class of a value, its name, and its resolver, in place of pydevd's method."""
        from _pydevd_bundle import pydevd_xml

        if type_object is Rows:
            return type_object, "", self
        if self._is_large(o, type_object):
            return type_object, type_name, self
        handler = pydevd_xml._TYPE_RESOLVE_HANDLER
        found: tuple[Any, str, Any] = type(handler)._get_type(handler, o, type_object, type_name)
        return found

    def _text(self, o: Any, type_object: Any, type_name: str, context: "str | None" = None) -> Any:
        """Return the text of a value, or None for its `repr`, in place of pydevd's function."""
        if type_object is Rows:
            return str(o.end - o.first) + " rows"
        if context in _CONTEXTS and self._is_large(o, type_object):
            try:
                return array_text(self._summary(o, type_object))
            except Exception:
                return None  # The library raises for it, as torch does for some layouts.
        from _pydevd_bundle import pydevd_xml

        return pydevd_xml._TYPE_RESOLVE_HANDLER.str_from_providers(o, type_object, type_name, context)

    def _is_large(self, value: Any, kind: Any) -> bool:
        """Return whether a value is a large array. Raise nothing, because it may be any value."""
        try:
            library = self._libraries.get(kind)
            if library is None:
                library = self._libraries[kind] = library_of(kind)
            return library in ("numpy", "torch", "jax") and math.prod(shape_of(value, library) or ()) > REPR_SIZE
        except Exception:
            return False

    def _summary(self, value: Any, kind: Any) -> dict[str, Any]:
        """Return the description of an array, without its numbers if the time for the list is over.

        On an accelerator, jax compiles for each shape, which takes too long for a list.
        """
        now = time.monotonic()
        if now > self._last + GAP_S:
            self._until = now + LISTING_S
        library = self._libraries[kind]
        try:
            if now >= self._until or (library == "jax" and not is_on_cpu(value)):
                with leaving_modes(library):
                    return {"shape": list(value.shape), "dtype": dtype_name(value), "device": device_of(value)}
            return LIBRARIES[library](value, min(self._until, now + ARRAY_S))
        finally:
            self._last = time.monotonic()


def numbers_and_rows(value: Any) -> Iterator[Part]:
    """Yield the numbers of an array, and its rows.

    If an array has no numbers, yield no rows: formatting them would wait for the same device.
    """
    found = LIBRARIES[library_of(type(value))](value, time.monotonic() + NUMBERS_S)
    if "reason" in found:
        yield "no numbers", found["reason"], None
        return
    for name in ("min", "max", "mean", "std", "nan", "inf"):
        if found[name] is not None:
            yield name, found[name], None
    if found["sampled"] < 1:
        yield "share of the elements that were read", found["sampled"], None
    yield from own_rows(value)


def attributes(value: Any) -> Iterator[Part]:
    """Yield the attributes that users look for, but none that torch computes or warns about."""
    for name in ("shape", "dtype", "device", "requires_grad", "grad_fn", "sharding"):
        try:
            found = getattr(value, name)
        except Exception:
            continue  # It does not exist, or the library raises, as jax does for deleted arrays.
        yield name, found, "." + name
    if getattr(value, "is_leaf", False):
        yield "grad", value.grad, ".grad"


def own_rows(value: Any) -> Iterator[Part]:
    """Yield the rows of an array; if it is distributed, only the rows in this process.

    To read the other rows, all processes of the array would have to work together.
    """
    if hasattr(value, "to_local"):
        yield "the part in this process", value.to_local(), ".to_local()"
    elif not getattr(value, "is_fully_addressable", True):
        for number, shard in enumerate(value.addressable_shards):
            yield "shard " + str(shard.index), shard.data, ".addressable_shards[" + str(number) + "].data"
    else:
        yield from rows(value, 0, len(value))


def rows(array: Any, first: int, end: int) -> Iterator[Part]:
    """Yield the rows from `first` until before `end`, or ranges of them if there are many."""
    step = 1
    while (end - first) > step * ROWS:
        step *= ROWS
    for start in range(first, end, step):
        last = min(start + step, end)
        # Names count from the array's first row, expressions from the first row of the range.
        if step == 1:
            yield f"[{start}]", array[start], f"[{start - first}]"
        else:
            yield f"[{start}:{last}]", Rows(array, start, last), f"[{start - first}:{last - first}]"


def dtype_name(value: Any) -> str:
    """Return the array's dtype without `torch.`."""
    return str(value.dtype).replace("torch.", "")


def device_of(value: Any) -> str:
    """Return the device of an array, or the devices of an array of jax.

    Arrays of numpy before 2.0 have no attribute for it; they are on the CPU.
    """
    return devices_of(value) if hasattr(value, "sharding") else str(getattr(value, "device", "cpu"))
