"""A line is read from a Unix socket without the bytes after it, however the peer sends it."""

import asyncio
import os
import resource
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap import private_listener
from raydap.transport import unix

TURNS = 5
"""In this many turns, the event loop reads all data that has arrived."""

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yield the socket under test and its peer."""
    ours, peer = socket.socketpair()
    ours.setblocking(False)
    with ours, peer:
        yield ours, peer


def read(connection: socket.socket) -> bytes:
    return asyncio.run(unix.read_line(connection, 20.0))


def test_what_follows_a_line_is_left(pair: Pair) -> None:
    ours, peer = pair
    peer.sendall(b"one\ntwo\nContent-Length: 2")
    assert [read(ours), read(ours)] == [b"one\n", b"two\n"]
    assert ours.recv(100) == b"Content-Length: 2"


def test_a_line_that_comes_in_parts(pair: Pair) -> None:
    ours, peer = pair

    async def both() -> bytes:
        reading = asyncio.create_task(unix.read_line(ours, 20.0))
        for part in (b"a", b"bc", b"d\ne"):
            peer.sendall(part)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if not reading.done():
                assert nothing_left(ours), "it has been read"
        return await reading

    assert asyncio.run(both()) == b"abcd\n"
    assert ours.recv(100) == b"e"


def nothing_left(connection: socket.socket) -> bool:
    with pytest.raises(BlockingIOError):
        connection.recv(1, socket.MSG_PEEK)
    return True


@pytest.mark.parametrize("sent", [b"", b"no end", b"x" * unix.LINE_LIMIT, b"x" * unix.LINE_LIMIT + b"\n"])
def test_what_is_no_line(pair: Pair, sent: bytes) -> None:
    ours, peer = pair
    peer.sendall(sent)
    peer.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionError, match="it sent no line"):
        read(ours)


def test_the_longest_line(pair: Pair) -> None:
    ours, peer = pair
    line = b"x" * (unix.LINE_LIMIT - 1) + b"\n"
    peer.sendall(line)
    assert read(ours) == line


def test_a_peer_that_says_nothing(pair: Pair) -> None:
    with pytest.raises(TimeoutError, match=r"no data came within 0\.01 s"):
        asyncio.run(unix.read_line(pair[0], 0.01))


def test_without_a_free_descriptor_a_connection_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop gets no error."""
    monkeypatch.setattr(private_listener, "ACCEPT_DELAY_S", 0.0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def main() -> None:
        accepted: asyncio.Queue[socket.socket] = asyncio.Queue()
        problems: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(context))
        listener = private_listener.SameUserListener(str(tmp_path / "raydap"), accepted.put_nowait)
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(listener.path)
            resource.setrlimit(resource.RLIMIT_NOFILE, (peer.fileno(), limits[1]))
            try:
                for _ in range(10 * TURNS):
                    await asyncio.sleep(0)
                assert accepted.empty()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            (await accepted.get()).close()
        assert problems == []
        listener.close()

    asyncio.run(main())


@pytest.mark.parametrize("length", [1, 75, 200])
def test_a_private_listener_has_a_path_that_a_socket_can_have(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """TMPDIR is long on many clusters."""
    folder = Path("/tmp", f"raydap-test-{os.getpid()}".ljust(length, "x"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    async def main() -> None:
        listener = unix.PrivateListener("raydap-call-1234567-12345678", lambda _: None)
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(listener.path)
        assert Path(listener.folder).parent == (folder if length == 1 else Path("/tmp"))
        listener.close()
        assert os.listdir(folder) == []

    folder.mkdir()
    try:
        asyncio.run(main())
    finally:
        folder.rmdir()
