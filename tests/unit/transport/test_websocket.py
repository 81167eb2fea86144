"""WebSocket on real sockets, with the library's own client, and with raw frames that it would not send."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request

from raydap.transport import tcp, websocket_handshake
from raydap.transport.websocket import WebSocketPeer
from raydap.transport.websocket_handshake import Handshake, HandshakeRefused, Refusal

WAIT = 30.0

UPGRADE = (
    b"GET /dap HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


class Server:
    """A server that accepts WebSockets, and keeps their messages and the reasons of their ends."""

    def __init__(self, refusal: Refusal | None = None, **peer_options: Any) -> None:
        self.refusal = refusal
        self.peer_options = peer_options
        self.requests: list[Request] = []
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()
        self.reasons: asyncio.Queue[str] = asyncio.Queue()
        self.peers: list[WebSocketPeer] = []

    def accept(self) -> Handshake:
        return Handshake(self.decide, self.open_peer)

    async def decide(self, request: Request) -> Refusal | None:
        self.requests.append(request)
        return self.refusal

    def open_peer(self, protocol: Any) -> WebSocketPeer:
        peer = WebSocketPeer(self.messages.put_nowait, self.reasons.put_nowait, protocol, **self.peer_options)
        self.peers.append(peer)
        return peer

    async def message(self) -> bytes:
        return await asyncio.wait_for(self.messages.get(), WAIT)

    async def reason(self) -> str:
        reason = await asyncio.wait_for(self.reasons.get(), WAIT)
        assert self.reasons.empty(), "the end is reported once"
        return reason


def run(script: Callable[[Server, str, int], Awaitable[None]], server: Server | None = None) -> None:
    async def main() -> None:
        ours = server or Server()
        listener = await tcp.listen("127.0.0.1", 0, ours.accept)
        try:
            await script(ours, listener.host, listener.port)
        finally:
            listener.close()
            for peer in ours.peers:
                peer.close()
                await asyncio.wait_for(peer.wait_closed(), WAIT)

    asyncio.run(main())


@contextlib.asynccontextmanager
async def library_client(host: str, port: int, **options: Any):  # type: ignore[no-untyped-def]
    async with connect(f"ws://{host}:{port}/dap", max_size=None, **options) as client:
        yield client


def with_client(script: Callable[[Server, ClientConnection], Awaitable[None]], server: Server | None = None) -> None:
    async def main(server: Server, host: str, port: int) -> None:
        async with library_client(host, port) as client:
            await script(server, client)

    run(main, server)


async def raw(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection and do its handshake without a library."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(UPGRADE)
    assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT)).startswith(b"HTTP/1.1 101 ")
    return reader, writer


def frame(opcode: int, data: bytes, fin: bool = True) -> bytes:
    """Return a frame as a client sends it. Its mask is zero."""
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else b"\xff" + struct.pack("!Q", size)
    return bytes([0x80 * fin | opcode]) + length + bytes(4) + data


async def close_code(reader: asyncio.StreamReader) -> int:
    """Return the code of the close frame that comes next, after which the connection must end."""
    head = await asyncio.wait_for(reader.readexactly(2), WAIT)
    assert head[0] == 0x88
    body = await asyncio.wait_for(reader.readexactly(head[1]), WAIT)
    assert await asyncio.wait_for(reader.read(), WAIT) == b""
    return int.from_bytes(body[:2], "big")


def test_messages_go_both_ways_one_for_each_text_frame() -> None:
    async def script(server: Server, client: ClientConnection) -> None:
        await client.send('{"a":1}')
        await client.send('{"ä":2}')
        assert await server.message() == b'{"a":1}'
        assert await server.message() == '{"ä":2}'.encode()
        server.peers[0].send(b'{"b":"\xc3\xa4"}')
        assert await asyncio.wait_for(client.recv(), WAIT) == '{"b":"ä"}'

    with_client(script)


def test_a_message_may_come_in_fragments_with_a_ping_between() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        reader, writer = await raw(host, port)
        whole = '{"ä":1}'.encode()
        # The cut is in the middle of a character.
        writer.write(
            frame(1, whole[:3], fin=False) + frame(9, b"hello") + frame(0, b"", fin=False) + frame(0, whole[3:])
        )
        assert await server.message() == whole
        assert await asyncio.wait_for(reader.readexactly(7), WAIT) == b"\x8a\x05hello"
        writer.close()
        assert await server.reason() == "closed"

    run(script)


def test_what_a_worker_wrote_in_other_bytes_does_not_end_the_client() -> None:
    async def script(server: Server, client: ClientConnection) -> None:
        server.peers[0].send(b'{"output":"\xff\xfe"}')
        assert await asyncio.wait_for(client.recv(), WAIT) == '{"output":"\ufffd\ufffd"}'

    with_client(script)


def test_large_messages_pass_and_too_large_ones_end_it() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        async with library_client(host, port) as client:
            await client.send("x" * 3_000_000)
            assert len(await server.message()) == 3_000_000
        assert await server.reason() == "closed"
        reader, writer = await raw(host, port)
        writer.write(b"\x81\xff" + struct.pack("!Q", 64 * 1024 * 1024 + 1) + bytes(4))
        assert await close_code(reader) == 1009
        assert "broke the WebSocket protocol" in await server.reason()
        writer.close()

    run(script)


@pytest.mark.parametrize(
    ("data", "code", "told"),
    [
        (frame(2, b"{}"), 1003, "DAP is text"),
        (frame(1, b"\xff"), 1007, "UTF-8"),
        (frame(1, b"{", fin=False) + frame(0, b"\xff"), 1007, "UTF-8"),
        (b"\x81\x02{}", 1002, "masking"),
        (frame(3, b""), 1002, "opcode"),
        (frame(0, b"{}"), 1002, "continuation"),
        (frame(1, b"{", fin=False) + frame(1, b"}"), 1002, "continuation"),
        (b"\xc1" + frame(1, b"{}")[1:], 1002, "reserved"),
    ],
    ids=["binary", "no UTF-8", "no UTF-8 in parts", "unmasked", "opcode", "no start", "no end", "reserved bit"],
)
def test_what_breaks_the_protocol_ends_it_with_its_close_code(data: bytes, code: int, told: str) -> None:
    async def script(server: Server, host: str, port: int) -> None:
        reader, writer = await raw(host, port)
        writer.write(frame(1, b"{}") + data + frame(1, b'"too late"'))
        assert await close_code(reader) == code
        assert told in await server.reason()
        assert await server.message() == b"{}"
        assert server.messages.empty()
        writer.close()

    run(script)


def test_our_close_writes_what_is_queued_and_says_nothing() -> None:
    async def script(server: Server, client: ClientConnection) -> None:
        peer = server.peers[0]
        peer.send(b"x" * 5_000_000)
        peer.close()
        peer.send(b"too late")
        assert len(await asyncio.wait_for(client.recv(), WAIT)) == 5_000_000
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(client.recv(), WAIT)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000
        await asyncio.wait_for(peer.wait_closed(), WAIT)
        assert server.reasons.empty()

    with_client(script)


def test_the_client_s_close_is_answered_and_its_reason_reported() -> None:
    async def script(server: Server, client: ClientConnection) -> None:
        await client.close(1001, "lunch")
        assert await server.reason() == "closed: lunch"

    with_client(script)


def test_a_client_that_does_not_read_is_cut_off() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        _, writer = await raw(host, port)
        cast(asyncio.Transport, writer.transport).pause_reading()
        for _ in range(100):
            server.peers[0].send(b"x" * 1_000_000)
        assert server.reasons.empty(), "the end must not be reported from inside send"
        assert await server.reason() == "does not read its messages"
        writer.close()

    run(script, Server(max_queued=1_000_000))


def test_a_client_that_answers_pings_stays_and_one_that_does_not_is_cut_off() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        async with library_client(host, port) as client:
            reader, writer = await raw(host, port)
            silent = server.peers[1]
            assert await server.reason() == "does not answer pings"
            await asyncio.wait_for(silent.wait_closed(), WAIT)
            await client.send("{}")
            assert await server.message() == b"{}"
            assert await asyncio.wait_for(reader.read(), WAIT) == b"\x89\x00"
            writer.close()

    run(script, Server(ping_interval_s=0.5))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /dap HTTP/1.1\r\nHost: x\r\n\r\n", b"426"),
        (UPGRADE.replace(b"Version: 13", b"Version: 12"), b"400"),
        (UPGRADE.replace(b"Upgrade: websocket", b"Upgrade: h2c"), b"426"),
        (UPGRADE.replace(b"AAAA==", b"=="), b"400"),
        (UPGRADE.replace(b"Host: x", b"Host: " + b"x" * 10000), b"4"),
        (UPGRADE.replace(b"Host: x", b"\r\n".join(b"X: x" for _ in range(1000))), b"4"),
        (b"GET /" + b"x" * 10000 + b" HTTP/1.1\r\n\r\n", b"4"),
    ],
    ids=["no upgrade", "version", "other upgrade", "key", "long line", "many lines", "long path"],
)
def test_what_is_no_handshake_is_refused(request_: bytes, status: bytes) -> None:
    async def script(server: Server, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(request_)
        answer = await asyncio.wait_for(reader.read(), WAIT)
        # Some versions of the library do not answer a request that they cannot parse.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 " + status)
        assert server.peers == []
        writer.close()

    run(script)


def test_a_refusal_says_why() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        with pytest.raises(InvalidStatus) as refused:
            async with library_client(host, port):
                pass
        assert refused.value.response.status_code == 401
        assert refused.value.response.headers["WWW-Authenticate"] == "Bearer"
        assert bytes(refused.value.response.body or b"") == b"No entry.\n"
        with pytest.raises(HandshakeRefused, match=r"No entry\.$") as told:
            await websocket_handshake.dial(f"ws://{host}:{port}/dap", "wrong", print, print, WAIT)
        assert told.value.status == 401
        assert server.requests[1].headers["Authorization"] == "Bearer wrong"
        assert server.peers == []

    run(script, Server(Refusal(401, "No entry.")))


def test_our_own_client() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        messages: asyncio.Queue[bytes] = asyncio.Queue()
        reasons: asyncio.Queue[str] = asyncio.Queue()
        url = f"ws://{host}:{port}/dap"
        client = await websocket_handshake.dial(url, "secret", messages.put_nowait, reasons.put_nowait, WAIT)
        assert server.requests[0].headers["Authorization"] == "Bearer secret"
        assert server.requests[0].headers["Sec-WebSocket-Protocol"] == "raydap"
        client.send(b'{"a":1}')
        assert await server.message() == b'{"a":1}'
        server.peers[0].send(b'{"b":2}')
        assert await asyncio.wait_for(messages.get(), WAIT) == b'{"b":2}'
        server.peers[0].abort("the test wants it")
        assert await asyncio.wait_for(reasons.get(), WAIT) in ("closed", "connection reset")
        assert await server.reason() == "the test wants it"
        other = await websocket_handshake.dial(url, None, messages.put_nowait, reasons.put_nowait, WAIT)
        assert "Authorization" not in server.requests[1].headers
        other.close()
        assert await server.reason() == "closed"
        await asyncio.wait_for(other.wait_closed(), WAIT)
        assert reasons.empty()

    run(script)


def test_frames_right_behind_the_answer_wait_for_the_caller() -> None:
    async def script(server: Server, host: str, port: int) -> None:
        happened: asyncio.Queue[bytes] = asyncio.Queue()
        open_peer = server.open_peer

        def eager(protocol: Any) -> WebSocketPeer:
            asyncio.get_running_loop().call_soon(lambda: server.peers[0].send(b'"first"'))
            return open_peer(protocol)

        server.open_peer = eager  # type: ignore[method-assign]
        peer = await websocket_handshake.dial(f"ws://{host}:{port}/dap", None, happened.put_nowait, print, WAIT)
        assert happened.empty()
        assert await asyncio.wait_for(happened.get(), WAIT) == b'"first"'
        peer.close()

    run(script)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n\r\nhello", b"SSH-2.0-x\r\n", b"HTTP/1.1 101 \r\n\r\n"])
def test_a_server_that_is_something_else_is_an_os_error(answer: bytes) -> None:
    async def main() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(HandshakeRefused):
            await websocket_handshake.dial(f"ws://127.0.0.1:{port}/dap", None, print, print, WAIT)
        server.close()

    asyncio.run(main())


def test_a_server_that_says_nothing_is_a_timeout() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            with pytest.raises(TimeoutError, match="no connection within"):
                await websocket_handshake.dial(f"ws://127.0.0.1:{port}/dap", None, print, print, 0.2)

    asyncio.run(main())


def test_headers_are_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def script(server: Server, host: str, port: int) -> None:
        peer = await websocket_handshake.dial(f"ws://{host}:{port}/dap", "very-secret", print, print, WAIT)
        peer.close()
        await server.reason()

    with caplog.at_level("DEBUG"):
        run(script)
    assert "very-secret" not in caplog.text


def test_a_server_that_cannot_decide_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def decide(_: Request) -> Refusal | None:
        raise ValueError("odd")

    async def main() -> None:
        lost = asyncio.Event()

        listener = await tcp.listen("127.0.0.1", 0, lambda: Handshake(decide, Server().open_peer, lost.set))
        try:
            with pytest.raises(HandshakeRefused):
                await websocket_handshake.dial(f"ws://{listener.host}:{listener.port}/dap", None, print, print, WAIT)
            await asyncio.wait_for(lost.wait(), WAIT)
        finally:
            listener.close()

    asyncio.run(main())
    assert "ValueError: odd" in caplog.text
