"""The text that describes an array to users; runs in the worker and in the core."""

from typing import Any


def array_text(found: dict[str, Any]) -> str:
    """Return a text like `float32[3,1000] on cuda:0, min -1, max 1, mean 0.5, std 0.1, 2 nan`.

    `found` is the description of the array (array_libraries.py), or a part of it.
    """
    text = found["dtype"] + "[" + ",".join(map(str, found["shape"])) + "]"
    parts = [text + (" on " + found["device"] if found["device"] else "")]
    parts += [f"{name} {found[name]:.6g}" for name in ("min", "max", "mean", "std") if found.get(name) is not None]
    parts += [f"{found[name]} {name}" for name in ("nan", "inf") if found.get(name)]
    # In the core, a missing reason is UNSET.
    if isinstance(found.get("reason"), str):
        parts.append(f"no numbers ({found['reason']})")
    if found.get("min") is not None and found["sampled"] < 1:
        parts.append(f"from {max(found['sampled'], 0.01):.0%} of the elements")
    return ", ".join(parts)
