"""Feed a hub's acceptor the bytes of one connection without a network, and check the messages that come out.

An input is cut at the lines `--`. The acceptor has time to answer each piece before it gets the next one.
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
"""More turns of the event loop than any answer takes."""

_OPENS = ("attach", "launch")


CUT = b"\n--\n"


def run(data: bytes) -> None:
    """Raise AssertionError if the acceptor breaks a promise."""
    visit(data.split(CUT))


def visit(pieces: Sequence[bytes]) -> "Clients":
    """Send these pieces over one connection, close it, and return what came out. Raises AssertionError."""
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
    """A log handler that collects the failures of tasks, which are only logged."""

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
    # An escape in JSON could also spell the token.
    assert not clients.trusted or TOKEN.encode() in said or b"\\u" in said, "let in without the token"
    assert clients.connected == clients.gone, "a client whose connection is down is still there"
    assert not acceptor._unauthenticated
    assert not acceptor._in_session
    assert not acceptor._tasks, "something is still running for a connection that is down"
    for message in clients.messages:
        _look(message)
    return clients


def _look(message: bytes) -> None:
    """Check that the acceptor has removed the token from the arguments."""
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
    """A token verifier whose delays take no time."""

    async def delay_refusal(self) -> None:
        await asyncio.sleep(0)


class Clients:
    """Stands in for the engine's clients: connects them, and echoes each message."""

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
