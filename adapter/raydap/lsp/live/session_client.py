"""An observer of one debug session, which keeps the state of its workers (docs/requests.md)."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from raydap.client.dap_connection import Connect, DapConnection, SessionError
from raydap.lsp.live.session_state import SessionState, StopPlace
from raydap.lsp.live.value_texts import Value
from raydap.protocol.raydap_messages import WorkerList
from raydap.tasks import Tasks

log = logging.getLogger(__name__)

MAX_LOOKS = 4
"""The number of stops that are read at a time. Hundreds of workers may stop together, and the user's own requests must
not wait for them."""


class SessionClient:
    """The client of one session. `changed` is called after each change of `state` and at the end of the session."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.state = SessionState()
        self.has_begun = False
        """Whether the client takes part in the session now."""
        self._changed = changed
        self._connection = DapConnection(self._on_event, lambda _: self._over.set())
        self._over = asyncio.Event()
        self._looks = Tasks()
        self._free = asyncio.Semaphore(MAX_LOOKS)
        self._read: set[int] = set()

    async def follow(self, connect: Connect) -> None:
        """Connect to the session, wait until it begins, and return when it is over.

        Raises OSError, ProblemError and SessionError.
        """
        request = self._connection.request
        try:
            await self._connection.open(connect)
            await request("initialize", {"adapterID": "raydap", "clientID": "raydap-lsp", "pathFormat": "path"})
            await request("attach", {"role": "observer", "join": True})
            await request("configurationDone")
            self.has_begun = True
            await request("raydap/workers", take=self._take_workers)
            await self._over.wait()
        finally:
            self._connection.close()
            self._looks.cancel()
            self.has_begun = False
            self._changed()

    def _on_event(self, name: str, body: Any) -> None:
        if name == "raydap/workersChanged":
            self._take_workers(body)
        elif name == "stopped":
            self._looks.spawn(self._look(body["threadId"]))
        elif name == "continued" or (name == "thread" and body["reason"] == "exited"):
            self.state.forget(body["threadId"])
            self._changed()
        elif name == "terminated":
            self._over.set()

    def _take_workers(self, body: Any) -> None:
        self.state.take(msgspec.convert(body, WorkerList).workers)
        self._changed()

    async def _look(self, thread: int) -> None:
        """Request the place of a stopped thread. The answer is dropped if the thread has been resumed by then."""
        count = self.state.expect(thread)
        async with self._free:
            if not self.state.is_expected(thread, count):
                return
            stop = None
            try:
                body = await self._connection.request("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1})
                frame = body["stackFrames"][0]
                stop = StopPlace(frame["source"]["path"], frame["line"], frame["id"])
            except (SessionError, KeyError, IndexError, TypeError) as error:
                log.info("language server: cannot read where thread %d stopped: %r", thread, error)
        if self.state.put(thread, count, stop):
            self._changed()

    def read_values(self, thread: int, stop: StopPlace) -> None:
        """Request the values of the variables at a stop, unless they have been requested already."""
        count = self.state.number(thread)
        if count not in self._read:
            self._read.add(count)
            self._looks.spawn(self._read_values(thread, count, stop))

    async def _read_values(self, thread: int, count: int, stop: StopPlace) -> None:
        values: dict[str, Value] = {}
        async with self._free:
            if not self.state.is_expected(thread, count):
                return
            try:
                scopes = (await self._connection.request("scopes", {"frameId": stop.frame}))["scopes"]
                # The first scope contains the function's own variables.
                reference = scopes[0]["variablesReference"]
                found = (await self._connection.request("variables", {"variablesReference": reference}))["variables"]
                values = {one["name"]: Value(one["value"], one.get("type", "")) for one in found}
            except (SessionError, KeyError, IndexError, TypeError) as error:
                log.info("language server: cannot read the values at %s:%d: %r", stop.path, stop.line, error)
        if self.state.put_values(thread, count, values):
            self._changed()
