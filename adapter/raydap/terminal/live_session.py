"""A session that a terminal command takes part in, with the current state of its workers."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec

from raydap import safe_output
from raydap.analysis.sets.folding import group_name
from raydap.client import joining
from raydap.client.dap_connection import ConnectionEnded
from raydap.client.joining import JoinedSession, SessionTarget
from raydap.cluster.dashboard import dashboard_address
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import shortened
from raydap.protocol.message_base import Arguments, Message
from raydap.protocol.raydap_messages import WorkerEntry, WorkerList
from raydap.terminal.progress import Progress

LIST_TIMEOUT_S = 10.0
"""Seconds within which Ray should list the workers. A loaded dashboard takes one or two."""

ENDED = ("gone", "detached")
"""The states in the last message about a worker, which is then removed from the list."""

_COUNTED = {
    "stopped": ("stopped",),
    "held at a barrier": ("held",),
    "waiting at breakpoint()": ("paused",),
    "attaching": ("attaching",),
    "running": ("running", "alive"),
}
"""The states of workers by their names in `LiveSession.counts`."""

T = TypeVar("T", bound=Message)


def is_idle(entry: WorkerEntry) -> bool:
    """Return whether the worker runs nothing, and Ray keeps it for later tasks."""
    return entry.state == "alive" and entry.type == "worker" and not entry.task and not entry.actor


class LiveSession:
    """A session, and the workers of its cluster. Call `find` and then `begin` before anything else."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = Progress() if progress is None else progress
        """Shows what the command waits for."""
        self.workers: dict[str, WorkerEntry] = {}
        """The workers of the cluster that run, by their keys."""
        self.detached: set[str] = set()
        """The keys of workers that are not listed since raydap has detached from them. Their processes still run."""
        self._began: dict[str, float | None] = {}
        """When the present state of each worker began, by the monotonic clock; None if before this session."""
        self._is_own = False
        self.outage = ""
        """A sentence for the user while the cluster does not answer, else ""."""
        self.listed = asyncio.Event()
        """Set once Ray has listed the workers."""
        self.changed = asyncio.Event()
        """Set at each change. A task that waits for the event clears it."""
        self.ended = asyncio.Event()
        """Set at the end of the session."""
        self.lost = ""
        """Why the connection was lost, if that has ended the session; else ""."""
        self.cluster = ""
        """The dashboard of the cluster, once the session has begun; "" if there is none."""
        self.on_event: Callable[[str, Any], None] = lambda name, body: None
        """Called with the name and the body of each event, after this object has been updated."""
        self.session: JoinedSession

    async def find(self, target: SessionTarget, kept: bool = False) -> None:
        """Find the session that the user means. `kept` is as in joining.find. Raises what joining.find raises."""
        with self.progress.during("looking for the session"):
            self.session = await joining.find(target, self._take_event, self._gone, kept=kept)

    async def make(self) -> None:
        """Make a session of this program's own, even if there are others. Raises SessionError."""
        self.session = await joining.own(self._take_event, self._gone)

    async def begin(
        self, command: str, arguments: Mapping[str, Any], configure: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Begin debugging like Session.begin, and request the list of workers. Raises SessionError."""
        self._is_own = self.session.kind == "own"
        with self.progress.during("looking for the cluster"):
            await self.session.begin(command, arguments, configure)
            await self.list_workers()

    async def list_workers(self) -> None:
        """Request the list of workers, and take the answer before any later event. Raises SessionError."""
        await self.session.connection.request("raydap/workers", {"all": True}, self._take_workers)

    async def wait_listed(self, progress: Progress | None = None) -> bool:
        """Wait until Ray has listed the workers. Return False if that takes longer than LIST_TIMEOUT_S.

        `progress` replaces the session's own. Raises ConnectionEnded if the session ends.
        """
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.listed, self.ended)]
        with (progress or self.progress).during("listing the workers"):
            await asyncio.wait(waiting, timeout=LIST_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()
        if self.ended.is_set():
            raise ConnectionEnded("The session has ended; start the command again.")
        return self.listed.is_set()

    async def ask(self, command: str, arguments: Arguments, answer: type[T]) -> T:
        """Send one of raydap's own requests, and return its answer. Raises SessionError."""
        with self.progress.during("waiting for the workers' answers"):
            return await self.session.connection.ask(command, arguments, answer)

    @property
    def busy(self) -> list[WorkerEntry]:
        """The workers that execute something."""
        return [entry for entry in self.workers.values() if not is_idle(entry)]

    def no_worker_in(self, select: str) -> str:
        """Return the error for a set that contains no worker, with the names of the workers that could be meant."""
        names = group_name(self.busy)
        return f"No worker is in the set {shortened(one_line(select), 80)}. There are: {names or 'only idle workers'}."

    @property
    def counts(self) -> str:
        """How many workers that are not idle are in which state, such as `4 stopped, 61 running`."""
        states = [entry.state for entry in self.busy]
        found = {name: sum(state in kinds for state in states) for name, kinds in _COUNTED.items()}
        parts = [f"{count} {name}" for name, count in found.items() if count or name == "stopped"]
        return ", ".join(parts) + (f"; {self.outage}" if self.outage else "")

    @property
    def debugged(self) -> list[WorkerEntry]:
        """The workers that are attached or about to be.

        The others cannot stop before they are attached, and may belong to other jobs.
        """
        return [entry for entry in self.workers.values() if entry.state != "alive"]

    def age(self, entry: WorkerEntry) -> float | None:
        """Return the seconds since the worker's state began, None if that was before this session.

        `entry.age` does not grow: it is the age at the moment when the session reported the entry.
        """
        began = self._began.get(entry.key, time.monotonic() - entry.age)
        return None if began is None else time.monotonic() - began

    def _take_entry(self, entry: WorkerEntry) -> None:
        """Keep an entry, and when its state began.

        A session of this program's own cannot know that for the states of the first list, which began before it.
        """
        before = self.workers.get(entry.key)
        is_found = self._is_own and not self.listed.is_set()
        is_as_found = before is not None and before.state == entry.state and self._began.get(entry.key, 0.0) is None
        self._began[entry.key] = None if is_found or is_as_found else time.monotonic() - entry.age
        self.workers[entry.key] = entry

    def _take_event(self, name: str, body: Any) -> None:
        if name == "raydap/workersChanged":
            self._take_workers(body)
        elif name == "terminated":
            self._end()
        self.on_event(name, body)

    def _take_workers(self, body: Any) -> None:
        changes = msgspec.convert(body, WorkerList)
        for entry in changes.workers:
            if entry.state in ENDED:
                self.workers.pop(entry.key, None)
                self._began.pop(entry.key, None)
            if entry.state == "detached":
                self.detached.add(entry.key)
            else:
                self.detached.discard(entry.key)
            if entry.state not in ENDED:
                self._take_entry(entry)
        self.outage = changes.outage
        if isinstance(changes.cluster, str):
            self.cluster = changes.cluster
        if changes.complete is True:
            self.listed.set()
        self.changed.set()

    def _gone(self, reason: str) -> None:
        if not self.ended.is_set():
            self.lost = reason
            self._end()

    def _end(self) -> None:
        self.ended.set()
        self.changed.set()


def _chosen_by(environ: Mapping[str, str]) -> str:
    """Return what has chosen the cluster that the command does not name: an environment variable, or a search."""
    source, address = dashboard_address.chosen(None, environ)
    return "found on this machine" if address in (None, "auto") else source.rpartition(" ")[2]


@asynccontextmanager
async def answering(target: SessionTarget, following: str) -> AsyncIterator[LiveSession]:
    """Take part in a session as `looking` does, for a command that prints one answer, and wait for the list of workers.

    If a program reads the answer, such as a coding agent's shell, standard error gets the state of the session before
    it, and the next command, `following`, after it. Raises what `looking` raises, SessionError, and OSError if the
    answer cannot be written.
    """
    is_read = not sys.stdout.isatty()
    async with looking(target) as live:
        await live.wait_listed()
        if is_read:
            safe_output.line(live.counts, error=True)
        yield live
    if is_read:
        # Else the answer comes after this line where both streams go to one pipe.
        sys.stdout.flush()
        safe_output.line(f"Next: {following}", error=True)


@asynccontextmanager
async def looking(target: SessionTarget, progress: Progress | None = None) -> AsyncIterator[LiveSession]:
    """Take part in a session to inspect a cluster, and leave the session at the end.

    A session of this program's own attaches to no worker by itself. `progress` shows long waits; without it, they are
    shown on standard error. Raises what joining.find raises, and SessionError.
    """
    live = LiveSession(Progress.of_command() if progress is None else progress)
    await live.find(target, kept=True)
    try:
        own = {"dashboard": target.dashboard, "autoAttach": False}
        if live.session.debugs and target.dashboard is None:
            # Several clusters may run, and the user has named none of them.
            safe_output.line(f"This is {live.session.name}, which debugs {live.session.debugs}.", error=True)
        await live.begin("attach", {"join": True} if live.session.is_active else own)
        if live.cluster and not live.session.debugs and target.dashboard is None:
            safe_output.line(f"Cluster: {live.cluster} ({_chosen_by(os.environ)})", error=True)
        yield live
    finally:
        await live.session.leave()
