"""Starts the agent in a program that raydap launches, before the program's first line; runs there, and in the Pythons
that it starts (python_commands.py), which may be older than those that raydap supports.

Python imports a module of this name when it begins, from a folder in PYTHONPATH that raydap adds (runtime/agents.py).
So the program is an ordinary one: its command line, `__main__` and tracebacks are what they would be without raydap.
What raydap has added to the environment is taken out at once, so that no other process has it, and a sitecustomize of
the user's own is imported then.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import types
from typing import Any


def start_agent() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    settings = json.loads(os.environ.pop("RAYDAP_AGENT"))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
    if settings["path"] is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = settings["path"]
    if sys.version_info < (3, 10):  # noqa: UP036  # The program may start an older Python.
        return
    # This file is imported while `site` is. pydevd, in a thread of the agent, imports `site`, too, and would wait for
    # the end of that import, which waits for pydevd.
    vars(sys.modules["site"].__spec__)["_initializing"] = False
    sources = os.path.dirname(folder)
    driver = load("_raydap_driver", sources, "driver_setup.py")
    sys.meta_path.insert(0, driver["DriverSetup"](settings["raydap"], sources, "_raydap_driver", settings["children"]))
    agent = load("_raydap_agent", sources, *driver["AGENT_FILES"])
    identity = settings.get("identity") or {"worker_type": "DRIVER", "node_ip": socket.gethostname()}
    agent.update(CHILDREN=settings["children"], AT_START=folder)
    agent["start"](settings["folder"], identity, settings["raydap"])


def load(name: str, folder: str, *files: str) -> dict[str, Any]:
    """The names of a module that is not installed in the program's Python, and has what all these files define."""
    module = sys.modules[name] = types.ModuleType(name)
    for file in files:
        with open(os.path.join(folder, file), encoding="utf-8") as source:
            exec(compile(source.read(), "<raydap agent>", "exec"), vars(module))
    return vars(module)


try:
    start_agent()
except Exception as error:
    # The program runs without a debugger rather than not at all.
    sys.stderr.write(f"raydap cannot debug this program: {error!r}\n")
own = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")
except ImportError:
    # There is none of the user's; `import` wants to find the one that it is importing.
    sys.modules["sitecustomize"] = own
