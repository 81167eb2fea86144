"""The code that starts an agent in a running worker, and two ways to run it there through Ray.

`answer` runs in the process of relay_process.py. The request is `{"inject": ..., "way": ..., "pid": ..., "node_id":
..., "node": ..., "children": ...}`: Ray's hex id of the worker, "actor" or "gdb", the worker's process id, Ray's id of
its node, the node's name for users, and whether subprocesses have agents.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from raydap.cluster.injection import actor_calls
from raydap.cluster.injection.gdb_injection import InjectionFailed
from raydap.cluster.ray_process import ray_driver
from raydap.inworker.bundle import AGENT, REST, child_settings, load, read_text

TASK_TIMEOUT_S = 45.0
"""Seconds for a task on another node: Ray may have to start a worker for it first, and then gdb needs its time."""


def agent_source(worker_id: str, children: bool) -> str:
    """Return a program that starts an agent, and sets `problem` to "" or to the reason why none starts.

    `worker_id` is Ray's hex id of the worker: in another process no agent starts (inworker/injected_agent.py). With
    `children`, the worker's subprocesses have agents, too.
    """
    folder = str(resources.files("raydap.inworker"))
    settings = child_settings(folder, children)
    call = f"start_injected_agent(lambda: {load(folder, AGENT, *REST)}, {settings!r}, {worker_id!r})"
    return f"{read_text(folder, 'injected_agent.py')}\nproblem = {call}\n"


async def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of relay_process.py to a request.

    An error contains `refused`, too, because the relay itself has not failed.
    """
    try:
        source = agent_source(question["inject"], question["children"])
        if question["way"] == "actor":
            await actor_calls.run_in_actor(question["inject"], source)
        else:
            await _by_gdb(question, source)
    except Exception as error:
        return {"error": " ".join(str(error).split()) or type(error).__name__, "refused": False}
    return {"ok": True}


async def _by_gdb(question: Mapping[str, Any], source: str) -> None:
    """Run gdb on the worker's node, in a Ray task of its own."""
    import ray

    options = {"max_retries": 0, "name": "raydap", **ray_driver.on_node(question["node_id"])}
    arguments = json.dumps([question["pid"], question["inject"], source, question["node"]])
    call = ray.remote(task()).options(**options).remote(program(), arguments)
    refusal = await asyncio.wait_for(call, TASK_TIMEOUT_S)
    if refusal:
        raise InjectionFailed(refusal)


def program() -> str:
    """Return the program that runs gdb. raydap need not be installed on the node."""
    return resources.files("raydap.cluster.injection").joinpath("gdb_injection.py").read_text(encoding="utf-8")


def task() -> Callable[[str, str], str]:
    """Return the function that runs this program on the node with its input.

    The function returns why that fails, or "". Ray pickles functions of modules by name, except functions of
    `__main__`.
    """

    def run(program: str, arguments: str) -> str:
        import subprocess
        import sys

        # Run gdb in a process of its own, because it stops a worker. That worker can be this one, or it can run the
        # task whose gdb stops this one: then both would stay stopped.
        command = [sys.executable, "-I", "-S", "-c", program]
        child = subprocess.run(command, input=arguments, capture_output=True, text=True, check=False)
        return child.stdout.strip() or (child.stderr.strip().rpartition("\n")[2] if child.returncode else "")

    run.__module__ = "__main__"
    return run
