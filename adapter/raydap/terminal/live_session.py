"""A session that a command of the terminal takes part in, and its workers as they are now."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec

from raydap import safe_output
from raydap.client import joining
from raydap.client.dap_connection import ConnectionEnded
from raydap.client.joining import Session, Target
from raydap.cluster.dashboard import dashboard_address
from raydap.protocol.message_base import Arguments, Message
from raydap.protocol.raydap_messages import WorkerEntry, WorkerList
from raydap.terminal.progress import Progress

LIST_TIMEOUT_S = 10.0
"""Seconds for Ray to say who runs. A dashboard that is loaded takes one or two."""

ENDED = ("gone", "detached")
"""The states of the last messages about a worker that is not listed any more."""

T = TypeVar("T", bound=Message)


def is_idle(entry: WorkerEntry) -> bool:
    """Ray keeps such a worker for later; it runs nothing."""
    return entry.state == "alive" and entry.type == "worker" and not entry.task and not entry.actor


class LiveSession:
    """`workers` are those of the cluster that run, by their keys; `listed` is set once Ray has said who they are.
    `changed` is set at each change, and cleared by who waits for it. `ended` is set at the end of the session; `lost`
    says then why the connection was lost, if that has ended it. `on_event` gets all events, after their effect here.
    `progress` says what is waited for."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = Progress() if progress is None else progress
        self.workers: dict[str, WorkerEntry] = {}
        self.detached: set[str] = set()
        """The keys of workers that raydap has detached from and that are not listed since. Their processes live."""
        self._began: dict[str, float | None] = {}
        self._is_own = False
        self.outage = ""
        self.listed = asyncio.Event()
        self.changed = asyncio.Event()
        self.ended = asyncio.Event()
        self.lost = ""
        self.cluster = ""
        """The dashboard of the cluster, once the session has begun; "" if there is none."""
        self.on_event: Callable[[str, Any], None] = lambda name, body: None
        self.session: Session

    async def find(self, target: Target) -> None:
        """Finds the session that the user means. Raises what joining.find raises."""
        with self.progress.during("looking for the session"):
            self.session = await joining.find(target, self._take_event, self._gone)

    async def begin(
        self, command: str, arguments: Mapping[str, Any], configure: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Like Session.begin, with the list of workers. Raises SessionError."""
        self._is_own = self.session.kind == "own"
        with self.progress.during("looking for the cluster"):
            await self.session.begin(command, arguments, configure)
            await self.session.connection.request("raydap/workers", {"all": True}, self._take_workers)

    async def wait_listed(self, progress: Progress | None = None) -> bool:
        """Whether Ray has said in time who runs. `progress` takes the place of the session's own. Raises
        ConnectionEnded."""
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.listed, self.ended)]
        with (progress or self.progress).during("asking Ray who runs"):
            await asyncio.wait(waiting, timeout=LIST_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()
        if self.ended.is_set():
            raise ConnectionEnded("The session has ended; start the command again.")
        return self.listed.is_set()

    async def ask(self, command: str, arguments: Arguments, answer: type[T]) -> T:
        """One of raydap's own requests. Raises SessionError."""
        with self.progress.during("asking the workers"):
            return await self.session.connection.ask(command, arguments, answer)

    @property
    def busy(self) -> list[WorkerEntry]:
        """Those that run something."""
        return [entry for entry in self.workers.values() if not is_idle(entry)]

    @property
    def debugged(self) -> list[WorkerEntry]:
        """Those that are attached or about to be. All others can stop only after that, and may be of other jobs."""
        return [entry for entry in self.workers.values() if entry.state != "alive"]

    def age(self, entry: WorkerEntry) -> float | None:
        """Seconds since its state began, None if that was before this session. The entry's own age is that of the
        moment when the session told of it."""
        began = self._began.get(entry.key, time.monotonic() - entry.age)
        return None if began is None else time.monotonic() - began

    def _take_entry(self, entry: WorkerEntry) -> None:
        """A session of our own finds states that it has not seen begin."""
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
        told = msgspec.convert(body, WorkerList)
        for entry in told.workers:
            if entry.state in ENDED:
                self.workers.pop(entry.key, None)
                self._began.pop(entry.key, None)
            if entry.state == "detached":
                self.detached.add(entry.key)
            else:
                self.detached.discard(entry.key)
            if entry.state not in ENDED:
                self._take_entry(entry)
        self.outage = told.outage
        if isinstance(told.cluster, str):
            self.cluster = told.cluster
        if told.complete is True:
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
    """Return what has chosen the cluster of a session of raydap's own if the command names none."""
    source, address = dashboard_address.chosen(None, environ)
    return "found on this machine" if address in (None, "auto") else source.rpartition(" ")[2]


@asynccontextmanager
async def looking(target: Target, progress: Progress | None = None) -> AsyncIterator[LiveSession]:
    """A session for a look at a cluster, which attaches to no worker by itself; left at the end. What takes long is
    said on the terminal, by `progress` if there is one already. Raises what joining.find raises, and SessionError."""
    live = LiveSession(Progress.of_command() if progress is None else progress)
    await live.find(target)
    try:
        own = {"dashboard": target.dashboard, "autoAttach": False}
        if live.session.debugs and target.dashboard is None:
            # Several clusters may run, and none was named here.
            safe_output.line(f"This is {live.session.name}, which debugs {live.session.debugs}.", error=True)
        await live.begin("attach", {"join": True} if live.session.is_active else own)
        if live.cluster and not live.session.debugs and target.dashboard is None:
            safe_output.line(f"Cluster: {live.cluster} ({_chosen_by(os.environ)})", error=True)
        yield live
    finally:
        await live.session.leave()
