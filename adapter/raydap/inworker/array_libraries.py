"""Descriptions of arrays by their numbers, for each library; runs in the worker.

The numbers are computed on the array's own device. No library of arrays is imported here: a process that has an array
has imported the array's library already.
"""

import contextlib
import math
import sys
from collections.abc import Callable
from typing import Any

from .array_numbers import EMPTY, PART, Add, ArrayStatistics, Digest, add_numbers, look_at, numpy_numbers
from .jax_numbers import jax_number, of_jax, without_jax_modes
from .torch_numbers import of_torch, torch_number, torch_sample, without_torch_modes

VALUES = 100_000
"""Values of a pandas table that are hashed to compare it with another one. Some rows of a larger table are skipped."""

CELLS = 10_000
"""The same for pyarrow, where each value takes longer."""

OBJECTS = 1000
"""About how many elements of an array of objects are inspected."""

BINS = 12
"""The number of bins of a histogram, all of the same width."""

SAMPLE = 1 << 12
"""About how many elements a histogram counts: each nth one of a larger array. That takes 1 ms (measured)."""

LEAST = 100
"""The fewest finite elements of which there is a histogram."""


def library_of(kind: type) -> str:
    """Return the array's library as a key of LIBRARIES, or "" if the type is not that of an array."""
    names = {(str(getattr(each, "__module__", "")).partition(".")[0], each.__name__) for each in kind.__mro__}
    return next((LIBRARIES_OF[name] for name in names if name in LIBRARIES_OF), "")


MODES: "dict[str, Callable[[], contextlib.AbstractContextManager[None]]]"
MODES = {"torch": without_torch_modes, "jax": without_jax_modes}
"""For each library with modes, a context manager that keeps raydap's operations out of the user's modes."""


def leaving_modes(library: str) -> "contextlib.AbstractContextManager[None]":
    """Return a context in which operations on this library's arrays do not affect the user's program."""
    return MODES.get(library, contextlib.nullcontext)()


def shape_of(array: Any, library: str) -> "tuple[int, ...] | None":
    """Return the shape of an array, None if it has none."""
    with leaving_modes(library):
        shape: tuple[int, ...] | None = getattr(array, "shape", None)
        return shape


def of_numpy(array: Any, until: float) -> dict[str, Any]:
    """Describe a numpy array. `until` is a time of time.monotonic(), as in all of these functions."""
    found = {"shape": list(array.shape), "dtype": str(array.dtype), "device": "cpu"}
    if array.dtype.hasobject:
        return {**found, **of_cells(array.reshape(-1)[:: max(1, array.size // OBJECTS)].tolist(), array.size)}
    return {**found, **numpy_numbers([sys.modules["numpy"].asarray(array)], until)}


def of_cells(cells: list[Any], size: int) -> dict[str, Any]:
    """Describe an array without numbers by the texts of some of its cells. `size` is the number of all cells."""
    import hashlib

    cells = cells[: 2 * OBJECTS]
    digest = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    whole = len(cells) == size
    sampled = 1.0 if whole else len(cells) / size
    return {**EMPTY, "sampled": sampled, "hash": digest if whole else "", "places": digest}


def of_pandas(table: Any, until: float) -> dict[str, Any]:
    """Describe a pandas DataFrame or Series by the numbers of all columns together."""
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
    """Describe a pyarrow array, column or table by the numbers of all columns together."""
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
    """Describe a table without its numbers. `equal` is a hash of each `step`th row."""
    names = list(dict.fromkeys(map(str, kinds)))
    found = {"shape": list(shape), "dtype": ", ".join(names[:5]), "device": "cpu"}
    return {**found, "hash": equal if step == 1 else "", "places": equal}


def of_columns(
    columns: list[tuple[int, Any]], part: "Callable[[Any, int, int], tuple[Any, int]]", until: float
) -> dict[str, Any]:
    """Return the numbers of all columns together. A column comes with its length.

    `part` returns the values of a column from one row to another, or None if they are not numbers, and how many of them
    are missing. The values may contain the missing ones as NaN.
    """
    import numpy

    def add_of(column: Any) -> "Add":
        def add(start: int, end: int, digest: "Digest", numbers: "ArrayStatistics | None") -> None:
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


def numpy_sample(array: Any, count: int, until: float) -> list[Any]:
    """Return about `count` elements that are spread over a numpy array."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    found: list[Any] = flat[:: -(-array.size // count)].tolist()
    return found


def histogram(array: Any, until: float) -> "dict[str, Any] | None":
    """Return a histogram of some finite elements of a large numpy array or torch tensor: `low`, `high` and `counts`.

    Return None for any other array, for equal elements, and if they cannot be read by the time `until`.
    """
    try:
        values = list(filter(math.isfinite, SAMPLE_OF[library_of(type(array))](array, SAMPLE, until)))
        low, high = float(min(values)), float(max(values))
        counts = [0] * BINS
        for each in values:
            counts[min(int((each - low) / (high - low) * BINS), BINS - 1)] += 1
    except Exception:
        return None
    return {"low": low, "high": high, "counts": counts} if len(values) >= LEAST else None


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
"""The library of an array, by the package and the name of its class or of a base class."""

LIBRARIES = {"numpy": of_numpy, "torch": of_torch, "jax": of_jax, "pandas": of_pandas, "pyarrow": of_pyarrow}
"""For each library, the function that describes an array."""

NUMBER_OF = {"numpy": lambda array, until: array.item(), "torch": torch_number, "jax": jax_number}
"""For each library, the function that returns the value of an array without dimensions."""

SAMPLE_OF = {"numpy": numpy_sample, "torch": torch_sample}
"""For each library with histograms, the function that returns some elements."""
