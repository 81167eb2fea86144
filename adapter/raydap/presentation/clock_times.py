"""Times of day and dates as text, in the time zone of this machine."""

import time


def clock(seconds: float) -> str:
    """Return the time of day, such as `14:02:59`. `seconds` are those since the epoch."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def date(seconds: float) -> str:
    """Return the date and time with its time zone. `seconds` are those since the epoch."""
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(seconds))
