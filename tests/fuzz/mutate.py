"""New inputs from old ones. The same seed always gives the same inputs."""

import random
import re
from collections.abc import Callable, Sequence

LONGEST = 4096
"""The maximum length of an input in bytes. Large messages have tests of their own (tests/e2e/test_faults.py)."""

_FRESH = 0.4
"""How often an unchanged beginning is used, because inputs that were mutated often stop making sense."""

_WHOLE = 0.6
"""How often an input of several lines is changed by whole lines."""

_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"1000",
    b"1001",
    b"2147483647",
    b"2147483648",
    b"18446744073709551616",
    b"1e999",
    b"0.5",
)
_NUMBER = re.compile(rb"-?\d+")


class Mutator:
    """Mutates beginnings. `tokens` are pieces of the format, such as field names. All formats consist of lines."""

    def __init__(self, beginnings: Sequence[bytes], tokens: Sequence[bytes], seed: str) -> None:
        self._beginnings = beginnings
        self._pool = list(beginnings)
        self._tokens = tokens
        self._random = random.Random(seed)
        self._ways: tuple[Callable[[bytes], bytes], ...] = (
            self._flip,
            self._insert,
            self._remove,
            self._repeat,
            self._token,
            self._token,
            self._number,
            self._cross,
        )

    def next(self) -> bytes:
        place = self._random.randrange(len(self._pool))
        data = self._random.choice(self._beginnings) if self._random.random() < _FRESH else self._pool[place]
        for _ in range(self._random.choice((1, 1, 2, 3, 6))):
            whole = b"\n" in data and self._random.random() < _WHOLE
            change = self._lines if whole else self._random.choice(self._ways)
            data = change(data)[:LONGEST]
        self._pool[place] = data
        return data

    def _span(self, size: int, longest: int) -> tuple[int, int]:
        begin = self._random.randint(0, size)
        return begin, min(size, begin + self._random.randint(1, longest))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return self._insert(data)
        place = self._random.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << self._random.randrange(8)]) + data[place + 1 :]

    def _insert(self, data: bytes) -> bytes:
        place = self._random.randint(0, len(data))
        return data[:place] + self._random.randbytes(self._random.randint(1, 4)) + data[place:]

    def _remove(self, data: bytes) -> bytes:
        begin, end = self._span(len(data), 16)
        return data[:begin] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        begin, end = self._span(len(data), 8)
        return data[:begin] + data[begin:end] * self._random.choice((2, 3, 300)) + data[end:]

    def _token(self, data: bytes) -> bytes:
        begin, end = self._span(len(data), 12)
        return data[:begin] + self._random.choice(self._tokens) + data[self._random.choice((begin, end)) :]

    def _number(self, data: bytes) -> bytes:
        found = list(_NUMBER.finditer(data))
        if not found:
            return self._token(data)
        begin, end = self._random.choice(found).span()
        return data[:begin] + self._random.choice(_NUMBERS) + data[end:]

    def _cross(self, data: bytes) -> bytes:
        other = self._random.choice(self._pool)
        return data[: self._random.randint(0, len(data))] + other[self._random.randint(0, len(other)) :]

    def _lines(self, data: bytes) -> bytes:
        """Delete, duplicate or move a line, or insert a line of another input or a token."""
        lines = data.split(b"\n")
        place = self._random.randrange(len(lines))
        other = self._random.choice(self._pool).split(b"\n")
        taken = lines[place]
        if self._random.random() < 0.3:
            del lines[place]
        if self._random.random() < 0.6:
            new = self._random.choice((taken, self._random.choice(other), self._random.choice(self._tokens)))
            lines.insert(self._random.randint(0, len(lines)), new)
        return b"\n".join(lines)
