"""A port without a token accepts only connections of this user."""

import asyncio
import os
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap.transport import tcp
from raydap.transport.tcp_peers import refusal

WAIT = 30.0

# This program ends when raydap closes the connection.
STRANGER = """
import os, socket, sys
"".encode("idna")  # The other user may not be able to read this module.
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 30) as own:
    own.sendall(b"stop everything")
    try:
        print("received", own.recv(100), flush=True)
    except ConnectionResetError:
        print("refused", flush=True)
"""

only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def stranger(host: str, port: int) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", STRANGER, host, str(port)], stdout=subprocess.PIPE, text=True)


@pytest.fixture(params=["127.0.0.1", "127.9.8.7", "::1"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listening = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening:
        listening.settimeout(WAIT)
        yield listening


def connect(listener: socket.socket) -> tuple[socket.socket, socket.socket]:
    client = socket.create_connection(listener.getsockname()[:2], WAIT)
    return client, listener.accept()[0]


def test_connections_of_this_user_are_accepted(listener: socket.socket) -> None:
    client, accepted = connect(listener)
    with client, accepted:
        assert refusal(accepted) == ""


@only_root
def test_connections_of_another_user_are_refused(listener: socket.socket) -> None:
    with stranger(*listener.getsockname()[:2]) as process:
        with listener.accept()[0] as accepted:
            assert refusal(accepted) == "it belongs to the user with the id 65534"
        process.communicate(timeout=WAIT)


@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_that_has_ended_already_is_refused(listener: socket.socket, reset: bool) -> None:
    """No list shows the owner any more, but the data that it has sent can still be read."""
    client, accepted = connect(listener)
    with accepted:
        client.sendall(b"stop everything")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", reset, 0))
        client.close()
        polling = select.poll()
        polling.register(accepted, select.POLLRDHUP)
        assert polling.poll(WAIT * 1000)
        assert refusal(accepted) == "its peer has already closed it"


def test_a_program_outside_this_network_namespace_is_accepted(listener: socket.socket, tmp_path: Path) -> None:
    client, accepted = connect(listener)
    with client, accepted:
        assert refusal(accepted, tmp_path) == "", "a system without a list"
        (tmp_path / "tcp").write_text("  sl  local_address\n")
        assert refusal(accepted, tmp_path) == ""


@only_root
@pytest.mark.parametrize("own_user_only", [True, False])
def test_a_listener_gives_such_a_connection_to_no_protocol(own_user_only: bool) -> None:
    class Greets(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.write(b"hello")
            transport.close()

    async def script() -> str:
        listener = await tcp.listen("127.0.0.1", 0, Greets, own_user_only=own_user_only)
        with stranger(listener.host, listener.port) as process:
            answer, _ = await asyncio.to_thread(process.communicate, timeout=WAIT)
        listener.close()
        return answer.strip()

    assert asyncio.run(script()) == ("refused" if own_user_only else "received b'hello'")


def test_a_listener_accepts_this_user() -> None:
    async def script() -> bytes:
        class Echo(asyncio.Protocol):
            def data_received(self, data: bytes) -> None:
                self.transport.write(data)

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                assert isinstance(transport, asyncio.Transport)
                self.transport = transport

        listener = await tcp.listen("127.0.0.1", 0, Echo)
        reader, writer = await asyncio.open_connection(listener.host, listener.port)
        writer.write(b"hello")
        answer = await reader.readexactly(5)
        writer.close()
        listener.close()
        return answer

    assert asyncio.run(script()) == b"hello"
