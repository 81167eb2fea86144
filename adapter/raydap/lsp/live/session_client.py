"""Takes part in one debug session as an observer, and tells the state of its workers (docs/requests.md)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from raydap.lsp.live.session_state import SessionState, Stop
from raydap.lsp.live.value_texts import Value
from raydap.protocol.raydap_messages import WorkerList
from raydap.runtime.tasks import Tasks
from raydap.transport.peer import Peer
from raydap.wire import envelope
from raydap.wire.envelope import Envelope, EnvelopeError

log = logging.getLogger(__name__)

MAX_LOOKS = 4
"""Stops that are looked into at a time. Hundreds of workers may stop at once; the user's own requests come first."""

Connect = Callable[[Callable[[bytes], None], Callable[[str], None]], Awaitable[Peer]]


class SessionEnded(Exception):
    """The connection is gone, or the session refuses a request. The text says why."""


class SessionClient:
    """Follows one session from `follow` on, until it ends. `changed` is called after each change of `state`."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.state = SessionState()
        self.has_begun = False
        self._changed = changed
        self._peer: Peer | None = None
        self._seq = 0
        self._answers: dict[int, asyncio.Future[Envelope]] = {}
        self._over = asyncio.Event()
        self._looks = Tasks()
        self._free = asyncio.Semaphore(MAX_LOOKS)
        self._read: set[int] = set()

    async def follow(self, connect: Connect) -> None:
        """Waits for the session to begin, and returns when it is over. Raises OSError and SessionEnded."""
        try:
            self._peer = await connect(self._on_message, self._on_gone)
            await self._request("initialize", {"adapterID": "raydap", "clientID": "raydap-lsp", "pathFormat": "path"})
            await self._request("attach", {"role": "observer", "join": True})
            await self._request("configurationDone", {})
            self.has_begun = True
            await self._request("raydap/workers", {})
            await self._over.wait()
        finally:
            if self._peer is not None:
                self._peer.close()
            self._looks.cancel()
            self.has_begun = False
            self._changed()

    async def _request(self, command: str, arguments: dict[str, Any]) -> Any:
        """The body of the answer. Raises SessionEnded."""
        if self._peer is None or self._over.is_set():
            raise SessionEnded("The session is over.")
        self._seq += 1
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self._answers[self._seq] = answer
        self._peer.send(envelope.request(self._seq, command, envelope.dump(arguments)))
        response = await answer
        if not response.success:
            raise SessionEnded(f"{command}: {response.message}")
        return envelope.load(response.body or b"{}")

    def _on_gone(self, reason: str) -> None:
        self._over.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(SessionEnded(reason))
        self._answers.clear()

    def _on_message(self, data: bytes) -> None:
        try:
            message = envelope.read(data)
            if message.type == "response":
                self._on_response(message)
            elif message.type == "event":
                self._on_event(message.event, envelope.load(message.body or b"{}"))
        except (EnvelopeError, msgspec.ValidationError, KeyError, TypeError) as error:
            log.info("language server: a message of a session cannot be read: %r", error)

    def _on_response(self, message: Envelope) -> None:
        answer = self._answers.pop(message.request_seq, None)
        if answer is None or answer.done():
            return
        if message.command == "raydap/workers" and message.success:
            # Now, and not when the answer is awaited: the changes that follow in the same bytes are newer.
            try:
                self._take_workers(envelope.load(message.body or b"{}"))
            except msgspec.ValidationError as error:
                answer.set_exception(SessionEnded(f"raydap/workers: {error}"))
                return
        answer.set_result(message)

    def _on_event(self, name: str, body: Any) -> None:
        if name == "raydap/workersChanged":
            self._take_workers(body)
        elif name == "stopped":
            self._looks.spawn(self._look(body["threadId"]))
        elif name == "continued" or (name == "thread" and body["reason"] == "exited"):
            self.state.forget(body["threadId"])
            self._changed()
        elif name == "terminated":
            self._on_gone("The session is over.")

    def _take_workers(self, body: Any) -> None:
        self.state.take(msgspec.convert(body, WorkerList).workers)
        self._changed()

    async def _look(self, thread: int) -> None:
        """Asks where a thread has stopped. It may run on meanwhile; then there is no answer that counts."""
        count = self.state.expect(thread)
        async with self._free:
            if not self.state.is_expected(thread, count):
                return
            stop = None
            try:
                body = await self._request("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1})
                frame = body["stackFrames"][0]
                stop = Stop(frame["source"]["path"], frame["line"], frame["id"])
            except (SessionEnded, KeyError, IndexError, TypeError) as error:
                log.info("language server: the place of the stop of thread %d cannot be read: %r", thread, error)
        if self.state.put(thread, count, stop):
            self._changed()

    def read_values(self, thread: int, stop: Stop) -> None:
        """Asks for the values of the variables at a stop, once."""
        count = self.state.number(thread)
        if count not in self._read:
            self._read.add(count)
            self._looks.spawn(self._read_values(thread, count, stop))

    async def _read_values(self, thread: int, count: int, stop: Stop) -> None:
        values: dict[str, Value] = {}
        async with self._free:
            if not self.state.is_expected(thread, count):
                return
            try:
                scopes = (await self._request("scopes", {"frameId": stop.frame}))["scopes"]
                # The first scope is that of the function's own variables.
                reference = scopes[0]["variablesReference"]
                found = (await self._request("variables", {"variablesReference": reference}))["variables"]
                values = {one["name"]: Value(one["value"], one.get("type", "")) for one in found}
            except (SessionEnded, KeyError, IndexError, TypeError) as error:
                log.info("language server: the values at %s:%d cannot be read: %r", stop.path, stop.line, error)
        if self.state.put_values(thread, count, values):
            self._changed()
