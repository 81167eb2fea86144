"""The breakpoints of a cluster that runs with RAY_DEBUG=legacy: each is a pdb that waits at a socket.

Ray keeps one entry for each in the key-value store of its GCS, `RAY_PDB_` and a random number, until somebody has
connected (ray/util/rpdb.py, _connect_ray_pdb; `ray debug` in ray/scripts/scripts.py reads them, too). pdb takes one
client, and speaks lines of text. Never connect to look: the task ends with an error when the connection does
(inworker/safe_pdb.py).

Its commands `remote` and `get` let another process wait under the same key. If a task ends without the call that
`remote` waits for, an entry with `exit_debugger` takes the place, and stays.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from raydap.cluster.ray_process.ray_query import query
from raydap.protocol.types import WorkerKey

QUERY_TIMEOUT_S = 15.0

_FRAME = re.compile(r'^[ |]*File "(.+)", line (\d+)', re.MULTILINE)

_FIRST_FRAMES = re.compile(r'Traceback \(most recent call last\):\s+[ |]*File "(.+)", line \d+')

_EXCEPTION = re.compile(r"^[^\s|].*", re.MULTILINE)

_RAYS = "/ray/_private/"
"""Part of the paths of Ray's own files."""


class Process(Protocol):
    """Of a worker that lives, what an entry does not say."""

    @property
    def pid(self) -> int: ...

    @property
    def node(self) -> str: ...

    @property
    def node_id(self) -> str: ...


class LegacyBreakpoint(msgspec.Struct, frozen=True):
    """One that waits. `name` is what the worker runs, `task_id` and `actor_id` are Ray's, "" without one. `traceback`
    is that of a post mortem, "" for a `breakpoint()`; `path` and `line` are where it stands. `since` is in seconds
    since the epoch. `error` is the exception of a post mortem in one line.

    pdb waits at `host` and `port`, as seen on the worker's node. `external`: other machines reach it there, too
    (`--ray-debugger-external`). Otherwise `host` is the node's loopback. `key` is the entry's, which is gone when
    somebody has connected. With `is_led` nothing of the user's is known to wait there: `remote` or `get` of another pdb
    has led there, and `path` is a file of Ray's.
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

    @property
    def is_led(self) -> bool:
        return not self.traceback and _RAYS in self.path

    @property
    def error(self) -> str:
        frames = list(_FRAME.finditer(self.traceback))
        found = _EXCEPTION.search(self.traceback, frames[-1].end() if frames else 0)
        return found[0].strip() if found else ""


async def find(
    address: str, environ: Mapping[str, str], workers: Mapping[WorkerKey, Process]
) -> list[LegacyBreakpoint]:
    """Asks the GCS at `address` (host:port). `workers` are those that live: others have left their entries behind.

    Sorted by time. Raises QueryFailed if Ray does not answer, and OSError.
    """
    return read_all(await query("legacy", {"address": address}, environ, QUERY_TIMEOUT_S), workers)


def read_all(entries: Mapping[str, str], workers: Mapping[WorkerKey, Process]) -> list[LegacyBreakpoint]:
    """Of keys of entries and their texts; sorted by time."""
    found = [read(key, text, workers) for key, text in entries.items()]
    return sorted((one for one in found if one is not None), key=lambda one: one.since)


def read(key: str, text: str, workers: Mapping[WorkerKey, Process]) -> LegacyBreakpoint | None:
    """One entry; None if its worker has ended, or if it is none of Ray's."""
    try:
        entry: dict[str, Any] = json.loads(text)
        worker_key = WorkerKey(str(entry["worker_id"]))
        worker = workers.get(worker_key)
        host, _, port = str(entry["pdb_address"]).rpartition(":")
        if worker is None:
            return None
        traceback = str(entry["traceback"]) if _is_post_mortem(str(entry["traceback"])) else ""
        # For a post mortem the entry has a line of Ray's own. The last frame of the traceback is where it failed.
        frames = _FRAME.findall(traceback)
        path, line = frames[-1] if frames else (entry["filename"], entry["lineno"])
        is_local = host == "localhost"
        return LegacyBreakpoint(
            key=key,
            worker=worker_key,
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


def ends_debugger(text: str) -> bool:
    """Whether this entry says that the call never came that `remote` waits for."""
    try:
        return "exit_debugger" in json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False


def _is_post_mortem(traceback: str) -> bool:
    """Not every traceback is one: a breakpoint() in an `except` has that of the exception that is handled there. What
    fails a task has come through the function of Ray's that runs it."""
    return any(path.endswith("_raylet.pyx") for path in _FIRST_FRAMES.findall(traceback))
