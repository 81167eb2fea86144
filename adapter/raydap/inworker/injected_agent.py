"""The start of an agent in a worker that runs already and was not prepared; runs there.

This code arrives in different ways (cluster/agent_injection.py), perhaps late, perhaps twice, perhaps from two raydaps.
So the agent starts only once in a process. It starts in a thread of its own, so that no thread of the program waits for
it. It stays when raydap detaches, as in a prepared worker.
"""

from collections.abc import Callable
from typing import Any


def start_injected_agent(load: Callable[[], Any], settings: dict[str, Any], worker_id: str) -> str:
    """Start the agent in a new thread; return "", or the reason why no agent starts. Raise nothing.

    `load` installs the agent's modules and returns their package (bundle.py), and `settings` are those of
    agent_children.py. `worker_id` is Ray's hex id of the worker where the agent is to start.
    """
    import os
    import sys
    import threading
    import types

    name = "_raydap_agent"
    try:
        ray: Any = sys.modules.get("ray")
        if ray is None or ray._private.worker.global_worker.worker_id.hex() != worker_id:
            return "its process id now belongs to another process"
        if os.environ.get("RAYDAP") == "off":
            return "RAYDAP=off is in its environment"
        claim = types.ModuleType(name)
        if sys.modules.setdefault(name, claim) is not claim:
            return ""  # The process has an agent, or is just getting one.

        def begin() -> None:
            # The program's trace functions and profilers are for its own new threads.
            sys.settrace(None)
            sys.setprofile(None)
            try:
                load().driver_agent.start_in_worker("", settings)
            except Exception as error:
                del sys.modules[name]  # Allow another attempt.
                sys.stderr.write(f"raydap cannot debug this worker: {error!r}\n")

        thread: Any = threading.Thread(target=begin, name="raydap", daemon=True)
        thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
        thread.start()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
