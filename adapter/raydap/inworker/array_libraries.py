"""What is said of the arrays of each library; runs in the worker.

The numbers are found on the array's own device. None of the libraries is imported: who has an array has imported its
library.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raydap.inworker.array_numbers import FACTOR, Digest, Numbers, add_numbers, look_at, numpy_numbers

ROWS = 100_000
"""Rows of a table of which each is looked at, to see whether two are equal; of more than that only some are."""

CELLS = 1000
"""Values of a column of texts that are looked at."""

TORCH_PART = 1 << 22
"""Elements in a part on an accelerator, for which each step costs as much as for a small one."""


def library_of(kind: type) -> str:
    """The name under LIBRARIES of the array's library, "" if it is no array."""
    names = {(str(getattr(each, "__module__", "")).partition(".")[0], each.__name__) for each in kind.__mro__}
    return next((LIBRARIES_OF[name] for name in names if name in LIBRARIES_OF), "")


def of_numpy(array: Any, until: float) -> dict[str, Any]:
    found = {"shape": list(array.shape), "dtype": str(array.dtype), "device": "cpu"}
    if array.dtype.hasobject:
        return {**found, **of_cells(array.reshape(-1)[:: max(1, array.size // CELLS)].tolist(), array.size)}
    if array.dtype.kind == "V" and array.dtype.names is None:
        array = array.astype("f4")  # bfloat16 and its like, which other libraries bring.
    return {**found, **numpy_numbers(array, until)}


def of_cells(cells: list[Any], size: int) -> dict[str, Any]:
    """By the texts of some cells."""
    import hashlib

    cells = cells[: 2 * CELLS]
    digest = hashlib.blake2b(repr(cells).encode(errors="replace"), digest_size=8).hexdigest()
    whole = len(cells) == size
    empty = {"min": None, "max": None, "mean": None, "std": None, "nan": 0, "inf": 0}
    sampled = 1.0 if whole else len(cells) / size
    return {**empty, "sampled": sampled, "hash": digest if whole else "", "places": digest}


def of_torch(tensor: Any, until: float) -> dict[str, Any]:
    torch = sys.modules["torch"]
    with torch.no_grad():
        # A part of a tensor that lies on several devices is on this one.
        local = getattr(tensor, "to_local", None)
        values = (tensor if local is None else local()).detach()
        found = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
        found["device"] = str(values.device)
        if values.layout is not torch.strided or values.is_quantized or values.device.type == "meta":
            return {**found, **without_numbers()}

        def add(start: int, end: int, digest: "Digest", numbers: "Numbers | None") -> None:
            part = torch_part(values, start, end)
            add_torch_bits(torch, part, start, digest)
            if numbers is not None:
                add_torch_numbers(torch, part, numbers)

        part = 1 << 20 if values.device.type == "cpu" else TORCH_PART
        return {**found, **look_at(values.numel(), part, add, until)}


def without_numbers() -> dict[str, Any]:
    empty = {"min": None, "max": None, "mean": None, "std": None, "nan": 0, "inf": 0}
    return {**empty, "sampled": 0.0, "hash": "", "places": ""}


def torch_part(values: Any, start: int, end: int) -> Any:
    """These elements in a row, without a copy of the others."""
    if values.is_contiguous():
        return values.view(-1)[start:end]
    row = values[0].numel()
    first, last = start // row, (end - 1) // row
    if first == last and row > end - start:
        return torch_part(values[first], start - first * row, end - first * row)
    return values[first : last + 1].reshape(-1)[start - first * row : end - first * row]


def add_torch_bits(torch: Any, part: Any, start: int, digest: "Digest") -> None:
    if part.is_complex():
        part = torch.view_as_real(part.contiguous()).reshape(-1)
        start *= 2
    if part.dtype is not torch.bool:
        whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        part = part.contiguous().view(whole[part.element_size()])
    # As signed numbers, because torch has few operations for the others.
    bits = part.to(torch.int64) * (FACTOR - (1 << 64))
    bits ^= bits >> 29
    places = torch.arange(len(bits), dtype=torch.int64, device=bits.device)
    plain, placed = torch.stack([bits.sum(), (bits * places).sum()]).tolist()
    digest.add(start, plain, placed)


def add_torch_numbers(torch: Any, part: Any, numbers: "Numbers") -> None:
    if part.is_complex():
        part = torch.view_as_real(part.contiguous()).reshape(-1)
    wide = torch.float32 if part.device.type == "mps" else torch.float64
    if part.dtype is not torch.float32 and part.is_floating_point() and part.element_size() < 4:
        part = part.to(torch.float32)
    elif not part.is_floating_point():
        part = part.to(wide)
    finite = torch.isfinite(part)
    count = finite.sum()
    mean = torch.where(finite, part, 0).sum(dtype=wide) / count.clamp(min=1)
    apart = torch.where(finite, part - mean.to(part.dtype), 0)
    # The mean was rounded: its error is taken out again.
    error = apart.sum(dtype=wide) / count.clamp(min=1)
    squares = apart.square().sum(dtype=wide) - error * error * count
    low = torch.where(finite, part, float("inf")).amin()
    high = torch.where(finite, part, float("-inf")).amax()
    known = (count, torch.isnan(part).sum(), low, high, mean, squares)
    counted, nan, low, high, mean, squares = torch.stack([each.to(wide) for each in known]).tolist()
    numbers.add(int(counted), int(nan), part.numel() - int(counted) - int(nan), low, high, mean, squares)


def of_jax(array: Any, until: float) -> dict[str, Any]:
    """Compiled by jax, which reads the array once and needs no memory beside it."""
    jax: Any = sys.modules["jax"]
    local = array if array.is_fully_addressable else array.addressable_shards[0].data
    devices = sorted(str(each) for each in array.sharding.addressable_devices)
    found = {"shape": list(array.shape), "dtype": str(array.dtype), "device": ",".join(devices)}
    if not jax.numpy.issubdtype(array.dtype, jax.numpy.number) and array.dtype != bool:
        return {**found, **without_numbers()}
    if not local.size:
        return {**found, **look_at(0, 1, lambda *_: None, until)}
    values, digest = jax.jit(jax_numbers)(local)
    count, nan, low, high, mean, squares = (float(each) for each in values)
    numbers = Numbers()
    parts = local.size * (2 if jax.numpy.iscomplexobj(local) else 1)
    numbers.add(int(count), int(nan), parts - int(count) - int(nan), low, high, mean, squares)
    hashed = "".join(f"{int(each):08x}" for each in digest)
    return {**found, **numbers.as_json(), "sampled": 1.0, "hash": hashed, "places": ""}


def jax_numbers(values: Any) -> tuple[list[Any], list[Any]]:
    jax: Any = sys.modules["jax"]
    jnp = jax.numpy
    values = values.reshape(-1)
    if jnp.iscomplexobj(values):
        values = jnp.concatenate([values.real, values.imag])
    if values.dtype == bool:
        values = values.astype(jnp.uint8)
    bits = jax.lax.bitcast_convert_type(values, f"uint{min(values.dtype.itemsize * 8, 32)}")
    bits = bits.reshape(values.size, -1).astype(jnp.uint32) * jnp.uint32(0x9E3779B1)
    bits = bits ^ (bits >> 13)
    places = jnp.arange(bits.shape[0], dtype=jnp.uint32)[:, None] + jnp.arange(bits.shape[1], dtype=jnp.uint32) * 7
    digest = [bits.sum(dtype=jnp.uint32), (bits * (2 * places + 1)).sum(dtype=jnp.uint32)]
    if values.dtype.itemsize < 4 or not jnp.issubdtype(values.dtype, jnp.floating):
        values = values.astype(jnp.float32)
    finite = jnp.isfinite(values)
    count = finite.sum()
    some = jnp.maximum(count, 1)
    mean = jnp.where(finite, values, 0).sum() / some
    squares = jnp.where(finite, (values - mean) ** 2, 0).sum()
    low = jnp.where(finite, values, jnp.inf).min()
    high = jnp.where(finite, values, -jnp.inf).max()
    return [count, jnp.isnan(values).sum(), low, high, mean, squares], digest


def of_pandas(table: Any, until: float) -> dict[str, Any]:
    """The numbers of all columns together."""
    pandas: Any = sys.modules["pandas"]
    columns = [table.iloc[:, each] for each in range(table.shape[1])] if table.ndim == 2 else [table]
    names = list(dict.fromkeys(str(column.dtype) for column in columns))
    step = -(-len(table) // ROWS) or 1
    rows = pandas.util.hash_pandas_object(table.iloc[::step], index=True).to_numpy()
    equal = numpy_numbers(rows, float("inf"))["hash"]
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
    ("pandas", "DataFrame"): "pandas",
    ("pandas", "Series"): "pandas",
    ("pyarrow", "Array"): "pyarrow",
    ("pyarrow", "ChunkedArray"): "pyarrow",
    ("pyarrow", "RecordBatch"): "pyarrow",
    ("pyarrow", "Table"): "pyarrow",
}
"""By the package and the name of a class, which may be a base class."""

LIBRARIES = {"numpy": of_numpy, "torch": of_torch, "jax": of_jax, "pandas": of_pandas, "pyarrow": of_pyarrow}
