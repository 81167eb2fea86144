"""The time of day, in seconds since 1970, without the jumps of the machine's clock."""

import time

_START = time.time() - time.monotonic()


def now() -> float:
    """Return seconds since 1970 that never decrease in this process, so that differences are durations.

    Time during which the machine sleeps is not counted.
    """
    return _START + time.monotonic()
