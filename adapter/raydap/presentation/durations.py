"""Durations as short text, and durations that users write."""

import re

_WRITTEN = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,3})?)(?P<unit>ms|s|m|h|d|)")
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(seconds: float) -> str:
    """Return a duration such as `38 ms`, `12.3 s`, `5m 12s` or `2h 05m`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else _minutes(seconds)


def whole_seconds(seconds: float) -> str:
    """Return a duration such as `12 s`, `5m 12s` or `2h 05m`, or "" if it is shorter than a second.

    A duration below one second means that raydap has just begun to look, so it is not shown.
    """
    if seconds < 1:
        return ""
    return f"{int(seconds)} s" if seconds < 60 else _minutes(seconds)


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"


def seconds_in(text: str) -> float:
    """Parse a duration such as `30s`, `5m`, `1h` or `2d`, and return its seconds.

    A number without a unit is in seconds. Raises ValueError with a sentence for the user.
    """
    found = _WRITTEN.fullmatch(text.strip())
    seconds = 0.0 if found is None else float(found["number"]) * _SECONDS[found["unit"]]
    if seconds <= 0:
        raise ValueError(f'"{text}" is not a duration. Write 30s, 5m or 1h.')
    return seconds
