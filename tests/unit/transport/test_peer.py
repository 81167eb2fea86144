"""A Peer on real sockets: received and sent messages, and the report of each kind of end."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from raydap.transport import tcp
from raydap.transport.peer import MAX_QUEUED, Peer
from raydap.wire.framing import encode

WAIT = 10.0


class Line:
    """A listening Peer under test, and the raw streams of the other side."""

    def __init__(self, max_queued: int | None = None) -> None:
        self.messages: list[bytes] = []
        self.reasons: list[str] = []
        self.gone = asyncio.Event()
        self.came = asyncio.Event()
        self.peer = Peer(self._message, self._gone, MAX_QUEUED if max_queued is None else max_queued, quick_ack=True)

    def _message(self, body: bytes) -> None:
        self.messages.append(body)
        self.came.set()

    def _gone(self, reason: str) -> None:
        self.reasons.append(reason)
        self.gone.set()

    async def wait_gone(self) -> str:
        await asyncio.wait_for(self.gone.wait(), WAIT)
        return self.reasons[-1]


def run(
    script: Callable[[Line, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], max_queued: int | None = None
) -> None:
    async def main() -> None:
        line = Line(max_queued)
        listener = await tcp.listen("127.0.0.1", 0, lambda: line.peer)
        reader, writer = await asyncio.open_connection(listener.host, listener.port)
        try:
            await script(line, reader, writer)
        finally:
            writer.close()
            listener.close()
            line.peer.close()

    asyncio.run(main())


def test_messages_go_both_ways_framed() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b'{"a":1}') + encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        assert line.messages == [b'{"a":1}', b"{}"]
        line.peer.send(b'{"b":2}')
        assert await reader.readexactly(len(encode(b'{"b":2}'))) == encode(b'{"b":2}')

    run(script)


def test_delay_is_off_on_the_socket() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        assert line.peer._socket is not None
        assert line.peer._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0

    run(script)


def test_a_close_by_the_other_side_is_reported_once() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        assert await line.wait_gone() == "closed"
        line.peer.send(b"{}")
        line.peer.close()
        await asyncio.wait_for(line.peer.wait_closed(), WAIT)
        assert line.reasons == ["closed"]

    run(script)


def test_a_reset_is_reported_as_one() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        connection = writer.get_extra_info("socket")
        # With a linger of 0 s the kernel sends a reset instead of an orderly end.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()
        assert await line.wait_gone() == "connection reset"

    run(script)


def test_what_is_no_dap_ends_the_connection_after_what_was() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}") + b"GET / HTTP/1.1\r\n\r\n")
        reason = await line.wait_gone()
        assert "GET / HTTP/1.1" in reason
        assert line.messages == [b"{}"]
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await asyncio.wait_for(reader.readexactly(1), WAIT)

    run(script)


def test_close_writes_what_is_queued_and_says_nothing() -> None:
    body = b'"' + b"x" * 5_000_000 + b'"'

    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        line.peer.send(body)
        line.peer.close()
        line.peer.send(b"too late")
        line.peer.data_received(encode(b"{}"))
        assert await asyncio.wait_for(reader.read(), WAIT) == encode(body)
        await asyncio.wait_for(line.peer.wait_closed(), WAIT)
        assert line.messages == [b"{}"]
        assert line.reasons == []

    run(script)


def test_a_peer_that_does_not_read_is_cut_off() -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        cast(asyncio.Transport, writer.transport).pause_reading()
        sent = 0
        while not line.peer._reason:
            line.peer.send(b"x" * 1_000_000)
            sent += 1
            assert sent < 100
        assert line.reasons == [], "the end must not be reported from inside send"
        assert await line.wait_gone() == "does not read its messages"

    run(script, max_queued=1_000_000)


def test_messages_to_a_peer_that_has_gone_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def script(line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(b"{}"))
        await asyncio.wait_for(line.came.wait(), WAIT)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        await asyncio.sleep(0)  # The transport closes its socket in the next turn of the loop.
        await asyncio.sleep(0)
        for _ in range(20):
            line.peer.send(b"{}")
        assert await line.wait_gone() == "connection reset"

    run(script)
    assert caplog.records == []


def test_a_connection_that_is_closed_before_it_is_made_is_not_waited_for() -> None:
    """A listener that is closed drops the connections that it has just accepted."""

    async def main() -> None:
        peer = Peer(lambda body: None, lambda reason: None)
        peer.close()
        await asyncio.wait_for(peer.wait_closed(), WAIT)

    asyncio.run(main())
