"""A hub's acceptor without a network: bytes of one connection go in, and the messages that come out are checked.

An input is cut at the lines `--`: the acceptor has had time to answer each piece before the next one comes.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from raydap.hub.acceptor import Acceptor
from raydap.hub.hub_token import TokenVerifier, digest
from raydap.transport.peer import Peer
from raydap.wire import envelope

log = logging.getLogger("raydap")

TOKEN = "open-sesame"
TURNS = 12
"""Turns of the event loop that any answer takes less than."""

_OPENS = ("attach", "launch")


CUT = b"\n--\n"


def run(data: bytes) -> None:
    """Raises AssertionError if the acceptor breaks a promise."""
    visit(data.split(CUT))


def visit(pieces: Sequence[bytes]) -> "Clients":
    """One connection that sends these pieces and ends; returns what came out. Raises AssertionError."""
    loop = asyncio.new_event_loop()
    failures: list[str] = []
    loop.set_exception_handler(
        lambda _, context: failures.append(f"{context['message']}: {context.get('exception')!r}")
    )
    handler = _Failures(failures)
    log.addHandler(handler)
    try:
        clients = loop.run_until_complete(_visit(pieces))
    finally:
        log.removeHandler(handler)
        loop.close()
    assert not failures, failures
    return clients


class _Failures(logging.Handler):
    """Collects the failures of tasks, which are logged."""

    def __init__(self, failures: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._failures = failures

    def emit(self, record: logging.LogRecord) -> None:
        self._failures.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


async def _visit(pieces: Sequence[bytes]) -> "Clients":
    clients = Clients()
    acceptor = Acceptor(clients, PromptVerifier(digest(TOKEN)))  # type: ignore[arg-type]
    connection = Connection(acceptor.protocol())
    for piece in pieces:
        if connection.open:
            connection.protocol.data_received(piece)
        await _turns()
    connection.abort()
    await _turns()
    said = b"".join(pieces)
    # What is escaped in JSON could be the token, too.
    assert not clients.trusted or TOKEN.encode() in said or b"\\u" in said, "let in without the token"
    assert clients.connected == clients.gone, "a client whose connection is down is still there"
    assert not acceptor._unauthenticated
    assert not acceptor._in_session
    assert not acceptor._tasks, "something still goes on for a connection that is down"
    for message in clients.messages:
        _look(message)
    return clients


def _look(message: bytes) -> None:
    """The core gets no token in an argument of that name."""
    try:
        read = envelope.read(message)
        arguments = envelope.load(read.arguments or b"{}")
    except envelope.EnvelopeError:
        return
    if read.type == "request" and read.command in _OPENS and isinstance(arguments, dict):
        assert "token" not in arguments


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class PromptVerifier(TokenVerifier):
    """Its delays take no time."""

    async def delay_refusal(self) -> None:
        await asyncio.sleep(0)


class Clients:
    """Takes the clients that the acceptor makes, and answers each message with itself."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.connected = self.gone = 0
        self.trusted = False

    def connect(self, open_peer: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer]) -> Peer:
        self.trusted = True
        self.connected += 1
        peer: Peer = open_peer(lambda data: self._take(peer, data), self._lose)
        return peer

    def connect_unauthenticated(self, open_peer: Callable[[Any, Any, Callable[[], None]], Peer]) -> Peer:
        self.connected += 1
        peer: Peer = open_peer(lambda data: self._take(peer, data), self._lose, self._trust)
        return peer

    def _take(self, peer: Peer, data: bytes) -> None:
        self.messages.append(data)
        peer.send(data)

    def _trust(self) -> None:
        assert not self.trusted, "trusted twice"
        self.trusted = True

    def _lose(self, _: str) -> None:
        self.gone += 1


class Connection(asyncio.Transport):
    """A connection whose other end reads everything."""

    def __init__(self, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self.open = True
        self.protocol: Any = protocol
        self.protocol.connection_made(self)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return not self.open

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if self.open:
            self.open = False
            asyncio.get_running_loop().call_soon(lambda: self.protocol.connection_lost(None))
