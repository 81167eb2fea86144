"""The breakpoints of Ray's old debugger where workers of a session's cluster wait."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from raydap.client.dap_connection import SessionError
from raydap.cluster.dashboard import ray_token
from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.legacy.legacy_watch import LegacyWatch
from raydap.cluster.ray_process.gcs_keys import GcsKeys, KeysUnknown
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.inworker import raylets
from raydap.protocol.types import WorkerKey
from raydap.terminal.live_session import LiveSession
from raydap.terminal.progress import Progress

PAUSE_S = 1.0
"""Seconds between two checks while the cluster has no worker, or no entry of the old debugger."""

_NO_NODE = "no worker of this cluster runs on this machine, and raydap can query Ray only on such a machine"


class LegacyListing:
    """A list of these breakpoints, which a task keeps current. Must be closed.

    Ray can be queried only if the cluster has a node on this machine.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.looked = asyncio.Event()
        """Set after the first reading, or once `problem` is set."""
        self.problem = ""
        """Why Ray cannot be queried, for users; "" as long as no query has failed."""
        self.access: ClusterAccess | None = None
        """The argument for the relay; None until Ray has been queried."""
        self.on_look: Callable[[], None] = lambda: None
        """Called after each reading."""
        self.entries: Mapping[str, str] = {}
        """Ray's entries by their keys (legacy_breakpoints.py), including those of workers that have ended."""
        self._environ = environ
        self._live: LiveSession | None = None
        self._watch = LegacyWatch()
        self._next = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def breakpoints(self) -> list[LegacyBreakpoint]:
        """The breakpoints of live workers, in the order in which the workers began to wait."""
        if not self.entries or self._live is None:
            return []
        workers = {WorkerKey(key): entry for key, entry in self._live.workers.items()}
        return legacy_breakpoints.read_all(self.entries, workers)

    def follow(self, live: LiveSession) -> None:
        """Start the task that keeps the list current. Call it after `live.begin`."""
        self._live = live
        self._running = asyncio.ensure_future(self._run(live))

    async def next_look(self) -> None:
        """Return after the next reading. Raises SessionError if Ray cannot be queried."""
        if not self.problem:
            await self._next.wait()
        if self.problem:
            raise SessionError(f"Cannot list the breakpoints of Ray's old debugger: {self.problem}.")

    def forget(self, key: str) -> None:
        """Delete an entry that Ray has left behind in the cluster."""
        self._watch.forget(key)

    def drop(self, key: str) -> None:
        """Remove an entry from the list, because a client has connected to its pdb since the last reading."""
        self.entries = {each: text for each, text in self.entries.items() if each != key}

    async def close(self) -> None:
        """Cancel the task, and end the process that queries Ray."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
        await self._watch.close()

    async def _run(self, live: LiveSession) -> None:
        try:
            await self._look(live)
        except (QueryFailed, SessionError, OSError) as error:
            self.problem = str(error)
        finally:
            self._take({})

    async def _look(self, live: LiveSession) -> None:
        """Read the entries until cancelled. Raises QueryFailed, SessionError and OSError."""
        # This wait shows no progress, because the session shows its own at the same time.
        while not await live.wait_listed(Progress()):
            pass
        while not (nodes := {entry.node_id for entry in live.workers.values() if entry.node_id}):
            self._take({})
            await asyncio.sleep(PAUSE_S)
        cluster = await asyncio.to_thread(raylets.cluster_of, nodes)
        if cluster is None:
            raise QueryFailed(_NO_NODE)
        session, gcs = cluster
        await self._wait_any(gcs)
        environ = self._environ
        try:
            await self._start(gcs, environ)
        except QueryFailed as failure:
            # ray/exceptions.py: Ray raises AuthenticationError for a missing token.
            if "AuthenticationError" not in str(failure) or ray_token.find(environ) is None:
                raise
            environ = ray_token.with_token_mode(environ)
            await self._start(gcs, environ)
        self.access = ClusterAccess(session, environ)
        while True:
            self._take(await self._watch.entries())

    async def _wait_any(self, gcs: str) -> None:
        """Return when the GCS has an entry of the old debugger, or when that cannot be checked.

        Clusters that do not use the old debugger thus need no process that queries Ray.
        """
        keys = GcsKeys(gcs, lambda: ray_token.find(self._environ))
        try:
            while not await keys.has_legacy():
                self._take({})
                await asyncio.sleep(PAUSE_S)
        except KeysUnknown:
            pass
        finally:
            keys.close()

    async def _start(self, gcs: str, environ: Mapping[str, str]) -> None:
        """Start the process that queries Ray, and take its first reading. Raises QueryFailed and OSError."""
        await self._watch.close()
        await self._watch.start(gcs, environ)
        self._take(await self._watch.entries())

    def _take(self, entries: Mapping[str, str]) -> None:
        self.entries = entries
        self.looked.set()
        self._next.set()
        self._next = asyncio.Event()
        self.on_look()
