"""The numbers of a torch tensor and its hashes; runs in the worker.

All computations run on the tensor's own device, in the stopped thread. The user's modes that are on in that thread do
not see them: a mode may count operations, or refuse them.
"""

import contextlib
import math
import operator
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from .array_numbers import (
    COLUMNS,
    PART,
    READ_S,
    ArrayStatistics,
    Digest,
    look_at,
    mixed,
    wait,
    without_numbers,
)

DEVICE_PART = 1 << 24
"""Bytes in a part on an accelerator, where each step costs as much for a large part as for a small one. It is a
multiple of PART, so that a tensor has the same hash there as on a CPU."""

Fetch = Callable[[Any], list[Any]]
"""A function that takes a small tensor and returns its elements."""


@contextlib.contextmanager
def without_torch_modes() -> Iterator[None]:
    """Disable the user's modes and the recording of gradients within the `with` block."""
    torch = sys.modules["torch"]
    private = sys.modules["torch._C"]
    # The order matters: a mode for functions would see `no_grad`, too.
    with private.DisableTorchFunction(), private._DisableTorchDispatch(), torch.no_grad():
        yield


def of_torch(tensor: Any, until: float) -> dict[str, Any]:
    """Return a tensor's shape, dtype and device, with its numbers and hashes or the reason why there are none.

    `until` is the time of time.monotonic() at which reading ends, here and below.
    """
    torch = sys.modules["torch"]
    with without_torch_modes():
        found: dict[str, Any] = {"shape": [*map(operator.index, tensor.shape)], "device": str(tensor.device)}
        found["dtype"] = str(tensor.dtype).removeprefix("torch.")
        try:
            values = in_this_process(tensor)
            found["device"] = str(values.device)
            return {**found, **torch_numbers(torch, values, until)}
        except Exception as error:
            return {**found, **without_numbers(str(error))}


def torch_number(tensor: Any, until: float) -> Any:
    """Return the number in a tensor without dimensions.

    Raises ValueError or TimeoutError if the tensor cannot be read.
    """
    torch = sys.modules["torch"]
    with without_torch_modes():
        values = in_this_process(tensor)
        check(torch, values)
        return torch_fetch(torch, values.device, until)(values.detach())


