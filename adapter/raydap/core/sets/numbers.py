"""Numbers in what `repr()` gives."""

import re

_NUMBER = re.compile(r"(?:[\w.]+\()?([+-]?(?:\d[\d_]*\.?\d*(?:e[+-]?\d+)?|\.\d+|nan|inf))(?:, [\w.=':]+)*\)?")
_LONGEST = 400


def number(text: str, kind: str) -> float | None:
    """A number, also that in `np.float32(0.5)` or `tensor(0.5, device='cuda:0')`; None for anything else. `kind` is the
    name of the type: what is quoted is no number, and neither is a bool."""
    if kind in ("str", "bytes", "bool") or len(text) > _LONGEST:
        return None
    found = _NUMBER.fullmatch(text)
    try:
        return None if found is None else float(found[1])
    except ValueError:
        return None  # For example 1__0 from a repr of the user's program.
