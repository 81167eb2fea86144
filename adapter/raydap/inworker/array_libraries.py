"""What is said of the arrays of each library; runs in the worker.

The numbers are found on the array's own device. None of the libraries is imported: who has an array has imported its
library.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from .array_numbers import EMPTY, PART, Add, Digest, Numbers, add_numbers, look_at, numpy_numbers
from .jax_numbers import jax_number, of_jax, without_jax_modes
from .torch_numbers import of_torch, torch_number, without_torch_modes

VALUES = 100_000
"""Values of a table of pandas by which one sees whether two are equal. Of a larger table only some rows count."""

CELLS = 10_000
"""The same for pyarrow, which takes longer for each."""

OBJECTS = 1000
"""Values of an array of objects that are looked at."""


def library_of(kind: type) -> str:
    """The name under LIBRARIES of the array's library, "" if it is no array."""
    names = {(str(getattr(each, "__module__", "")).partition(".")[0], each.__name__) for each in kind.__mro__}
    return next((LIBRARIES_OF[name] for name in names if name in LIBRARIES_OF), "")


MODES: "dict[str, Callable[[], contextlib.AbstractContextManager[None]]]"
MODES = {"torch": without_torch_modes, "jax": without_jax_modes}


def leaving_modes(library: str) -> "contextlib.AbstractContextManager[None]":
    """In it, what is done with arrays of this library is no part of the user's program."""
    return MODES.get(library, contextlib.nullcontext)()


def shape_of(array: Any, library: str) -> "tuple[int, ...] | None":
    with leaving_modes(library):
        shape: tuple[int, ...] | None = getattr(array, "shape", None)
        return shape


def of_numpy(array: Any, until: float) -> dict[str, Any]:
    found = {"shape": list(array.shape), "dtype": str(array.dtype), "device": "cpu"}
    if array.dtype.hasobject:
        return {**found, **of_cells(array.reshape(-1)[:: max(1, array.size // OBJECTS)].tolist(), array.size)}
    return {**found, **numpy_numbers([sys.modules["numpy"].asarray(array)], until)}


def of_cells(cells: list[Any], size: int) -> dict[str, Any]:
    """By the texts of some cells."""
    import hashlib

    cells = cells[: 2 * OBJECTS]
    digest = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    whole = len(cells) == size
    sampled = 1.0 if whole else len(cells) / size
    return {**EMPTY, "sampled": sampled, "hash": digest if whole else "", "places": digest}


def of_pandas(table: Any, until: float) -> dict[str, Any]:
    """The numbers of all columns together."""
    pandas: Any = sys.modules["pandas"]
    columns = [table.iloc[:, each] for each in range(table.shape[1])] if table.ndim == 2 else [table]
    step = -(-table.size // VALUES) or 1
    rows = pandas.util.hash_pandas_object(table.iloc[::step], index=True).to_numpy()
    equal = numpy_numbers([rows], float("inf"))["hash"]

    def part(column: Any, start: int, end: int) -> tuple[Any, int]:
        values = column.iloc[start:end]
        return values.to_numpy(), int(values.isna().sum())

    found = of_columns([(len(table), column) for column in columns], part, until)
    return {**described_table(table.shape, [column.dtype for column in columns], equal, step), **found}


def of_pyarrow(table: Any, until: float) -> dict[str, Any]:
    """An array, a column or a table."""
    import hashlib

    columns = list(getattr(table, "columns", [table]))
    step = -(-len(table) * len(columns) // CELLS) or 1
    cells = [table.slice(start, 1).to_pylist() for start in range(0, len(table), step)]
    equal = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    arrow: Any = sys.modules["pyarrow"].types

    def part(column: Any, start: int, end: int) -> tuple[Any, int]:
        values = column.slice(start, end - start)
        if not arrow.is_integer(column.type) and not arrow.is_floating(column.type):
            return None, values.null_count
        how = {} if hasattr(values, "chunks") else {"zero_copy_only": False}
        return values.to_numpy(**how), values.null_count

    found = of_columns([(len(table), column) for column in columns], part, until)
    shape = getattr(table, "shape", (len(table),))
    return {**described_table(shape, [column.type for column in columns], equal, step), **found}


def described_table(shape: Any, kinds: list[Any], equal: str, step: int) -> dict[str, Any]:
    """With the hash of each `step`th row."""
    names = list(dict.fromkeys(map(str, kinds)))
    found = {"shape": list(shape), "dtype": ", ".join(names[:5]), "device": "cpu"}
    return {**found, "hash": equal if step == 1 else "", "places": equal}


def of_columns(
    columns: list[tuple[int, Any]], part: "Callable[[Any, int, int], tuple[Any, int]]", until: float
) -> dict[str, Any]:
    """`part` gives the values of a column from one row to another, None for what are no numbers, and how many are
    missing, which the values may have as NaN."""
    import numpy

    def add_of(column: Any) -> "Add":
        def add(start: int, end: int, digest: "Digest", numbers: "Numbers | None") -> None:
            if numbers is None:
                return
            values, missing = part(column, start, end)
            nan = numbers.nan + missing
            if values is not None:
                add_numbers(numpy, values, numbers)
            numbers.nan = max(nan, numbers.nan)

        return add

    found = look_at([(size, add_of(column)) for size, column in columns], PART // 8, until)
    return {name: found[name] for name in (*EMPTY, "sampled")}


LIBRARIES_OF = {
    ("numpy", "ndarray"): "numpy",
    ("torch", "Tensor"): "torch",
    ("jaxlib", "ArrayImpl"): "jax",
    ("jax", "ArrayImpl"): "jax",
    ("jaxlib", "Array"): "jax",
    ("jax", "PRNGKeyArray"): "jax",
    ("pandas", "DataFrame"): "pandas",
    ("pandas", "Series"): "pandas",
    ("pyarrow", "Array"): "pyarrow",
    ("pyarrow", "ChunkedArray"): "pyarrow",
    ("pyarrow", "RecordBatch"): "pyarrow",
    ("pyarrow", "Table"): "pyarrow",
}
"""By the package and the name of a class, which may be a base class."""

LIBRARIES = {"numpy": of_numpy, "torch": of_torch, "jax": of_jax, "pandas": of_pandas, "pyarrow": of_pyarrow}

NUMBER_OF = {"numpy": lambda array, until: array.item(), "torch": torch_number, "jax": jax_number}
"""What an array without dimensions is."""
