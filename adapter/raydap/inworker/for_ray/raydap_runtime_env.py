"""Gives each worker of a driver the agent; runs in the driver, when Ray asks for it.

Ray calls the function that RAY_RUNTIME_ENV_HOOK names, for the runtime_env of each `ray.init`
(ray/_private/worker.py, _maybe_call_runtime_env_hook). The agent goes to the workers by value, as a
worker_process_setup_hook, which Ray runs before the first task. So nothing has to be installed there.
"""

import functools
import importlib
import json
import os
from typing import Any

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def hook(runtime_env: dict[str, Any] | None) -> dict[str, Any]:
    """The runtime_env with the agent. A hook that the user had is called first, and so is the user's setup hook in the
    workers."""
    settings = json.loads(os.environ.get("RAYDAP_AGENT", "{}"))
    given = settings.get("next_hook")
    if given:
        module, _, name = given.rpartition(".")
        runtime_env = getattr(importlib.import_module(module), name)(runtime_env)
    runtime_env = dict(runtime_env or {})
    if not os.path.exists(settings.get("raydap", "")):
        # raydap has ended, or this is another machine.
        return runtime_env
    names = {
        "sources": [_read("agent.py"), _read("actor_threads.py")],
        "raydap": settings["raydap"],
        "next_hook": runtime_env.get("worker_process_setup_hook"),
    }
    code = _read("worker_setup.py") + "\nset_up(sources, raydap, next_hook)\n"
    # `exec` is pickled by its name and the rest is text, so workers need no module of ours, and any Python version.
    set_up: Any = functools.partial(exec, code, names)
    set_up.__name__ = "raydap_agent"
    runtime_env["worker_process_setup_hook"] = set_up
    return runtime_env


def _read(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()
