"""Queries a GCS, or joins the debugged cluster as a driver; runs in processes of their own (raydap_process.py).

Ray's client ends its process when the GCS does not answer, so raydap itself never joins a cluster.
"""

import logging
import socket
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from raydap.inworker.raylets import raylets
from raydap.tcp_sockets import is_local_address

_CONNECT_TIMEOUT_S = 3.0


def gcs_client(address: str) -> Any:
    """Return Ray's client of the GCS at `host:port`. Raises OSError if nothing listens there."""
    # Ray's client would retry for a minute if nothing listens.
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT_S).close()

    from ray._raylet import GcsClient  # type: ignore[attr-defined,unused-ignore]  # It is compiled.

    return GcsClient(address=address)


def join(session: str, name: str) -> None:
    """Join the cluster with this Ray session as a driver. Ray's list of jobs shows `name`.

    Raises RuntimeError if the cluster has no node on this machine, because a driver needs one, and the exceptions of
    ray.init().
    """
    from ray.job_config import JobConfig

    import ray

    options = _raylet_options(session)
    ray.init(
        address=options["--gcs-address"],
        job_config=JobConfig(metadata={"job_name": name}),
        _node_ip_address=options["--node_ip_address"],
        log_to_driver=False,
        logging_level=logging.ERROR,
    )


def on_node(node_id: str) -> dict[str, Any]:
    """Return the options of an actor or a task on the node with this Ray id, which takes no CPU from others."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node_id, soft=False)}


def start_actor(node_id: str, kind: type, by_value: Iterable[ModuleType]) -> Any:
    """Start an actor on the node and return its handle.

    The modules travel along, because raydap need not be installed there.
    """
    import ray

    for module in by_value:
        ray.cloudpickle.register_pickle_by_value(module)
    return ray.remote(kind).options(max_restarts=0, **on_node(node_id)).remote()


def _raylet_options(session: str) -> dict[str, str]:
    """Return the options of a raylet of this session. The list of processes may include those of other containers."""
    for _, options in raylets():
        if options.get("--session-name") == session and is_local_address(options["--node_ip_address"]):
            return options
    raise RuntimeError("no node of the cluster runs on raydap's machine as this user or as root")
