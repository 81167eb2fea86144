"""Waiting by repeated questions, for what no event reports, such as Ray's lists, which lag."""

import time
from collections.abc import Iterator

SHORTEST_S, LONGEST_S = 0.05, 1.0
"""The limits of a pause."""


def tries(seconds: float = 90) -> Iterator[None]:
    """Yield for each try, until one is successful and the caller stops, or this many seconds are over.

    A pause is twice as long as the try before it. Without pauses, the questions take the processor from the processes
    that they ask about.
    """
    begun = time.monotonic()
    deadline = begun + seconds
    while begun < deadline:
        yield
        time.sleep(min(max(SHORTEST_S, 2 * (time.monotonic() - begun)), LONGEST_S))
        begun = time.monotonic()
