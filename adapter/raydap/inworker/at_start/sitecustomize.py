"""Starts the agent in a program that raydap launches, before the program's first line; runs there.

Python imports a module of this name when it begins, from a folder in PYTHONPATH that raydap adds (cluster/prepare.py).
So the program is an ordinary one: its command line, `__main__` and tracebacks are what they would be without raydap.
The folder is taken out of the path at once, so that no other process has it, and a sitecustomize of the user's own is
imported then.
"""

import importlib
import json
import os
import socket
import sys
import types


def start_agent() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(each for each in inherited if os.path.abspath(each) != folder)
    # This file is imported while `site` is. pydevd, in a thread of the agent, imports `site`, too, and would wait for
    # the end of that import, which waits for pydevd.
    vars(sys.modules["site"].__spec__)["_initializing"] = False
    settings = json.loads(os.environ["RAYDAP_AGENT"])
    file = os.path.join(os.path.dirname(folder), "agent.py")
    with open(file, encoding="utf-8") as source:
        code = compile(source.read(), file, "exec")
    module = sys.modules["_raydap_agent"] = types.ModuleType("_raydap_agent")
    exec(code, vars(module))
    identity = {"worker_type": "DRIVER", "node_ip": socket.gethostname()}
    vars(module)["start"](settings["folder"], identity, settings["raydap"])


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
