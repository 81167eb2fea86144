"""Becomes a driver of the cluster that is debugged; runs in processes of their own (relay_process.py and others).

Ray's client ends its process when the GCS does not answer, so raydap itself never joins a cluster.
"""

import logging
import os
import socket
from typing import Any


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
    """Return the options of a raylet of this session on this machine (ray/_private/services.py, start_raylet).

    Another user can start any program with the command line of a raylet, and would get this user's token for Ray.
    """
    import psutil  # type: ignore[import-untyped,unused-ignore]  # Ray ships it.

    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or [""]
        options = dict(word.split("=", 1) for word in command[1:] if "=" in word)
        found = os.path.basename(command[0]) in ("raylet", "raylet.exe") and options.get("--session-name") == session
        if found and _is_trusted(process) and _is_local_address(options["--node_ip_address"]):
            return options
    raise RuntimeError("raydap's machine has no node of the cluster that belongs to this user or to root")


def _is_trusted(process: Any) -> bool:
    """Return whether a process of psutil belongs to this user or root and runs the program `raylet`."""
    import psutil

    trusted = False
    try:
        trusted = not hasattr(os, "getuid") or {0, os.getuid()}.issuperset(process.uids())
        return trusted and os.path.basename(process.exe()).partition(" ")[0] in ("raylet", "raylet.exe")
    except psutil.AccessDenied:
        return trusted  # It is root's.
    except psutil.Error:
        return False  # It has ended just now.


def _is_local_address(host: str) -> bool:
    """Whether this machine has this address. The list of processes may include other containers."""
    try:
        place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(place[0], place[1]) as probe:
            probe.bind(place[4])
    except OSError:
        return False
    return True
