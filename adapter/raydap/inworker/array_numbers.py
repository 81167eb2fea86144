"""Numbers that describe an array, such as its mean, and hashes that compare it; runs in the worker.

An array is read in parts, so that little additional memory is needed. If the time is over before the last part, the
numbers are those of the parts so far, which are spread over the whole array. These functions load no library of arrays:
a process that has an array has imported the array's library already.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

PART = 1 << 22
"""Bytes in a part on a CPU, which takes 5 to 10 ms (measured)."""

READ_S = 1.0
"""Seconds that a device may take for one part before it counts as busy."""

PLACES = 64
"""Places of a large array that are hashed, to compare arrays that are not read as a whole."""
PLACE = 1024
"""Elements in each place."""

COLUMNS = 256
"""Words of 32 bits in a row. A place consists of whole rows, whatever the size of its elements."""

MASK = (1 << 64) - 1
FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number without a pattern: 2 to the power of 64, divided by the golden ratio. It is negative because torch has
few operations for unsigned integers."""

EMPTY = {"min": None, "max": None, "mean": None, "std": None, "nan": 0, "inf": 0}
"""The numbers of an array that has no finite ones."""


class ArrayStatistics:
    """Statistics of the numbers so far."""

    def __init__(self) -> None:
        self.count = self.nan = self.inf = 0
        """How many numbers were finite, NaN and infinite. The fields below are about the finite ones."""
        self.low: float | None = None
        self.high: float | None = None
        """The least and the greatest number, None if there is none."""
        self.mean = self.squares = 0.0
        """The mean, and the sum of the squared distances from it."""

    def add(self, count: int, nan: int, inf: int, low: float, high: float, mean: float, squares: float) -> None:
        """Add a part, where `squares` is the sum of the squared distances from the part's mean.

        Two parts are combined by the formula of Chan, Golub and LeVeque (1979), which loses no digits where the mean is
        large.
        """
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
        """Return the statistics by name, with None for values that are infinite or do not exist."""
        std = math.sqrt(max(self.squares, 0.0) / self.count) if self.count else None
        mean = self.mean if self.count else None
        found = {"min": self.low, "max": self.high, "mean": mean, "std": std}
        # Sums of large numbers may be infinite, which JSON cannot represent.
        finite = {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()}
        return {**finite, "nan": self.nan, "inf": self.inf}


class Digest:
    """A hash that is the same for equal arrays: the sum of the hashes of all parts, in any order.

    It is computed with integers only, so that the result is the same on each device.
    """

    def __init__(self) -> None:
        self.total = 0

    def add(self, first: int, value: int) -> None:
        """Add the hash `value` of the part that begins at the element `first`."""
        self.total = (self.total + value * (mixed(first, MASK) | 1)) & MASK

    def text(self) -> str:
        """Return the hash as 16 hexadecimal digits."""
        return f"{mixed(self.total, MASK):016x}"


def mixed(places: Any, mask: int = -1) -> Any:
    """Return numbers without a pattern, for a Python number (with `mask`) or an array of 64-bit integers.

    The hash of a row is the sum of its words, each multiplied by the mixed number of its place. The hash of an array is
    the same sum over its rows. So two different arrays have the same hash once in 2 to the power of 32 times, whatever
    their words are (multilinear hashing; Lemire and Kaser, Strongly universal string hashing is fast, 2014). The
    numbers of the places must be mixed: 0 and 3 have the same sum as 1 and 2, so a mask with two elements moved would
    have the same hash.
    """
    places = (places + 1) * FACTOR & mask
    places = (places ^ (places >> 32)) * FACTOR & mask
    return places ^ (places >> 29)


Add = Callable[[int, int, Digest, "ArrayStatistics | None"], None]
"""Adds the elements from one number up to another to the digest, and to the numbers unless they are None."""


