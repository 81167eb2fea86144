"""The hit condition that makes a breakpoint a barrier: `all`, `all 16`, `all 60s`."""

import re
from dataclasses import dataclass

_WORD = re.compile(r"\s*all\b", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,6}")
_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(s|min)")
_SECONDS = {"s": 1.0, "min": 60.0}

_SYNTAX = (
    "A barrier is `all`, `all 16` (it opens when 16 have arrived), `all 60s` (60 s after the first has arrived), "
    "or `all 16 60s`"
)


@dataclass(frozen=True, slots=True)
class BarrierTerms:
    """When a barrier opens. By default, all workers of its class that are alive have to arrive."""

    count: int = 0
    """Arrivals with which the barrier opens; 0 for those of all workers."""
    seconds: float = 0.0
    """Seconds after the first arrival with which the barrier opens in any case; 0 for no time limit."""


def of_breakpoint(spec: dict[str, object]) -> BarrierTerms | None:
    """Return the terms of a breakpoint; None if it is no barrier.

    Raises ValueError, with a sentence for users, if the hit condition is wrong.
    """
    text = spec.get("hitCondition")
    if not isinstance(text, str) or _WORD.match(text) is None:
        return None
    if spec.get("logMessage"):
        raise ValueError("A logpoint stops no worker, so its hit condition cannot be `all`.")
    limits: dict[str, float] = {}
    for word in text.split()[1:]:
        time = _TIME.fullmatch(word)
        name = "seconds" if time is not None else "count"
        if name in limits or (time is None and _COUNT.fullmatch(word) is None):
            raise ValueError(f"{_SYNTAX}; `{word}` is not allowed there.")
        limits[name] = float(word) if time is None else float(time[1]) * _SECONDS[time[2]]
        if not limits[name]:
            raise ValueError(f"{_SYNTAX}; `{word}` must be greater than 0.")
    return BarrierTerms(int(limits.get("count", 0)), limits.get("seconds", 0.0))
