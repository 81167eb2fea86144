"""The relay's process with actors in the same process. tests/ray tests the connections through Ray."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from raydap.cluster.ray_process import ray_driver
from raydap.cluster.relay import relay_process
from raydap.cluster.relay.relay_channels import CHUNK, MAX_UNREAD_CHUNKS
from raydap.cluster.relay.relay_process import RelayNode, RelayProcess
from support.local_relay import LocalActor

WAIT = 30.0


class Nodes:
    """Nodes that share one actor. The actor of the node `slow` is ready when `open` is set."""

    def __init__(self) -> None:
        self.actor = LocalActor()
        self.node = RelayNode(self.actor)
        self.open = asyncio.Event()
        self.dying: RelayNode | None = None
        """The node until its actor ends."""

    @asynccontextmanager
    async def used(self, node_id: str, last: bool) -> AsyncIterator[None]:
        yield

    async def get(self, node_id: str) -> RelayNode:
        if node_id == "slow":
            await self.open.wait()
        if node_id == "gone":
            raise LookupError("no such\nnode")
        if self.dying is not None and not self.dying.has_ended:
            return self.dying
        return self.node

    async def finish(self) -> None:
        await asyncio.gather(self.node.finish(), return_exceptions=True)


class Play:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nodes = Nodes()
        monkeypatch.setattr(relay_process, "Nodes", lambda: self.nodes)
        self.control, self._theirs = socket.socketpair()
        self.running = asyncio.ensure_future(RelayProcess(self._theirs).run())
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
        """End the hub's side."""
        self.control.close()
        for writer in self._writers:
            writer.close()
        await asyncio.wait_for(self.running, WAIT)
        self._theirs.close()
        self.nodes.node.running.cancel()
        await settle()

    async def link(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.ask(port)
        assert json.loads(await reader.readline()) == {"ok": True}
        return reader, writer


async def settle() -> None:
    """Run a few turns of the event loop, so that closed connections are gone."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    """Return a function that plays a part, and checks that the relay ends with the hub."""

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
    """A listener on a debug port. `came` receives each connection."""

    def __init__(self) -> None:
        self.came: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> "Worker":
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.append(writer)
            self.came.put_nowait((reader, writer))

        self.server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
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


class DyingActor(LocalActor):
    """An actor that dies when it gets its first request."""

    async def _take(self, frames: list[Any]) -> None:
        raise ConnectionError("the actor has died")


def test_a_connection_is_opened_by_the_next_actor_if_one_ends_before(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            it.nodes.dying = RelayNode(DyingActor())
            await it.link(worker.port)
            assert it.nodes.dying.has_ended
            assert isinstance(it.nodes.dying.running.exception(), ConnectionError)
            assert it.nodes.actor.opened == 1

    play(part)


def test_an_ended_actor_is_never_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that fails with its actor resumes before the relay has dropped the actor."""

    async def main() -> None:
        actors = [DyingActor(), LocalActor()]
        monkeypatch.setattr(ray_driver, "start_actor", lambda *_: actors.pop(0))
        nodes = relay_process.Nodes()
        first = await nodes.get("node")
        channel, refusal = await first.open({"host": "127.0.0.1", "port": 1})
        channel.end()
        assert refusal is not None
        assert first.has_ended
        second = await nodes.get("node")
        assert second is not first
        second.running.cancel()
        await settle()

    asyncio.run(main())


def test_nothing_is_dialled_for_a_hub_that_gave_up(play: Callable[..., None]) -> None:
    """debugpy's adapter would not survive a connection that is closed at once."""

    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, writer = await it.ask(worker.port, "slow")
            writer.write_eof()
            # When a later connection is made, the relay has noticed the end of the first.
            await it.link(worker.port)
            it.nodes.open.set()
            assert await reader.read() == b""
            assert it.nodes.actor.opened == 1

    play(part)


def test_a_worker_that_does_not_read_delays_no_other(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            _, stuck = await it.link(worker.port)
            deaf, _ = await worker.came.get()
            # asyncio's reader buffers little, so the rest waits in this program and in the relay.
            stuck.write(b"x" * CHUNK * MAX_UNREAD_CHUNKS * 20)
            _, writer = await it.link(worker.port)
            reader, _ = await worker.came.get()
            writer.write(b"x" * CHUNK * MAX_UNREAD_CHUNKS * 2)
            await reader.readexactly(CHUNK * MAX_UNREAD_CHUNKS * 2)
            await deaf.readexactly(CHUNK * MAX_UNREAD_CHUNKS * 20)

    play(part)


def test_a_hub_that_reads_slowly_stops_the_worker(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, _ = await it.link(worker.port)
            _, writer = await worker.came.get()
            size = CHUNK * MAX_UNREAD_CHUNKS * 20
            writer.write(b"x" * size)
            draining = asyncio.ensure_future(writer.drain())
            # Twenty connections are made and closed, so that all data that can travel has arrived.
            for _ in range(20):
                other, _ = await it.link(worker.port)
                _, their_writer = await worker.came.get()
                their_writer.close()
                assert await other.read() == b""
            assert not draining.done()
            await reader.readexactly(size)
            await draining

    play(part)


def test_the_end_of_the_actor_ends_its_connections(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        async with Worker() as worker:
            reader, _ = await it.link(worker.port)
            it.nodes.node.running.cancel()
            assert await reader.read() == b""

    play(part)
