"""Finds what a raylet of this machine knows of its cluster, without asking the cluster."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from raydap.cluster.machine.session_sockets import raylets


@dataclass(frozen=True, slots=True)
class LocalRaylet:
    """The name of the cluster's Ray session, and the address of its GCS (host:port)."""

    session: str
    gcs: str


def find(nodes: Collection[str], proc: Path = Path("/proc")) -> LocalRaylet | None:
    """That of one of these nodes, by Ray's hex ids; None if none of them runs here. Reads files, so it does not belong
    into an event loop. Source: ray/_private/services.py, start_raylet."""
    for _, words in raylets(proc):
        options = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
        if options.get("--node_id") in nodes and "--session-name" in options and "--gcs-address" in options:
            return LocalRaylet(options["--session-name"], options["--gcs-address"])
    return None
