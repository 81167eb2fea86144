"""The tasks that produce the Ray objects for which a thread or coroutine waits; runs in the worker."""

import sys
from collections.abc import Iterable
from typing import Any

_AWAITED_TASKS = 2000
"""The most tasks that are named for one wait."""

_LAST_RETURN = 100_000_000
"""The largest index of an object that a task returns. Objects of ray.put and of placement groups have larger ones
(Ray's ray_config_def.h, max_num_generator_returns)."""


def object_wait(refs: Iterable[Any], needed: int = 0, ends: bool = False) -> dict[str, Any] | None:
    """Describe a wait for Ray objects (ray.ObjectRef) or their generators; return None for anything else.

    `needed` and `ends` are those of the result, which `Waits.of_thread` explains (thread_waits.py).
    """
    kind = sys.modules["ray"].ObjectRef
    tasks: dict[str, None] = {}
    puts = 0
    for ref in refs:
        if type(ref) is not kind:
            ref = object.__getattribute__(ref, "__dict__").get("_generator_ref")
            if type(ref) is not kind:
                return None
        if int.from_bytes(ref.binary()[-4:], "little") > _LAST_RETURN:
            puts += 1
        else:
            tasks[ref.task_id().hex()] = None
    named = list(tasks)[:_AWAITED_TASKS]
    found = {"kind": "objects", "tasks": named, "more": len(tasks) - len(named), "puts": puts}
    return {**found, "needed": needed, "ends": ends}