def look_at(pieces: Iterable[tuple[int, Add]], part: int, until: float) -> dict[str, Any]:
    """Return the numbers and the hashes of an array in one or several pieces.

    A piece is given by its number of elements and a function that adds some of them. `part` is the number of elements
    in a part, and `until` is a time of `time.monotonic`. In the result, `sampled` is the share of the elements that
    were read. If it is less than 1, only `places` can show whether two arrays are equal.
    """
    numbers, digest, places = ArrayStatistics(), Digest(), Digest()
    parts = [(add, start, min(start + part, size)) for size, add in pieces for start in range(0, size, part)]
    size = sum(end - start for _, start, end in parts)
    is_large = len(parts) > 1
    if is_large:
        for each, add in pieces:
            for number in range(PLACES if each > PLACE else 1):
                start = number * (each - PLACE) // (PLACES - 1)
                add(start, min(start + PLACE, each), places, None)
    seen = 0
    for add, start, end in spread(parts):
        add(start, end, digest, numbers)
        seen += end - start
        if time.monotonic() > until and seen < size:
            break
    whole = seen == size
    return {
        **numbers.as_json(),
        "sampled": 1.0 if whole else seen / size,
        "hash": digest.text() if whole else "",
        "places": places.text() if is_large else "",
    }


def spread(parts: list[Any]) -> list[Any]:
    """Return all parts in an order in which the first few are spread over the whole array."""
    golden = (math.sqrt(5) - 1) / 2
    return [parts[number] for number in sorted(range(len(parts)), key=lambda number: number * golden % 1.0)]


def without_numbers(reason: str) -> dict[str, Any]:
    """Return the description of an array without numbers, with the first line of the reason."""
    return {**EMPTY, "sampled": 0.0, "hash": "", "places": "", "reason": reason.partition("\n")[0][:100]}


def wait(is_ready: Callable[[], bool], until: float) -> None:
    """Wait until the device is ready, or raise TimeoutError at the time `until`.

    A device may hang. Reading from it would then block the thread, because the device finishes all earlier work first.
    """
    pause = 0.0
    while not is_ready():
        if time.monotonic() > until:
            raise TimeoutError("its device is busy")
        time.sleep(pause)
        pause = min(pause + 1e-5, 1e-3)


def numpy_numbers(pieces: list[Any], until: float) -> dict[str, Any]:
    """Return the numbers of a numpy array in pieces, whose elements are numbers or texts of one length."""
    import numpy

    columns = mixed(numpy.arange(COLUMNS))
    first = 0
    found: list[tuple[int, Add]] = []
    for piece in pieces:
        found.append((piece.size, numpy_add(numpy, piece, columns, first)))
        first += piece.size
    part = PART // max(pieces[0].itemsize, 1) // PLACE * PLACE
    return look_at(found, max(part, PLACE), until)


def numpy_add(numpy: Any, array: Any, columns: Any, first: int) -> Add:
    """Return the function that adds elements of this piece. `first` is the number of its first element."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat

    def add(start: int, end: int, digest: Digest, numbers: "ArrayStatistics | None") -> None:
        values = numpy.ascontiguousarray(flat[start:end])
        digest.add(first + start, numpy_hash(numpy, values, columns))
        if numbers is not None:
            add_numbers(numpy, values, numbers)

    return add


def numpy_hash(numpy: Any, values: Any, columns: Any) -> int:
    """Return the hash of these values. `columns` are the mixed numbers of the places in a row."""
    if not values.itemsize:
        return 0  # The texts are empty.
    data = values.view("u1")
    rest = -len(data) % (4 * COLUMNS)
    if rest:
        data = numpy.concatenate([data, numpy.zeros(rest, "u1")])
    sums = data.view("i4").reshape(-1, COLUMNS).astype("i8") @ columns
    return int((sums * mixed(numpy.arange(len(sums)))).sum())


def add_numbers(numpy: Any, values: Any, numbers: ArrayStatistics) -> None:
    """Add values to the statistics. Values that are not numbers are ignored, and a complex one counts as two."""
    if values.dtype.kind == "V" and values.dtype.type is not numpy.void:
        values = values.astype("f4")  # bfloat16 and similar types of other libraries.
    kind = values.dtype.kind
    if kind not in "fciub":
        return
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
