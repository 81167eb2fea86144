"""What is said of the arrays of each library; runs in the worker.

The numbers are found on the array's own device. None of the libraries is imported: who has an array has imported its
library.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raydap.inworker.array_numbers import EMPTY, Numbers, add_numbers, numpy_numbers
    from raydap.inworker.jax_numbers import jax_number, of_jax, without_jax_modes
    from raydap.inworker.torch_numbers import of_torch, torch_number, without_torch_modes

ROWS = 100_000
"""Rows of a table of which each is looked at, to see whether two are equal; of more than that only some are."""

CELLS = 1000
"""Values of a column of texts that are looked at."""


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
        return {**found, **of_cells(array.reshape(-1)[:: max(1, array.size // CELLS)].tolist(), array.size)}
    return {**found, **numpy_numbers([sys.modules["numpy"].asarray(array)], until)}


def of_cells(cells: list[Any], size: int) -> dict[str, Any]:
    """By the texts of some cells."""
    import hashlib

    cells = cells[: 2 * CELLS]
    digest = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    whole = len(cells) == size
    sampled = 1.0 if whole else len(cells) / size
    return {**EMPTY, "sampled": sampled, "hash": digest if whole else "", "places": digest}


def of_pandas(table: Any, until: float) -> dict[str, Any]:
    """The numbers of all columns together."""
    pandas: Any = sys.modules["pandas"]
    columns = [table.iloc[:, each] for each in range(table.shape[1])] if table.ndim == 2 else [table]
    names = list(dict.fromkeys(str(column.dtype) for column in columns))
    step = -(-len(table) // ROWS) or 1
    rows = pandas.util.hash_pandas_object(table.iloc[::step], index=True).to_numpy()
    equal = numpy_numbers([rows], float("inf"))["hash"]
    return {
        "shape": list(table.shape),
        "dtype": ", ".join(names[:5]),
        "device": "cpu",
        **of_columns([column.to_numpy() for column in columns], sum(int(column.isna().sum()) for column in columns)),
        "sampled": 1.0 if step == 1 else len(rows) / len(table),
        "hash": equal if step == 1 else "",
        "places": equal,
    }


def of_columns(columns: list[Any], missing: int) -> dict[str, Any]:
    """`missing` counts those without a value, which the columns may have as NaN."""
    import numpy

    numbers = Numbers()
    for column in columns:
        if column.dtype.kind in "fciub":
            add_numbers(numpy, column, numbers)
    numbers.nan = max(missing, numbers.nan)
    return numbers.as_json()


def of_pyarrow(table: Any, until: float) -> dict[str, Any]:
    """An array, a column or a table."""
    import hashlib

    columns = list(getattr(table, "columns", [table]))
    names = list(dict.fromkeys(str(column.type) for column in columns))
    step = -(-len(table) // CELLS) or 1
    cells = [table.slice(start, 1).to_pylist() for start in range(0, len(table), step)]
    equal = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    shape = list(getattr(table, "shape", (len(table),)))
    arrow: Any = sys.modules["pyarrow"].types
    known = [each for each in columns if arrow.is_integer(each.type) or arrow.is_floating(each.type)]
    arrays = [each.to_numpy(**({"zero_copy_only": False} if not hasattr(each, "chunks") else {})) for each in known]
    return {
        "shape": shape,
        "dtype": ", ".join(names[:5]),
        "device": "cpu",
        **of_columns(arrays, sum(each.null_count for each in columns)),
        "sampled": 1.0 if step == 1 else len(cells) / len(table),
        "hash": equal if step == 1 else "",
        "places": equal,
    }


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
