"""Durations as short text."""


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
