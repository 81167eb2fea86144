"""The start of an agent in each worker of a cluster that was started for raydap; runs there before the first task.

`raydap prepare` prints a command that starts such a cluster, with this folder in PYTHONPATH and with
`site.execsitecustomize` as the setup hook of all workers. Python imports this file when it begins, and from then on the
function of that name starts the agent. Where Python does not find this file, as in a worker with its own PYTHONPATH or
container, the name still is that of Python's own function, which does nothing a second time. So each worker can import
its hook. Ray ends a worker that cannot.

raydap need not be installed in the Python of the cluster. If a program has a hook of its own, as with `raydap run`, its
workers call that hook instead.

This file imports only modules that Python has imported already: it runs in each Python of the cluster.
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
    """Return the replacement of `original`, which is site.execsitecustomize."""

    def execsitecustomize() -> None:
        """Start the agent in a Ray worker. Raise nothing there, because Ray ends a worker whose hook raises."""
        ray: Any = sys.modules.get("ray")
        worker: Any = getattr(getattr(getattr(ray, "_private", None), "worker", None), "global_worker", None)
        if worker is not None and worker.mode == ray.WORKER_MODE:
            if site.execsitecustomize is execsitecustomize:
                site.execsitecustomize = original
            start_agent()
        else:
            original()

    # As in replaced_functions.py, `install`.
    vars(execsitecustomize).update(raydap_replaces=(id(execsitecustomize), original), __wrapped__=original)
    for name in ("__module__", "__qualname__", "__doc__"):
        setattr(execsitecustomize, name, getattr(original, name))
    return execsitecustomize


def start_agent() -> None:
    """Start the agent of this worker. Raise nothing."""
    folder = os.path.dirname(FOLDER)
    at_start = os.path.join(folder, "at_start")
    names: dict[str, Any] = {}
    try:
        with open(os.path.join(at_start, "sitecustomize.py"), encoding="utf-8") as source:
            exec(compile(source.read(), "<raydap agent>", "exec"), names)
        idle, rest, _ = names["installers"](folder)
        idle()
        rest().driver_agent.start_in_worker("", {"AT_START": at_start})
    except Exception as error:
        sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")


if os.environ.get("RAYDAP") != "off":
    site.execsitecustomize = starting(site.execsitecustomize)
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != FOLDER]
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
except ImportError as error:
    if error.name != "sitecustomize":
        raise  # The user's own sitecustomize has failed. Python reports this as it does without raydap.
    # The user has none. The running import of this file needs its entry in sys.modules.
    sys.modules["sitecustomize"] = own
