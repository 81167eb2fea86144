"""Function breakpoints of steps that follow calls, merged with those of the clients."""

from collections.abc import Collection


def merged(specs: list[dict[str, object]], followed: Collection[dict[str, object]]) -> list[dict[str, object]]:
    """Return the clients' breakpoints, and then those of steps.

    debugpy has one breakpoint for each name of a function. So a step at the function of a client's breakpoint adds its
    condition to that breakpoint.
    """
    result = [dict(spec) for spec in specs]
    for step in followed:
        same = next((spec for spec in result if "name" in spec and spec["name"] == step["name"]), None)
        if same is None:
            result.append(dict(step))
        else:
            same["condition"] = f"({step['condition']}) or ({same.get('condition') or True})"
    return result