def torch_sample(tensor: Any, count: int, until: float) -> list[Any]:
    """Return about `count` elements that are spread over a contiguous tensor. Raises an exception for any other."""
    torch = sys.modules["torch"]
    with without_torch_modes():
        values = in_this_process(tensor)
        check(torch, values)
        values = values.detach().view(-1)
        return torch_fetch(torch, values.device, until)(values[:: -(-len(values) // count)])


def in_this_process(tensor: Any) -> Any:
    """Return this process's part of a distributed tensor; return any other tensor unchanged."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def torch_numbers(torch: Any, values: Any, until: float) -> dict[str, Any]:
    """Return the numbers and hashes of a tensor, like `look_at`. Raises ValueError or TimeoutError."""
    check(torch, values)
    values = values.detach()
    fetch = torch_fetch(torch, values.device, until)
    keys = torch_keys(torch, values.device)
    block = PART // values.element_size()

    def add(start: int, end: int, digest: "Digest", numbers: "ArrayStatistics | None") -> None:
        part = torch_part(torch, values, start, end)
        for number, each in enumerate(fetch(torch_hashes(torch, part, keys))):
            digest.add(start + number * block, each)
        if numbers is not None:
            add_torch_numbers(torch, part, numbers, fetch)

    part = (PART if values.device.type == "cpu" else DEVICE_PART) // values.element_size()
    return look_at([(values.numel(), add)], part, until)


def check(torch: Any, values: Any) -> None:
    """Raise ValueError for a tensor that has no readable elements in its memory."""
    classes = type(values).__mro__
    if any("__torch_dispatch__" in vars(each) for each in classes[: classes.index(torch.Tensor)]):
        # The class defines its operations, which could wait for other processes.
        raise ValueError(f"a {type(values).__name__}")
    for name, is_it in (("quantized", values.is_quantized), ("meta", values.is_meta)):
        if is_it:
            raise ValueError(name)
    if values.layout is not torch.strided:
        raise ValueError(str(values.layout).removeprefix("torch."))
    try:
        has = values.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):
        return  # The tensor is inside a transform such as torch.func.grad, which does this check itself.
    last = values.storage_offset() + sum((n - 1) * step for n, step in zip(values.shape, values.stride(), strict=True))
    # Libraries such as FSDP free the memory of a tensor while it is not in use. Reading it would crash.
    if values.numel() and has < (last + 1) * values.element_size():
        raise ValueError("its memory was freed")


def torch_fetch(torch: Any, device: Any, until: float) -> Fetch:
    """Wait until the device has finished its pending work, and return the function that reads small tensors there.

    After a kernel that hangs, the device would never finish a read. Raises TimeoutError if the wait takes too long, and
    ValueError while a graph is being captured.
    """
    module: Any = getattr(torch, device.type, None)
    if device.type == "cpu" or not hasattr(module, "current_stream"):
        return lambda values: values.tolist()
    if getattr(module, "is_current_stream_capturing", bool)():
        raise ValueError("a graph is being captured")
    stream = module.current_stream(device)
    wait(stream.record_event().query, until)

    def fetch(values: Any) -> list[Any]:
        wait(stream.record_event().query, time.monotonic() + READ_S)
        found: list[Any] = values.tolist()
        return found

    return fetch


def torch_part(torch: Any, values: Any, start: int, end: int) -> Any:
    """Return the elements from `start` until before `end` in a row, without a copy of the others."""
    if values.is_contiguous():
        return values.view(-1)[start:end].resolve_conj().resolve_neg()
    row = values[0].numel()
    first, last = start // row, end // row
    if first == last or (first + 1 == last and end == last * row and start > first * row):
        return torch_part(torch, values[first], start - first * row, end - first * row)
    # Take the whole rows, and the parts of the rows before and after them.
    begin = first + (start > first * row)
    pieces = [values[begin:last].reshape(-1).resolve_conj().resolve_neg()]
    if begin > first:
        pieces.insert(0, torch_part(torch, values[first], start - first * row, row))
    if end > last * row:
        pieces.append(torch_part(torch, values[last], 0, end - last * row))
    return torch.cat(pieces) if len(pieces) > 1 else pieces[0]


def torch_keys(torch: Any, device: Any) -> Any:
    """Return the factors for the words of a row, and for the rows in PART bytes."""
    columns, rows = (torch.arange(size, device=device) for size in (COLUMNS, PART // (4 * COLUMNS)))
    return mixed(columns), mixed(rows)


def torch_hashes(torch: Any, part: Any, keys: Any) -> Any:
    """Return one hash for each PART bytes of the part."""
    columns, row_keys = keys
    data = part.contiguous().view(torch.uint8)
    rest = -len(data) % (4 * COLUMNS)
    if rest or (data.storage_offset() | data.data_ptr()) % 4:
        data = torch.cat([data, data.new_zeros(rest)])
    rows = data.view(torch.int32).view(-1, COLUMNS)
    # Only a CPU multiplies integer matrices. Only an accelerator computes the other form without a copy of the words.
    sums = rows.to(torch.int64).mv(columns) if part.device.type == "cpu" else (rows * columns).sum(1)
    block = min(len(sums), len(row_keys))
    rest = -len(sums) % block
    sums = torch.cat([sums, sums.new_zeros(rest)]) if rest else sums
    return (sums.view(-1, block) * row_keys[:block]).sum(1)


def add_torch_numbers(torch: Any, part: Any, numbers: "ArrayStatistics", fetch: Fetch) -> None:
    """Add the numbers of a part to those so far."""
    part = torch_floats(torch, part)
    nan = inf = 0
    found = fetch(torch_moments(torch, part))
    if not all(map(math.isfinite, found)):
        nan, inf = fetch(torch.stack([torch.isnan(part).sum(), torch.isinf(part).sum()]))
        if nan or inf:
            part = part.masked_select(torch.isfinite(part))
            found = fetch(torch_moments(torch, part)) if len(part) else [0.0] * 4
    low, high, mean, variance = found
    numbers.add(len(part), nan, inf, low, high, mean, variance * len(part))


def torch_floats(torch: Any, part: Any) -> Any:
    """Return the elements of a part as floats of the type that suits its device.

    A CPU computes variances of wide floats faster; an accelerator should not write so many bytes.
    """
    if part.is_complex():
        part = torch.view_as_real(part).reshape(-1)
    is_cpu, has_wide = part.device.type == "cpu", part.device.type != "mps"
    if is_cpu or (has_wide and not part.is_floating_point() and part.element_size() >= 4):
        return part.to(torch.float64)
    return part.to(torch.float32) if part.element_size() < 4 or not part.is_floating_point() else part


def torch_moments(torch: Any, part: Any) -> Any:
    """Return the minimum, the maximum, the mean and the variance.

    Each operation reads all elements once, and writes nothing but its result.
    """
    variance, mean = torch.var_mean(part, correction=0)
    return torch.stack([*torch.aminmax(part), mean, variance])
