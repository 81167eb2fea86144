"""The setup hook of a worker, which starts the agent and then runs the user's own hook, before the first task.

Ray ends a worker whose setup hook raises, so raydap's part of it never raises.
"""

from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

CompiledModules = list[tuple[str, CodeType]]
"""The names and the code of an agent's modules, each after the modules that it imports."""


def set_up(modules: Callable[[], CompiledModules], names: dict[str, Any], raydap: str, next_hook: Any) -> None:
    """Start the agent, unless the variable RAYDAP is `off`, and run the user's setup hook.

    `modules` returns the agent's modules (agent_code.py), and `names` are the settings of agent_children.py. `raydap`
    is the path to call. `next_hook` is the user's hook: a callable, the name of one, or None.
    """
    import importlib
    import os
    import sys

    if os.environ.get("RAYDAP") != "off":
        try:
            start_agent(modules(), names, raydap)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")
    if isinstance(next_hook, str):
        where, _, name = next_hook.rpartition(".")
        next_hook = getattr(importlib.import_module(where), name)
    if next_hook is not None:
        next_hook()


def start_agent(modules: CompiledModules, names: dict[str, Any], raydap: str) -> None:
    """Start the agent of this worker; the arguments are those of set_up."""
    import sys

    run: dict[str, Any] = {name: run_module(name, code) for name, code in modules}
    vars(run["agent_children"]).update(names)
    try:
        run["actor_threads"].trace_actor_threads()
    except Exception as error:
        sys.stderr.write(f"raydap cannot stop idle threads of threaded actors in this worker: {error!r}\n")
    run["driver_agent"].start_in_worker(raydap)
    if raydap:
        run["raydap_calls"].skip_post_mortem_alone(raydap, run["agent"].AGENT.folder)


def run_module(name: str, code: CodeType) -> ModuleType:
    """Run a module of the package `_raydap_agent`, which no finder of the process can find."""
    import sys

    sys.modules.setdefault("_raydap_agent", ModuleType("_raydap_agent"))
    module = sys.modules[f"_raydap_agent.{name}"] = ModuleType(f"_raydap_agent.{name}")
    module.__package__ = "_raydap_agent"
    exec(code, vars(module))
    return module


def unpacked(magic: bytes, compiled: bytes, texts: dict[str, str]) -> CompiledModules:
    """Return the modules that agent_code.py has packed.

    Compile their texts if another version of Python has packed them.
    """
    import importlib.util
    import marshal

    if magic == importlib.util.MAGIC_NUMBER:
        return list(marshal.loads(compiled))
    return [(name, compile(text, "<raydap agent>", "exec")) for name, text in texts.items()]
