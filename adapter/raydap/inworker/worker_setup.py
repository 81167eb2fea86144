"""Starts the agent in a worker, and then runs the user's own setup hook; runs in the worker, before its first task.

Ray ends a worker whose setup hook raises, so nothing of ours does.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any


def set_up(code: Callable[[], list[CodeType]], names: dict[str, Any], raydap: str, next_hook: Any) -> None:
    """`code` gives that of an agent (agent_code.py), and `names` are what agent_children.py is told; `raydap` is the
    path to call; `next_hook` is the user's hook: a callable, or the name of one, or None."""
    import importlib
    import os
    import sys

    if os.environ.get("RAYDAP") != "off":
        try:
            start_agent(code(), names, raydap)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")
    if isinstance(next_hook, str):
        where, _, name = next_hook.rpartition(".")
        next_hook = getattr(importlib.import_module(where), name)
    if next_hook is not None:
        next_hook()


def start_agent(code: list[CodeType], names: dict[str, Any], raydap: str) -> None:
    """Start the agent of this worker; the arguments are those of set_up."""
    import sys
    import types

    module = sys.modules["_raydap_agent"] = types.ModuleType("_raydap_agent")
    for each in code:
        exec(each, vars(module))
    vars(module).update(names)
    try:
        vars(module)["trace_actor_threads"]()
    except Exception as error:
        sys.stderr.write(f"raydap cannot stop idle threads of threaded actors here: {error!r}\n")
    vars(module)["start_in_worker"](raydap)
    if raydap:
        vars(module)["skip_post_mortem_alone"](raydap, vars(module)["AGENT"].folder)


def unpacked(magic: bytes, compiled: bytes, texts: list[str]) -> list[CodeType]:
    """What agent_code.py has packed, perhaps in another version of Python."""
    import importlib.util
    import marshal

    if magic == importlib.util.MAGIC_NUMBER:
        return list(marshal.loads(compiled))
    return [compile(text, "<raydap agent>", "exec") for text in texts]
