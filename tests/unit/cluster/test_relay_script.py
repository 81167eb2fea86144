"""The relay's process, with actors that live in it: what Ray does between them is the business of tests/ray."""

import asyncio
import inspect
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from raydap.cluster import relay_script
from raydap.cluster.relay_actor import CHUNK, MAX_UNREAD_CHUNKS, RaydapRelay
from raydap.cluster.relay_script import Relay

WAIT = 30.0


class Method:
    """A method of an actor, called as Ray wants it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def options(self, **_: Any) -> "Method":
        return self

    def remote(self, *args: Any) -> Any:
        if inspect.isasyncgenfunction(self._function):
            return self._stream(*args)
        return asyncio.ensure_future(self._function(*args))

    async def _stream(self, *args: Any) -> AsyncIterator[Awaitable[bytes]]:
        async for chunk in self._function(*args):
            arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            arrived.set_result(chunk)
            yield arrived


class Actor:
    def __init__(self) -> None:
        self.plain = RaydapRelay()
        self.dialled = 0

    def __getattr__(self, name: str) -> Method:
        self.dialled += name == "connect"
        return Method(getattr(self.plain, name))


class Nodes:
    """Every node has the same actor; that of the slow one is ready when `open` is set."""

    def __init__(self) -> None:
        self.actor = Actor()
        self.open = asyncio.Event()

    @contextmanager
    def used(self, node_id: str, last: bool) -> Iterator[None]:
        yield

    async def actor_on(self, node_id: str) -> Actor:
        if node_id == "slow":
            await self.open.wait()
        if node_id == "gone":
            raise LookupError("no such\nnode")
        return self.actor


class Play:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nodes = Nodes()
        monkeypatch.setattr(relay_script, "Nodes", lambda: self.nodes)
        self.control, self._theirs = socket.socketpair()
        self.running = asyncio.ensure_future(Relay(self._theirs).run())
        self._writers: list[asyncio.StreamWriter] = []

    async def ask(self, port: int, node_id: str = "node") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        self._writers.append(writer)
        writer.write(json.dumps({"node_id": node_id, "host": "127.0.0.1", "port": port}).encode() + b"\n")
        return reader, writer

    async def end(self) -> None:
        """The hub has ended."""
        self.control.close()
        for writer in self._writers:
            writer.close()
        await asyncio.wait_for(self.running, WAIT)
        self._theirs.close()
        await settle()

    async def link(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.ask(port)
        assert json.loads(await reader.readline()) == {"ok": True}
        return reader, writer


async def settle() -> None:
    """What was closed is gone after a few turns of the event loop."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    """Plays a part; after it the relay has to end with the hub."""

    def run(part: Callable[[Play], Awaitable[None]]) -> None:
        async def main() -> None:
            it = Play(monkeypatch)
            try:
                await asyncio.wait_for(part(it), WAIT)
            finally:
                await it.end()

        asyncio.run(main())

    return run


class Worker:
    """What listens on a debug port. `came` gets each connection."""

    def __init__(self) -> None:
        self.came: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> "Worker":
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.append(writer)
            self.came.put_nowait((reader, writer))

        self.server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        self.target = {"host": "127.0.0.1", "port": self.port}
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for writer in self._writers:
            writer.close()
        await settle()


def test_much_in_both_directions_stays_in_order(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            links = [await it.link(worker.port) for _ in range(2)]
            ends = [await worker.came.get() for _ in range(2)]
            for number, ((reader, writer), (their_reader, their_writer)) in enumerate(zip(links, ends, strict=True)):
                down = b"".join(b"%d:%d," % (number, index) for index in range(100_000))
                up = down[::-1]
                assert len(down) > 10 * CHUNK
                writer.write(up)
                their_writer.write(down)
                got = await asyncio.gather(reader.readexactly(len(down)), their_reader.readexactly(len(up)))
                assert list(got) == [down, up]

    play(part)


def test_the_end_of_the_hub_s_connection_ends_the_worker_s(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            _, writer = await it.link(worker.port)
            reader, _ = await worker.came.get()
            writer.write(b"farewell")
            writer.close()
            assert await reader.read() == b"farewell"

    play(part)


def test_the_end_of_the_worker_ends_the_hub_s_connection(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, _ = await it.link(worker.port)
            _, their_writer = await worker.came.get()
            their_writer.write(b"farewell")
            their_writer.close()
            assert await reader.read() == b"farewell"

    play(part)


def test_a_worker_that_is_killed(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, _ = await it.link(worker.port)
            _, their_writer = await worker.came.get()
            connection = their_writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            their_writer.transport.abort()
            assert await reader.read() == b""

    play(part)


def test_why_there_is_no_connection(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            reader, _ = await it.ask(closed.getsockname()[1])
            answer = json.loads(await reader.read())
            assert answer["refused"] is True
        reader, _ = await it.ask(1, "gone")
        assert json.loads(await reader.read()) == {"error": "LookupError: no such node"}

    play(part)


def test_nothing_is_dialled_for_a_hub_that_gave_up(play: Callable[..., None]) -> None:
    """debugpy's adapter would not survive a connection that is closed again at once."""

    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, writer = await it.ask(worker.port, "slow")
            writer.write_eof()
            # When a later connection is up, the relay has heard of the end of the first.
            await it.link(worker.port)
            it.nodes.open.set()
            assert await reader.read() == b""
            assert it.nodes.actor.dialled == 1

    play(part)


def test_methods_of_the_actor_never_raise() -> None:
    """With RAY_DEBUG_POST_MORTEM=1 it would become a paused worker."""

    async def main() -> None:
        actor = RaydapRelay()
        for host in ("127.0.0.1", "no.such.host.invalid", "a..b", "x" * 300):
            (refusal,) = [answer async for answer in actor.connect(1, {"host": host, "port": 1})]
            assert refusal["refused"] is (host == "127.0.0.1")
        async with Worker() as worker:
            stream = aiter(actor.connect(2, worker.target))
            assert await anext(stream) is None
            _, writer = await worker.came.get()
            writer.transport.abort()
            assert [chunk async for chunk in stream] == []
            for _ in range(3):
                await actor.write(2, b"x" * CHUNK)
            await actor.close(2)

    asyncio.run(main())


def test_a_hub_that_reads_slowly_stops_the_worker() -> None:
    async def main() -> None:
        actor = RaydapRelay()
        async with Worker() as worker:
            stream = aiter(actor.connect(1, worker.target))
            assert await anext(stream) is None
            _, writer = await worker.came.get()
            writer.write(b"x" * CHUNK * MAX_UNREAD_CHUNKS * 4)
            for _ in range(MAX_UNREAD_CHUNKS):
                await anext(stream)
            further = asyncio.ensure_future(anext(stream))
            # A call and its answer later it would have come.
            await actor.ready()
            await settle()
            assert not further.done()
            await actor.release(1)
            await asyncio.wait_for(further, WAIT)
            # The end is not held up by what nobody reads any more.
            await actor.close(1)
            await asyncio.wait_for(_drain(stream), WAIT)

    asyncio.run(main())


async def _drain(stream: AsyncIterator[bytes]) -> None:
    async for _ in stream:
        pass


def test_the_addresses_of_this_machine() -> None:
    assert relay_script._is_local_address("127.0.0.1")
    assert not relay_script._is_local_address("192.0.2.1")
    assert not relay_script._is_local_address("head.example")
