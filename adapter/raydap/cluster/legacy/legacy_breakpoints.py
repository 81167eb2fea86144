"""The breakpoints of a cluster that runs with RAY_DEBUG=legacy: each is a pdb that waits at a socket.

For each breakpoint Ray keeps an entry in the key-value store of its GCS, `RAY_PDB_` and a random number, until a client
has connected (ray/util/rpdb.py, _connect_ray_pdb; `ray debug` in ray/scripts/scripts.py reads the entries, too). pdb
accepts one client, and speaks lines of text. Never open a probe connection: the task ends with an error when the
connection does (inworker/safe_pdb.py).

The commands `remote` and `get` of this pdb let another process wait under the same key. If a task ends without the call
that `remote` waits for, an entry with `exit_debugger` replaces the entry, and stays.
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


class LiveProcess(Protocol):
    """The facts about a live worker that an entry does not contain."""

    @property
    def pid(self) -> int:
        """Return the process id."""

    @property
    def node(self) -> str:
        """Return the name of the node for users."""

    @property
    def node_id(self) -> str:
        """Return Ray's hex id of the node."""


class LegacyBreakpoint(msgspec.Struct, frozen=True):
    """A breakpoint or post mortem where a worker waits."""

    key: str
    """The key of the entry, which is gone once a client has connected."""
    worker: WorkerKey
    """The key of the worker that waits."""
    name: str
    """The function or method that the worker runs."""
    job: str
    """Ray's id of the job; "" if the entry lacks it."""
    node_id: str
    """Ray's hex id of the worker's node."""
    node: str
    """The name of the worker's node for users."""
    pid: int
    """The worker's process id; 0 if Ray does not report it."""
    task_id: str
    """Ray's id of the task; "" without one."""
    actor_id: str
    """Ray's id of the actor; "" without one."""
    path: str
    """The file where the worker waits, or where it has failed."""
    line: int
    """The line in `path`, counted from 1."""
    traceback: str
    """The traceback of a post mortem; "" for a `breakpoint()`."""
    since: float
    """The time at which the wait began, in seconds since the epoch."""
    host: str
    """Where pdb waits, as seen on the worker's node: the node's loopback unless `external` is true."""
    port: int
    """The TCP port at which pdb waits."""
    external: bool
    """Whether other machines reach pdb at this address, too (`--ray-debugger-external`)."""

    @property
    def is_led(self) -> bool:
        """Return whether the task waits here because of `remote` or `get` in another pdb.

        Then `path` is a file of Ray, and no breakpoint of the user is known to be here.
        """
        return not self.traceback and _RAYS in self.path

    @property
    def error(self) -> str:
        """Return the exception of a post mortem in one line; "" for a `breakpoint()`."""
        frames = list(_FRAME.finditer(self.traceback))
        found = _EXCEPTION.search(self.traceback, frames[-1].end() if frames else 0)
        return found[0].strip() if found else ""


async def find(
    address: str, environ: Mapping[str, str], workers: Mapping[WorkerKey, LiveProcess]
) -> list[LegacyBreakpoint]:
    """Return the breakpoints in the GCS at `address` (host:port), sorted by time.

    `workers` are all live workers: others have left their entries behind. Raises QueryFailed if Ray does not answer,
    and OSError.
    """
    return read_all(await query("legacy", {"address": address}, environ, QUERY_TIMEOUT_S), workers)


def read_all(entries: Mapping[str, str], workers: Mapping[WorkerKey, LiveProcess]) -> list[LegacyBreakpoint]:
    """Return the breakpoints of entries, sorted by time. `entries` are the texts by their keys."""
    found = [read(key, text, workers) for key, text in entries.items()]
    return sorted((one for one in found if one is not None), key=lambda one: one.since)


def read(key: str, text: str, workers: Mapping[WorkerKey, LiveProcess]) -> LegacyBreakpoint | None:
    """Return the breakpoint of one entry; None if its worker has ended, or if the entry is malformed."""
    try:
        entry: dict[str, Any] = json.loads(text)
        worker_key = WorkerKey(str(entry["worker_id"]))
        worker = workers.get(worker_key)
        host, _, port = str(entry["pdb_address"]).rpartition(":")
        if worker is None:
            return None
        traceback = str(entry["traceback"]) if _is_post_mortem(str(entry["traceback"])) else ""
        # For a post mortem the entry has a line of Ray's own code. The last frame of the traceback is where the task
        # failed.
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
    """Return whether this entry reports that the call for which `remote` waits will never come."""
    try:
        return "exit_debugger" in json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False


def _is_post_mortem(traceback: str) -> bool:
    """Return whether this is the traceback of a post mortem.

    A breakpoint() in an `except` has a traceback, too: that of the exception that is handled there. An exception that
    fails a task has passed through the function of Ray that runs the task.
    """
    return any(path.endswith("_raylet.pyx") for path in _FIRST_FRAMES.findall(traceback))
