"""The setup hook of a worker, which starts the agent and then runs the user's own hook, before the first task.

Ray ends a worker whose setup hook raises, so raydap's part of it never raises. This file runs as text (driver_setup.py)
before any module of raydap, and imports none.
"""

from collections.abc import Callable
from typing import Any


def set_up(load: Callable[[], Any], settings: dict[str, Any], raydap: str, next_hook: Any) -> None:
    """Start the agent, unless the variable RAYDAP is `off`, and run the user's setup hook.

    `load` installs the agent's modules and returns their package (bundle.py). `settings` are those of
    agent_children.py, and `raydap` is the path to call. `next_hook` is the user's hook: a callable, the name of one, or
    None.
    """
    import importlib
    import os
    import sys

    if os.environ.get("RAYDAP") != "off":
        try:
            load().driver_agent.start_in_worker(raydap, settings)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")
    if isinstance(next_hook, str):
        where, _, name = next_hook.rpartition(".")
        next_hook = getattr(importlib.import_module(where), name)
    if next_hook is not None:
        next_hook()
