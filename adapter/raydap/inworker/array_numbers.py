"""What is said of the numbers of an array; runs in the worker.

An array is looked at in parts, so that little memory is needed beside it. If the time is over before the last part, the
numbers are those of the parts so far, which lie all over the array. None of the libraries is imported: who has an array
has imported its library.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

PART = 1 << 22
"""Bytes in a part on a CPU. One of them takes 5 to 10 ms (measured)."""

READ_S = 1.0
"""Seconds that a device may take for one part, before it counts as busy."""

PLACES = 64
PLACE = 1024
"""How many places of an array that is too large, and how many elements of each, tell whether two are equal."""

COLUMNS = 256
"""Words of 32 bits in a row. A place has whole rows of them, however large its elements are."""

MASK = (1 << 64) - 1
FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number without a pattern: 2 to the power of 64, divided by the golden ratio. It is negative, because torch has
few operations for numbers without a sign."""

EMPTY = {"min": None, "max": None, "mean": None, "std": None, "nan": 0, "inf": 0}


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
    """By what two arrays are equal: a sum of the hashes of all parts, in any order. Whole numbers only, so that each
    device has the same."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, first: int, value: int) -> None:
        """The hash of the part that begins at `first`."""
        self.total = (self.total + value * (mixed(first, MASK) | 1)) & MASK

    def text(self) -> str:
        return f"{mixed(self.total, MASK):016x}"


def mixed(places: Any, mask: int = -1) -> Any:
    """Numbers without a pattern for a number of Python (with `mask`), or for an array of 64-bit ones.

    The hash of a row is the sum of its words, each times the number of its place, and that of an array the same of its
    rows. So two that differ have the same hash once in 2 to the power of 32 times, whatever their words are
    (multilinear hashing; Lemire and Kaser, Strongly universal string hashing is fast, 2014). The places themselves are
    no such numbers: 0 and 3 have the sum of 1 and 2, so a mask with two elements moved would have the same hash.
    """
    places = (places + 1) * FACTOR & mask
    places = (places ^ (places >> 32)) * FACTOR & mask
    return places ^ (places >> 29)


Add = Callable[[int, int, Digest, "Numbers | None"], None]


def look_at(pieces: Iterable[tuple[int, Add]], part: int, until: float) -> dict[str, Any]:
    """An array in one or several pieces: how many elements each has, and what adds those from one number to another.
    `until` is a time of `time.monotonic`.

    `sampled` is the share of the elements that were looked at. Then only `places` tells whether two are equal.
    """
    numbers, digest, places = Numbers(), Digest(), Digest()
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
    """All of them, in an order in which the first few lie all over the array."""
    golden = (math.sqrt(5) - 1) / 2
    return [parts[number] for number in sorted(range(len(parts)), key=lambda number: number * golden % 1.0)]


def without_numbers(reason: str) -> dict[str, Any]:
    """The first line of a text says why."""
    return {**EMPTY, "sampled": 0.0, "hash": "", "places": "", "reason": reason.partition("\n")[0][:100]}


def wait(is_ready: Callable[[], bool], until: float) -> None:
    """Waits for the device, which may hang: who reads there blocks its thread until the device has done all before.
    Raises TimeoutError."""
    pause = 0.0
    while not is_ready():
        if time.monotonic() > until:
            raise TimeoutError("its device is busy")
        time.sleep(pause)
        pause = min(pause + 1e-5, 1e-3)


def numpy_numbers(pieces: list[Any], until: float) -> dict[str, Any]:
    """Takes the pieces of a numpy array whose elements are numbers, or texts of one length."""
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
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat

    def add(start: int, end: int, digest: Digest, numbers: "Numbers | None") -> None:
        values = numpy.ascontiguousarray(flat[start:end])
        digest.add(first + start, numpy_hash(numpy, values, columns))
        if numbers is not None:
            add_numbers(numpy, values, numbers)

    return add


def numpy_hash(numpy: Any, values: Any, columns: Any) -> int:
    if not values.itemsize:
        return 0  # Texts without a character.
    data = values.view("u1")
    rest = -len(data) % (4 * COLUMNS)
    if rest:
        data = numpy.concatenate([data, numpy.zeros(rest, "u1")])
    sums = data.view("i4").reshape(-1, COLUMNS).astype("i8") @ columns
    return int((sums * mixed(numpy.arange(len(sums)))).sum())


def add_numbers(numpy: Any, values: Any, numbers: Numbers) -> None:
    if values.dtype.kind == "V" and values.dtype.type is not numpy.void:
        values = values.astype("f4")  # bfloat16 and its like, which other libraries bring.
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
