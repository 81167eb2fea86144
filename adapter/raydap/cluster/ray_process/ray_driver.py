"""Becomes a driver of the cluster that is debugged; runs in processes of their own (relay_process.py and others).

Ray's client ends its process when the GCS does not answer, so raydap itself never joins a cluster.
"""

import logging
import os
import socket
from contextlib import suppress
from typing import Any

_PROGRAMS = ("raylet", "raylet.exe")


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

    for process in psutil.process_iter():
        # It may have ended just now.
        with suppress(psutil.Error):
            if not _has_trusted_user(process):
                continue  # Another user's process can make reading its command line last forever.
            command = process.cmdline() or [""]
            options = dict(word.split("=", 1) for word in command[1:] if "=" in word)
            found = os.path.basename(command[0]) in _PROGRAMS and options.get("--session-name") == session
            if found and _is_raylet(process) and _is_local_address(options["--node_ip_address"]):
                return options
    raise RuntimeError("raydap's machine has no node of the cluster that belongs to this user or to root")


def _has_trusted_user(process: Any) -> bool:
    """Return whether a process of psutil belongs to this user or root. Raises psutil.Error."""
    return not hasattr(os, "getuid") or {0, os.getuid()}.issuperset(process.uids())


def _is_raylet(process: Any) -> bool:
    """Return whether a process of this user or root runs the program `raylet`. Raises psutil.Error."""
    import psutil

    try:
        return os.path.basename(process.exe()).partition(" ")[0] in _PROGRAMS
    except psutil.AccessDenied:
        return True  # It is root's.


def _is_local_address(host: str) -> bool:
    """Whether this machine has this address. The list of processes may include other containers."""
    try:
        place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(place[0], place[1]) as probe:
            probe.bind(place[4])
    except OSError:
        return False
    return True
