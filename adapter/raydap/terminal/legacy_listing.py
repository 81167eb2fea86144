"""The breakpoints of Ray's old debugger that wait in the cluster of a session."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from raydap.client.dap_connection import SessionError
from raydap.cluster.dashboard import ray_token
from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.legacy.legacy_watch import LegacyWatch
from raydap.cluster.machine import raylets
from raydap.cluster.ray_process.gcs_keys import GcsKeys, KeysUnknown
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.cluster.relay.relay_client import ClusterAccess
from raydap.protocol.types import WorkerKey
from raydap.terminal.live_session import LiveSession
from raydap.terminal.progress import Progress

PAUSE_S = 1.0
"""Seconds between two looks, while there is nothing to see."""

_NO_NODE = "none of the nodes where workers run is this machine, and only there Ray can be asked"


class LegacyListing:
    """Asks Ray, if the cluster has a node on this machine. `looked` is set when that has answered, or cannot; then
    `problem` says why, "" otherwise. `access` is what the relay needs. `on_look` is called after each look. Must be
    closed."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.looked = asyncio.Event()
        self.problem = ""
        self.access: ClusterAccess | None = None
        self.on_look: Callable[[], None] = lambda: None
        self.entries: Mapping[str, str] = {}
        self._environ = environ
        self._live: LiveSession | None = None
        self._watch = LegacyWatch()
        self._next = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def breakpoints(self) -> list[LegacyBreakpoint]:
        """Those of workers that live, in the order in which they began to wait."""
        if not self.entries or self._live is None:
            return []
        workers = {WorkerKey(key): entry for key, entry in self._live.workers.items()}
        return legacy_breakpoints.read_all(self.entries, workers)

    def follow(self, live: LiveSession) -> None:
        """Begins to look, in a task of its own."""
        self._live = live
        self._running = asyncio.ensure_future(self._run(live))

    async def next_look(self) -> None:
        """Returns after the next look. Raises SessionError if there is none."""
        if not self.problem:
            await self._next.wait()
        if self.problem:
            raise SessionError(f"Ray cannot be asked what waits for its old debugger: {self.problem}.")

    def forget(self, key: str) -> None:
        """Removes an entry that Ray has left behind."""
        self._watch.forget(key)

    def drop(self, key: str) -> None:
        """Somebody has just connected there, which the last look does not know."""
        self.entries = {each: text for each, text in self.entries.items() if each != key}

    async def close(self) -> None:
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
        """Looks until it is cancelled. Raises QueryFailed, SessionError and OSError."""
        # The session shows something else meanwhile.
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
        """Returns when there is something to see, or may be: ordinary clusters need no process that asks."""
        keys = GcsKeys(gcs)
        try:
            while not await keys.has_legacy():
                self._take({})
                await asyncio.sleep(PAUSE_S)
        except KeysUnknown:
            pass
        finally:
            keys.close()

    async def _start(self, gcs: str, environ: Mapping[str, str]) -> None:
        """The process that asks, and its first look."""
        await self._watch.close()
        await self._watch.start(gcs, environ)
        self._take(await self._watch.entries())

    def _take(self, entries: Mapping[str, str]) -> None:
        self.entries = entries
        self.looked.set()
        self._next.set()
        self._next = asyncio.Event()
        self.on_look()
