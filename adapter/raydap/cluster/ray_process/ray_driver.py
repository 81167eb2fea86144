"""Becomes a driver of the cluster that is debugged; runs in processes of their own (relay_process.py and others).

Ray's client ends its process when the GCS does not answer, so raydap itself never joins a cluster.
"""

import logging

from raydap.cluster.machine.raylets import raylets
from raydap.tcp_sockets import is_local_address


def join(session: str, name: str) -> None:
    """Becomes a driver of the cluster with this Ray session; `name` is in Ray's list of jobs. Raises RuntimeError if
    the cluster has no node on this machine, because a driver needs one, and whatever ray.init() raises."""
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


def _raylet_options(session: str) -> dict[str, str]:
    """Return the options of a raylet of this session. The list of processes may include those of other containers."""
    for _, options in raylets():
        if options.get("--session-name") == session and is_local_address(options["--node_ip_address"]):
            return options
    raise RuntimeError("raydap's machine has no node of the cluster that belongs to this user or to root")
