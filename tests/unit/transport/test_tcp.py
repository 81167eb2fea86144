"""WorkerDialer and listening."""

import asyncio
import socket

import pytest

from raydap.transport import tcp
from raydap.transport.peer import Peer
from raydap.wire.framing import encode

WAIT = 10.0


def test_the_chosen_port_is_reported_and_differs_per_listener() -> None:
    async def main() -> None:
        listeners = [await tcp.listen("127.0.0.1", 0, lambda: Peer(print, print)) for _ in range(2)]
        assert listeners[0].port != listeners[1].port
        assert all(listener.port > 0 and listener.host == "127.0.0.1" for listener in listeners)
        for listener in listeners:
            listener.close()

    asyncio.run(main())


def test_what_the_other_side_says_first_waits_for_the_caller() -> None:
    """debugpy sends two events at once after it is connected. The caller must have the peer before they arrive."""

    async def main() -> None:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(encode(b"1") + encode(b"2"))
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        happened: list[object] = []
        gone = asyncio.Event()

        def on_gone(reason: str) -> None:
            happened.append(reason)
            gone.set()

        port = server.sockets[0].getsockname()[1]
        peer = await tcp.dial("127.0.0.1", port, happened.append, on_gone, WAIT)
        happened.append("dialled")
        await asyncio.wait_for(gone.wait(), WAIT)
        assert happened == ["dialled", b"1", b"2", "closed"]
        peer.close()
        server.close()

    asyncio.run(main())


def test_a_port_without_listener_refuses() -> None:
    # A bound socket that does not listen refuses connections, and keeps its port from other programs.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        gone: list[str] = []
        with pytest.raises(ConnectionRefusedError):
            asyncio.run(tcp.dial("127.0.0.1", port, print, gone.append, WAIT))
    assert gone == []


def test_no_answer_is_a_timeout() -> None:
    """A listener with a full backlog neither accepts nor refuses further connections."""

    async def main() -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen(0)
            host, port = silent.getsockname()
            waiting = [socket.socket() for _ in range(8)]
            for connection in waiting:
                connection.setblocking(False)
                connection.connect_ex((host, port))
            with pytest.raises(TimeoutError, match="no connection within"):
                await tcp.dial(host, port, print, print, timeout_s=0.1)
            for connection in waiting:
                connection.close()

    asyncio.run(main())


@pytest.mark.parametrize("host", ["no.such.host.invalid", "x" * 70 + ".example"])
def test_a_bad_name_is_an_os_error(host: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011  # Resolvers raise different messages.
        asyncio.run(tcp.dial(host, 1, print, print, WAIT))


def test_a_silent_link_is_probed() -> None:
    """A machine that has vanished sends nothing. The connection ends if data is not acknowledged within 30 s."""

    async def main() -> None:
        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for keepalive in (True, False):
            peer = await tcp.dial("127.0.0.1", port, print, print, WAIT, keepalive=keepalive)
            assert peer._socket is not None
            assert bool(peer._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)) == keepalive
            if keepalive and hasattr(socket, "TCP_KEEPIDLE"):
                assert peer._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 15
                assert peer._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000
            peer.close()
        server.close()

    asyncio.run(main())
