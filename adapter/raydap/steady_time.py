"""The time of day, in seconds since 1970, without the jumps of the machine's clock."""

import time

_START = time.time() - time.monotonic()


def now() -> float:
    """Return a time that never goes back in this process, so that the difference of two is a duration.

    The time during which the machine sleeps does not count.
    """
    return _START + time.monotonic()
