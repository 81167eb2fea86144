"""The clusters of this user that have a node on this machine, as JSON for the Ray view of VS Code; runs without Ray."""

import json
import os
import re
import select
from collections.abc import Callable, Mapping
from pathlib import Path

from raydap.inworker import raylets

INTERVAL_S = 2.0
"""Seconds between two looks. A look reads the command line of each process, 5 ms for 300 processes (measured)."""


def dashboard_of(options: Mapping[str, str]) -> str | None:
    """Return the URL of the dashboard from a raylet's options; None if they do not contain it, as in Ray 2.39."""
    # An option has the command line of workers, which contains the dashboard as host:port.
    found = re.search(r" --webui=(\S+:\d+)( |$)", options.get("--python_worker_command", ""))
    return None if found is None else f"http://{found[1]}"


def own_clusters(proc: Path = raylets.PROC) -> list[str]:
    """Return the addresses of the clusters: the URL of the dashboard, or the GCS as `host:port`."""
    found = {}
    for pid, options in raylets.raylets(proc):
        # Without /proc, the user of a raylet is not known; it is this user or root.
        is_own = not proc.is_dir() or os.getuid() in raylets.user_ids(f"{proc}/{pid}")
        if is_own and "--gcs-address" in options:
            found[options["--gcs-address"]] = dashboard_of(options) or options["--gcs-address"]
    return sorted(found.values())


def follow(write: Callable[[str], None], descriptor: int = 0, look: Callable[[], list[str]] = own_clusters) -> None:
    """Write the addresses as a line of JSON, and again after each change, until the descriptor has ended."""
    last = None
    while True:
        found = look()
        if found != last:
            write(json.dumps(found))
            last = found
        if select.select([descriptor], [], [], INTERVAL_S)[0] and not os.read(descriptor, 4096):
            return
