"""Starts the agent in each worker of a cluster that was started for it; runs there, before the worker's first task.

`ray start` gets this folder in PYTHONPATH, and `site.execsitecustomize` as the setup hook of all workers (`raydap
prepare`). Python imports this file when it begins; from then on the function of that name starts the agent. Where the
file is not found, as in a worker with its own PYTHONPATH or container, the name is that of Python's own function, which
does nothing a second time. Ray ends a worker whose hook it cannot import.

raydap need not be installed in the Python of the cluster. The workers of a program that brings its own hook, such as
those of `raydap run`, have that hook instead.

This file imports no module that Python has not imported yet: it runs in each Python of the cluster.
"""

import os
import site
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))


def starting(original: "Callable[[], None]") -> "Callable[[], None]":
    """Return what takes the place of site.execsitecustomize, the original."""

    def execsitecustomize() -> None:
        """Ray ends a worker whose hook raises, so nothing here does."""
        ray: Any = sys.modules.get("ray")
        worker: Any = getattr(getattr(getattr(ray, "_private", None), "worker", None), "global_worker", None)
        if worker is not None and worker.mode == ray.WORKER_MODE:
            start_agent()
        else:
            original()

    return execsitecustomize


def start_agent() -> None:
    folder = os.path.dirname(FOLDER)
    try:
        setup, agent_code = (run(os.path.join(folder, name)) for name in ("worker_setup.py", "agent_code.py"))
        children = {"AT_START": os.path.join(folder, "at_start")}
        setup["set_up"](lambda: agent_code["read_code"](folder), children, "", None)
    except Exception as error:
        sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")


def run(path: str) -> "dict[str, Any]":
    """Run a file that imports no other; return its names."""
    names: dict[str, Any] = {}
    with open(path, encoding="utf-8") as source:
        exec(compile(source.read(), "<raydap agent>", "exec"), names)
    return names


if os.environ.get("RAYDAP") != "off":
    site.execsitecustomize = starting(site.execsitecustomize)
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != FOLDER]
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
except ImportError as error:
    if error.name != "sitecustomize":
        raise  # It is that of the user, and Python reports it as without raydap.
    # There is none of the user's; `import` wants to find the one that it is importing.
    sys.modules["sitecustomize"] = own
