"""Brings code into workers through Ray; a part of relay_process.py, and of its process.

The request is `{"inject": ..., "way": ..., "pid": ..., "node_id": ..., "node": ..., "children": ...}`: the worker's hex
id, one of WAYS, its process, Ray's id of its node, the node's name for users, and whether subprocesses have agents.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Any

from raydap.cluster.injection import actor_calls, agent_source, gdb_injection

TASK_TIMEOUT_S = 45.0
"""Seconds for a task on another node: a worker for it may have to start first, and then gdb has its time."""


async def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of relay_process.py. It has `refused` even so, because Ray itself has not failed."""
    try:
        await WAYS[question["way"]](question, agent_source.injected(question["inject"], question["children"]))
    except Exception as error:
        return {"error": " ".join(str(error).split()) or type(error).__name__, "refused": False}
    return {"ok": True}


async def _by_actor(question: Mapping[str, Any], source: str) -> None:
    await actor_calls.run_in_actor(question["inject"], source)


async def _by_gdb(question: Mapping[str, Any], source: str) -> None:
    """Runs gdb on the worker's node, in a task of its own."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    import ray

    where = NodeAffinitySchedulingStrategy(question["node_id"], soft=False)
    options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": where, "name": "raydap"}
    arguments = json.dumps([question["pid"], question["inject"], source, question["node"]])
    call = ray.remote(task()).options(**options).remote(program(), arguments)
    refusal = await asyncio.wait_for(call, TASK_TIMEOUT_S)
    if refusal:
        raise gdb_injection.InjectionFailed(refusal)


def program() -> str:
    """The program that runs gdb. Nothing of raydap has to be installed on the node."""
    return resources.files("raydap.cluster.injection").joinpath("gdb_injection.py").read_text(encoding="utf-8")


def task() -> Callable[[str, str], str]:
    """The function that runs this program there, with its input; returns why that fails, or "". Ray pickles functions
    of modules by their name, except of __main__."""

    def run(program: str, arguments: str) -> str:
        import subprocess
        import sys

        # Never in this process: gdb stops the worker that is meant. That can be this one, or one in which the same runs
        # for this one; then nobody would let them go.
        command = [sys.executable, "-I", "-S", "-c", program]
        child = subprocess.run(command, input=arguments, capture_output=True, text=True, check=False)
        return child.stdout.strip() or (child.stderr.strip().rpartition("\n")[2] if child.returncode else "")

    run.__module__ = "__main__"
    return run


WAYS: dict[str, Callable[[Mapping[str, Any], str], Awaitable[None]]] = {"actor": _by_actor, "gdb": _by_gdb}
"""The names of the ways (agent_injection.py)."""
