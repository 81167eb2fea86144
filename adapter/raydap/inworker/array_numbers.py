"""What is said of the numbers of an array; runs in the worker.

An array is looked at in parts, so that little memory is needed beside it. If the time is over before the last part, the
numbers are those of the parts so far, which lie all over the array. None of the libraries is imported: who has an array
has imported its library.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

PART = 1 << 20
"""Elements in a part. One of them takes 10 to 20 ms on a CPU (measured)."""

PLACES = 64
PLACE = 1024
"""How many places of an array that is too large, and how many elements of each, tell whether two are equal."""

MASK = (1 << 64) - 1
FACTOR = 0x9E3779B97F4A7C15
"""An odd number without a pattern: 2 to the power of 64, divided by the golden ratio."""


class Numbers:
    """The finite numbers among those so far, and how many others there were. `low` and `high` are None without any."""

    def __init__(self) -> None:
        self.count = self.nan = self.inf = 0
        self.low: float | None = None
        self.high: float | None = None
        self.mean = self.squares = 0.0

    def add(self, count: int, nan: int, inf: int, low: float, high: float, mean: float, squares: float) -> None:
        """A part: `squares` is the sum of the squared distances from its mean. Two of them make one by the formula of
        Chan, Golub and LeVeque (1979), which loses no digits where the mean is large."""
        self.nan += nan
        self.inf += inf
        if not count:
            return
        both = self.count + count
        apart = mean - self.mean
        self.squares += squares + apart * apart * self.count * count / both
        self.mean += apart * count / both
        self.count = both
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def as_json(self) -> dict[str, Any]:
        std = math.sqrt(max(self.squares, 0.0) / self.count) if self.count else None
        mean = self.mean if self.count else None
        found = {"min": self.low, "max": self.high, "mean": mean, "std": std}
        # Sums of large numbers may be infinite, and JSON has no such number.
        finite = {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()}
        return {**finite, "nan": self.nan, "inf": self.inf}


class Digest:
    """By what two arrays are equal: a sum over the bits of all elements and their places, in any order of the parts.
    Whole numbers only, so that each device has the same."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, first: int, plain: int, placed: int) -> None:
        """A part that begins at the element `first`: the sum of its mixed bits, and that of each times its place in the
        part."""
        self.total = (self.total + placed + plain * (first + 1)) & MASK

    def text(self) -> str:
        return f"{self.total * FACTOR & MASK:016x}"


def look_at(
    size: int, part: int, add: Callable[[int, int, Digest, "Numbers | None"], None], until: float
) -> dict[str, Any]:
    """`add` takes the elements from one number to another. `until` is a time of `time.monotonic`.

    `sampled` is the share of the elements that were looked at. Then only `places` tells whether two are equal.
    """
    numbers, digest, places = Numbers(), Digest(), Digest()
    starts = range(0, size, part)
    if len(starts) > 1:
        for number in range(PLACES):
            start = number * (size - PLACE) // (PLACES - 1)
            add(start, start + PLACE, places, None)
    seen = 0
    for start in spread(starts):
        end = min(start + part, size)
        add(start, end, digest, numbers)
        seen += end - start
        if time.monotonic() > until and seen < size:
            break
    whole = seen == size
    return {
        **numbers.as_json(),
        "sampled": 1.0 if whole else seen / size,
        "hash": digest.text() if whole else "",
        "places": places.text() if len(starts) > 1 else "",
    }


def spread(starts: range) -> Iterable[int]:
    """All of them, in an order in which the first few lie all over the array."""
    golden = (math.sqrt(5) - 1) / 2
    return sorted(starts, key=lambda start: start // starts.step * golden % 1.0)


def numpy_numbers(array: Any, until: float) -> dict[str, Any]:
    """Takes a numpy array whose elements are numbers, or texts of one length."""
    import numpy

    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat

    def add(start: int, end: int, digest: Digest, numbers: "Numbers | None") -> None:
        values = numpy.ascontiguousarray(flat[start:end])
        add_bits(numpy, values, start, digest)
        if numbers is not None and values.dtype.kind in "fciub":
            add_numbers(numpy, values, numbers)

    return look_at(array.size, PART, add, until)


def add_bits(numpy: Any, values: Any, start: int, digest: Digest) -> None:
    size = values.dtype.itemsize
    width = size if size in (1, 2, 4, 8) else 1
    bits = values.view(f"u{width}").astype("u8").reshape(len(values), -1)
    with numpy.errstate(over="ignore"):
        bits = bits * numpy.uint64(FACTOR)
        bits ^= bits >> numpy.uint64(29)
        columns = numpy.arange(1, 2 * bits.shape[1], 2, dtype="u8")
        mixed = (bits * columns).sum(axis=1, dtype="u8")
        placed = (mixed * numpy.arange(len(mixed), dtype="u8")).sum(dtype="u8")
        digest.add(start, int(mixed.sum(dtype="u8")), int(placed))


def add_numbers(numpy: Any, values: Any, numbers: Numbers) -> None:
    kind = values.dtype.kind
    if kind == "c":
        values = values.view(values.real.dtype)
    nan = inf = 0
    if kind in "fc":
        finite = values[numpy.isfinite(values)]
        nan = int(numpy.isnan(values).sum())
        inf = values.size - finite.size - nan
        values = finite
    if not values.size:
        numbers.add(0, nan, inf, 0.0, 0.0, 0.0, 0.0)
        return
    with numpy.errstate(over="ignore"):
        mean = float(values.mean(dtype="f8"))
        squares = float(numpy.square(values - numpy.float64(mean)).sum(dtype="f8"))
    numbers.add(values.size, nan, inf, float(values.min()), float(values.max()), mean, squares)
