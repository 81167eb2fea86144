"""Starts the agent in a program before the program's first line, or gets it ready to start; runs there, and in the
Pythons that the program starts (python_commands.py), which may be older than those that raydap supports.

A program that raydap launches calls it at once, and one of `raydap run --wait` when there is one. Any other begins at
once, and its agent starts when `ray.init` has joined a cluster: before that nobody could know whose it is.

Python imports a module of this name when it begins, from a folder in PYTHONPATH that raydap adds (runtime/agents.py).
So the program is an ordinary one: its command line, `__main__` and tracebacks are what they would be without raydap.
What raydap has added to the environment is taken out at once, so that no other process has it, and a sitecustomize of
the user's own is imported then.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import types
from collections.abc import Iterable
from typing import Any


def start_agent() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    settings = json.loads(os.environ.pop("RAYDAP_AGENT", "{}"))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
    given = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    left = [each for each in given if os.path.abspath(each) != folder]
    own_path = settings.get("pythonpath", os.pathsep.join(left) if left else None)
    if own_path is not None:
        os.environ["PYTHONPATH"] = own_path
    # The program may start an older Python.
    if os.environ.get("RAYDAP") == "off" or sys.version_info < (3, 10):
        return
    # This file is imported while `site` is. pydevd, in a thread of the agent, imports `site`, too, and would wait for
    # the end of that import, which waits for pydevd.
    vars(sys.modules["site"].__spec__)["_initializing"] = False
    sources = os.path.dirname(folder)
    if settings.get("temporary"):
        remove_at_exit(sources)
    with open(os.path.join(sources, "agent_code.py"), encoding="utf-8") as file:
        driver = load("_raydap_driver", [compile(file.read(), "<raydap agent>", "exec")])
    read_code = driver["read_code"]
    load("_raydap_driver", read_code(sources, "driver_setup.py"))
    children = settings.get("children", True)
    setup = driver["DriverSetup"](settings.get("raydap", ""), sources, "_raydap_driver", children)
    sys.meta_path.insert(0, setup)
    agent = load("_raydap_agent", read_code(sources, *driver["AGENT_FILES"]))
    agent.update(CHILDREN=children, AT_START=folder)
    identity = settings.get("identity") or {"worker_type": "DRIVER", "node_ip": socket.gethostname()}
    if settings.get("wait"):
        setup.raydap = agent["wait_for_raydap"](settings["folder"], identity)
    elif settings:
        agent["start"](settings["folder"], identity, settings["raydap"])
    agent["trace_program"](agent["current_debugger"]())


def remove_at_exit(folder: str) -> None:
    """What job_start.py has made. A forked child of the program leaves it to the program."""
    pid = os.getpid()

    def remove() -> None:
        if os.getpid() == pid:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


def load(name: str, code: Iterable[types.CodeType]) -> dict[str, Any]:
    """The names of a module that is not installed in the program's Python, and has what all this code defines."""
    module = sys.modules.setdefault(name, types.ModuleType(name))
    for each in code:
        exec(each, vars(module))
    return vars(module)


try:
    start_agent()
except KeyboardInterrupt:
    # The program has not begun, so there is nothing to tell where it was. Python would print its own traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
except Exception as error:
    # The program runs without a debugger rather than not at all.
    sys.stderr.write(f"raydap cannot debug this program: {error!r}\n")
own = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise  # It is that of the user, and Python reports it as without raydap.
    # There is none of the user's; `import` wants to find the one that it is importing.
    sys.modules["sitecustomize"] = own
