"""Lists the breakpoints of Ray's old debugger, once or repeatedly: two operations of raydap_process.py.

Source of the entries: ray/util/rpdb.py, _connect_ray_pdb (legacy_breakpoints.py).
"""

import json
import os
import select
from collections.abc import Iterator
from typing import Any

from raydap.cluster.ray_process.ray_driver import gcs_client

POLL_S = 1.0
"""Seconds between two readings. One takes less than 1 ms of the GCS."""

PREFIX = "RAY_PDB_"
"""The beginning of the keys of all entries. Other keys are never deleted."""


def entries(question: dict[str, Any]) -> dict[str, str]:
    """Return the entries of the GCS at `{"address": HOST:PORT}`, as JSON texts by their keys."""
    return read_entries(gcs_client(question["address"]))


def watch(question: dict[str, Any], commands: int = 0) -> Iterator[dict[str, Any]]:
    """Yield `{"entries": ...}` every POLL_S, as `entries` returns them, until `commands` ends.

    `commands` is a descriptor. Its lines are `{"forget": KEY}`, which deletes an unused entry.
    """
    client = gcs_client(question["address"])
    unread = b""
    while True:
        yield {"entries": read_entries(client)}
        if select.select([commands], [], [], POLL_S)[0]:
            data = os.read(commands, 65536)
            if not data:
                return
            *lines, unread = (unread + data).split(b"\n")
            for key in (json.loads(line)["forget"] for line in lines):
                if key.startswith(PREFIX):
                    forget(client, key)


def read_entries(gcs: Any) -> dict[str, str]:
    """Return all entries, as JSON texts by their keys."""
    from ray._private import ray_constants

    namespace = ray_constants.KV_NAMESPACE_PDB
    keys = gcs.internal_kv_keys(PREFIX.encode(), namespace)
    found = {key.decode(): gcs.internal_kv_get(key, namespace) for key in keys if b"_CONTINUE_" not in key}
    # An entry may be gone in the meantime: Ray deletes it when a client connects.
    return {key: text.decode() for key, text in found.items() if text is not None}


def forget(gcs: Any, key: str) -> None:
    """Delete an entry."""
    from ray._private import ray_constants

    gcs.internal_kv_del(key.encode(), False, ray_constants.KV_NAMESPACE_PDB)
