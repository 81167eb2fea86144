"""The breakpoints of a cluster that runs with RAY_DEBUG=legacy: each is a pdb that waits at a socket.

Ray keeps one entry for each in the key-value store of its GCS, `RAY_PDB_` and a random number, until somebody has
connected (ray/util/rpdb.py, _connect_ray_pdb; `ray debug` in ray/scripts/scripts.py reads them, too). pdb takes one
client, and speaks lines of text. Never connect to look: the worker runs on when the connection ends.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from raydap.cluster import ray_query
from raydap.core.events import PausedWorker
from raydap.protocol.types import WorkerKey

QUERY_TIMEOUT_S = 15.0

_NO_TRACEBACK = "NoneType: None"
"""What Python's traceback module writes of no exception."""

_FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)


class LegacyBreakpoint(msgspec.Struct, frozen=True):
    """One that waits. `name` is what the worker runs, `task_id` and `actor_id` are Ray's, "" without one. `traceback`
    is that of a post mortem, "" for a `breakpoint()`; `path` and `line` are where it stands. `since` is in seconds
    since the epoch.

    pdb waits at `host` and `port`, as seen on the worker's node. `external`: other machines reach it there, too
    (`--ray-debugger-external`). Otherwise `host` is the node's loopback. `key` is the entry's, which is gone when
    somebody has connected.
    """

    key: str
    worker: WorkerKey
    name: str
    job: str
    node_id: str
    node: str
    pid: int
    task_id: str
    actor_id: str
    path: str
    line: int
    traceback: str
    since: float
    host: str
    port: int
    external: bool


async def find(
    address: str, environ: Mapping[str, str], workers: Mapping[WorkerKey, PausedWorker]
) -> list[LegacyBreakpoint]:
    """Asks the GCS at `address` (host:port). `workers` are those that live: others have left their entries behind.

    Sorted by time. Raises QueryFailed if Ray does not answer, and OSError.
    """
    entries = await ray_query.query({"legacy_breakpoints": address}, environ, QUERY_TIMEOUT_S)
    found = [read(key, text, workers) for key, text in entries.items()]
    return sorted((one for one in found if one is not None), key=lambda one: one.since)


def read(key: str, text: str, workers: Mapping[WorkerKey, PausedWorker]) -> LegacyBreakpoint | None:
    """One entry; None if its worker has ended, or if it is none of Ray's."""
    try:
        entry: dict[str, Any] = json.loads(text)
        worker = workers.get(WorkerKey(str(entry["worker_id"])))
        host, _, port = str(entry["pdb_address"]).rpartition(":")
        if worker is None:
            return None
        traceback = "" if str(entry["traceback"]).startswith(_NO_TRACEBACK) else str(entry["traceback"])
        # For a post mortem the entry has a line of Ray's own. The last frame of the traceback is where it failed.
        frames = _FRAME.findall(traceback)
        path, line = frames[-1] if frames else (entry["filename"], entry["lineno"])
        is_local = host == "localhost"
        return LegacyBreakpoint(
            key=key,
            worker=worker.key,
            name=str(entry.get("proctitle") or "").removeprefix("ray::"),
            job=str(entry.get("job_id") or ""),
            node_id=worker.node_id,
            node=worker.node,
            pid=worker.pid,
            task_id=str(entry.get("task_id") or ""),
            actor_id=str(entry.get("actor_id") or ""),
            path=str(path),
            line=int(line),
            traceback=traceback,
            since=float(entry.get("timestamp") or 0.0),
            host="127.0.0.1" if is_local else host.strip("[]"),
            port=int(port),
            external=not is_local,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
