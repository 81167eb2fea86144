"""A client's side of a debug session over one connection: requests with their answers, and events."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from raydap.protocol.message_base import Message
from raydap.transport.peer import Peer
from raydap.wire import envelope
from raydap.wire.envelope import Body, Envelope, EnvelopeError

log = logging.getLogger(__name__)

Connect = Callable[[Callable[[bytes], None], Callable[[str], None]], Awaitable[Peer]]
"""A function that connects to a session. Raises OSError and ProblemError.

Its arguments are the two callbacks of transport.peer.Peer.
"""

T = TypeVar("T", bound=Message)


class SessionError(Exception):
    """A request got no usable answer. The text is the reason, for users."""


_UNREADABLE = (EnvelopeError, LookupError, TypeError, ValueError, RecursionError)
"""Exceptions from reading a message that is malformed or nested too deeply. msgspec's errors are ValueErrors."""


class ConnectionEnded(SessionError):
    """The connection has ended."""


class RequestRefused(SessionError):
    """The session refused a request. `code` is the number of raydap's error (errors.py), 0 for any other error."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class DapConnection:
    """Numbers requests, and matches each answer with its request. Must be closed.

    `on_event` gets the name and the body of each event. `on_gone` gets the reason if the other side ends the
    connection. A message that cannot be read is logged and dropped, also if `on_event` fails to read its body.
    """

    def __init__(self, on_event: Callable[[str, Any], None], on_gone: Callable[[str], None]) -> None:
        self._on_event = on_event
        self._on_gone = on_gone
        self._peer: Peer | None = None
        self._gone: str | None = None
        self._seq = 0
        self._answers: dict[int, tuple[asyncio.Future[Any], Callable[[Any], None] | None]] = {}

    async def open(self, connect: Connect) -> None:
        """Connect to the session. Raises OSError and ProblemError."""
        self._peer = await connect(self._take, self._end)

    async def request(self, command: str, arguments: Body = None, take: Callable[[Any], None] | None = None) -> Any:
        """Send a request, and return the body of its answer, {} if it has none. Raises SessionError.

        If the awaiting task is cancelled, the request is cancelled, too. `take` gets the body as soon as it arrives and
        before any later event is handled; the awaiting task runs after that.
        """
        if self._peer is None or self._gone is not None:
            raise ConnectionEnded(self._gone or "The session is over.")
        self._seq += 1
        seq = self._seq
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[seq] = answer, take
        self._peer.send(envelope.request(seq, command, {} if arguments is None else arguments))
        try:
            return await answer
        except asyncio.CancelledError:
            if seq in self._answers and self._gone is None:
                self._seq += 1
                self._peer.send(envelope.request(self._seq, "cancel", {"requestId": seq}))
            raise

    async def ask(self, command: str, arguments: Message, answer: type[T]) -> T:
        """Send one of raydap's own requests (docs/requests.md), and return its typed answer. Raises SessionError."""
        try:
            return msgspec.convert(await self.request(command, arguments), answer)
        except msgspec.ValidationError as error:
            text = f"The answer to {command} comes from another version of raydap ({error}); update the older one."
            raise SessionError(text) from None

    def close(self) -> None:
        """End the connection. Requests without an answer fail."""
        if self._peer is not None:
            self._peer.close()
        self._fail("The session is over.")

    async def wait_closed(self) -> None:
        """Return when everything that was sent is written."""
        if self._peer is not None:
            await self._peer.wait_closed()

    def _end(self, reason: str) -> None:
        if self._gone is None:
            self._fail(reason)
            self._on_gone(reason)

    def _fail(self, reason: str) -> None:
        self._gone = reason
        answers, self._answers = self._answers, {}
        for answer, _ in answers.values():
            if not answer.done():
                answer.set_exception(ConnectionEnded(reason))

    def _take(self, data: bytes) -> None:
        try:
            message = envelope.read(data)
            if message.type == "response":
                self._take_answer(message)
            elif message.type == "event":
                self._on_event(message.event, envelope.load(message.body or b"{}"))
        except _UNREADABLE as error:
            log.info("cannot read a message of the session: %r", error)

    def _take_answer(self, message: Envelope) -> None:
        answer, take = self._answers.pop(message.request_seq, (None, None))
        if answer is None or answer.done():
            return
        try:
            body = envelope.load(message.body or b"{}")
            if message.success and take is not None:
                take(body)
        except _UNREADABLE as error:
            answer.set_exception(SessionError(f"The answer to {message.command} cannot be read ({error})."))
            return
        if message.success:
            answer.set_result(body)
        else:
            answer.set_exception(RequestRefused(message.message or f"{message.command} has failed.", _code(body)))


def _code(body: Any) -> int:
    error = body.get("error") if isinstance(body, dict) else None
    number = error.get("id") if isinstance(error, dict) else None
    return number if isinstance(number, int) else 0
