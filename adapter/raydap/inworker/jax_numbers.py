"""The numbers that describe an array of jax; runs in the worker."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from .array_numbers import EMPTY, READ_S, ArrayStatistics, Digest, numpy_numbers, wait, without_numbers


@contextlib.contextmanager
def without_jax_modes() -> Iterator[None]:
    """Disable jax's modes of the user's program for the computations in this context.

    Inside a function that jax traces, they would otherwise become a part of that function.
    """
    jax: Any = sys.modules["jax"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(jax.ensure_compile_time_eval())
        stack.enter_context(jax.transfer_guard("allow"))
        stack.enter_context(jax.numpy_dtype_promotion("standard"))
        stack.enter_context(jax.debug_nans(False))
        stack.enter_context(jax.disable_jit(False))
        yield


def of_jax(array: Any, until: float) -> dict[str, Any]:
    """Describe an array by its parts in this process, each read on its own device.

    Copies of a part on several devices count once.
    """
    found = {"shape": list(array.shape), "dtype": str(array.dtype), "device": devices_of(array)}
    try:
        with without_jax_modes():
            return {**found, **jax_numbers(array, until)}
    except Exception as error:
        return {**found, **without_numbers(str(error))}


def devices_of(array: Any) -> str:
    """Return the first devices of the array that belong to this process."""
    devices = sorted(str(each) for each in array.sharding.addressable_devices)
    return ",".join([*devices[:4], *(["..."] if len(devices) > 4 else [])])


def is_on_cpu(array: Any) -> bool:
    """Return whether all parts of the array in this process are on a CPU."""
    return all(device.platform == "cpu" for device in array.sharding.addressable_devices)


def jax_number(array: Any, until: float) -> Any:
    """Return the value of an array without dimensions. Raise ValueError or TimeoutError as check_jax does."""
    with without_jax_modes():
        check_jax(array, until)
        return array.item()


def check_jax(array: Any, until: float) -> None:
    """Wait until the array is computed. Raise ValueError if it was deleted, TimeoutError if its device is busy."""
    if array.is_deleted():
        raise ValueError("it was deleted")
    wait(array.is_ready, until)


def jax_numbers(array: Any, until: float) -> dict[str, Any]:
    """Return the numbers of the array's parts in this process. Raise as check_jax does."""
    jax: Any = sys.modules["jax"]
    is_key = jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key)
    if is_key:
        array = jax.random.key_data(array)
    check_jax(array, until)
    pieces = [each.data for each in {str(each.index): each for each in reversed(array.addressable_shards)}.values()]
    if is_on_cpu(array):
        numpy = sys.modules["numpy"]
        # asarray makes no copy here.
        found = numpy_numbers([numpy.asarray(each) for each in pieces], until)
    else:
        found = compiled_numbers(jax, pieces, until)
    return {**found, **EMPTY} if is_key else found


def compiled_numbers(jax: Any, pieces: list[Any], until: float) -> dict[str, Any]:
    """Return the numbers of these pieces, by a function that jax compiles.

    That function reads each piece twice, as a whole, and needs no additional memory.
    """
    numbers, digest, places = ArrayStatistics(), Digest(), Digest()
    compiled = jax.jit(jax_sums)
    seen = 0
    for number, piece in enumerate(pieces):
        if piece.size:
            moments, sums = compiled(piece)
            wait(sums.is_ready, time.monotonic() + READ_S)
            count, nan, *hashes = sums.tolist()
            parts = piece.size * (2 if jax.numpy.iscomplexobj(piece) else 1)
            numbers.add(count, nan, parts - count - nan, *moments.tolist())
            for each, value in enumerate(hashes):
                digest.add(2 * number + each, value)
        if not number:
            places.add(0, digest.total)
        seen += 1
        if time.monotonic() > until:
            break
    whole = seen == len(pieces)
    sampled = 1.0 if whole else seen / len(pieces)
    return {
        **numbers.as_json(),
        "sampled": sampled,
        "hash": digest.text() if whole else "",
        "places": places.text() if len(pieces) > 1 else "",
    }


def jax_sums(values: Any) -> tuple[Any, Any]:
    """Return the sums for one piece, in two arrays.

    The first has the least and the greatest number, the mean, and the sum of the squared distances from the mean. The
    second has the count of finite numbers, the count of NaN, and two hashes.
    """
    jax: Any = sys.modules["jax"]
    jnp = jax.numpy
    values = values.reshape(-1)
    if jnp.iscomplexobj(values):
        values = jnp.concatenate([values.real, values.imag])
    if values.dtype == bool:
        values = values.astype(jnp.uint8)
    words = jax.lax.bitcast_convert_type(values, f"uint{min(values.dtype.itemsize * 8, 32)}").reshape(-1)
    words = words.astype(jnp.uint32)
    places = jnp.arange(len(words), dtype=jnp.uint32)
    hashes = [mixed_words(words + mixed_words(places + jnp.uint32(seed))) for seed in (1, 1 << 31)]
    if values.dtype.itemsize < 4 or not jnp.issubdtype(values.dtype, jnp.floating):
        values = values.astype(jnp.float32)
    finite = jnp.isfinite(values)
    count = finite.sum(dtype=jnp.uint32)
    mean = jnp.where(finite, values, 0).sum() / jnp.maximum(count, 1)
    squares = jnp.where(finite, (values - mean) ** 2, 0).sum()
    low = jnp.where(finite, values, jnp.inf).min()
    high = jnp.where(finite, values, -jnp.inf).max()
    counts = [count, jnp.isnan(values).sum(dtype=jnp.uint32)]
    return jnp.stack([low, high, mean, squares]), jnp.stack([*counts, *[each.sum(dtype=jnp.uint32) for each in hashes]])


def mixed_words(words: Any) -> Any:
    """Return words without a pattern (the end of MurmurHash3)."""
    for factor, shift in ((0x85EBCA6B, 13), (0xC2B2AE35, 16)):
        words = (words ^ (words >> 16)) * words.dtype.type(factor)
        words = words ^ (words >> shift)
    return words
