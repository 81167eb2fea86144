"""Starts the agent in each worker of a cluster that was started for it; runs there, before the worker's first task.

`ray start` gets this folder in PYTHONPATH, and the function's name as the setup hook of all workers (`raydap prepare`).
So raydap need not be installed in the Python of the cluster. The workers of a program that brings a hook of its own
have that hook instead, such as those of `raydap run`.
"""

import os
import sys
from typing import Any


def start() -> None:
    """Ray ends a worker whose hook raises, so nothing here does."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        names: dict[str, Any] = {}
        for file in ("agent_code.py", "worker_setup.py"):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                exec(compile(source.read(), "<raydap agent>", "exec"), names)
        children = {"AT_START": os.path.join(folder, "at_start")}
        names["set_up"](lambda: names["read_code"](folder, *names["AGENT_FILES"]), children, "", None)
    except Exception as error:
        sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")
