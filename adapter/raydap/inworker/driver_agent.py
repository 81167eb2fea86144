"""When a raydap can debug a driver: before its first line if it waits, and once it has joined a cluster; runs there."""

import os
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The files of an agent are run one after the other in one module, so these names are there.
    from raydap.inworker.agent import start, start_without_socket
    from raydap.inworker.raydap_calls import call_raydaps

WAIT_INTERVAL_S = 0.2
"""Seconds between two calls of a program that waits for a raydap."""


def wait_for_raydap(folder: str, identity: dict[str, Any]) -> str:
    """Returns when a raydap debugs this process, and has set its breakpoints; its path. `folder` is the user's own,
    because it is not known yet which cluster the program joins."""
    agent = start_without_socket(folder, {**identity, "waits": True})

    def call(path: str) -> bool:
        try:
            return agent.call(path)
        except OSError:
            # Nothing is removed here: machines may share the folder, and a raydap of another one refuses, too.
            return False

    while not (raydap := call_raydaps(call, folder)):
        time.sleep(WAIT_INTERVAL_S)
    agent.raydap = raydap
    return raydap


def join_session() -> None:
    """Lets raydap reach the driver beside its workers, when `ray.init` has joined a cluster or started one."""
    import ray

    worker: Any = ray._private.worker.global_worker
    if worker.mode != ray.SCRIPT_MODE:
        return  # A client of `ray://` has no session on this machine.
    context = ray.get_runtime_context()
    identity = {
        "worker_id": context.get_worker_id(),
        "node_id": context.get_node_id(),
        "node_ip": worker.node_ip_address,
        "worker_type": "DRIVER",
    }
    start(os.path.join(worker.node.get_session_dir_path(), "sockets"), identity, "")
