"""When raydap tries again to attach to a worker."""

from dataclasses import dataclass

DELAYS_S = (5.0, 60.0)
"""Seconds until the next trial: the first delay, and the longest. Each is twice the one before."""


@dataclass(frozen=True, slots=True)
class Retry:
    """When raydap tries again, and the delay until then, in seconds."""

    at: float
    delay: float


def after(failed: Retry | None, now: float) -> Retry:
    """Return the next trial after one that has failed now; `failed` is None for the first."""
    delay = DELAYS_S[0] if failed is None else min(failed.delay * 2, DELAYS_S[1])
    return Retry(now + delay, delay)
