"""The relay's actor and the agents of its node."""

import asyncio
import errno
import json
import os
import socket
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raydap import private_listener
from raydap.cluster.machine import outside_looks
from raydap.cluster.relay import relay_actor
from raydap.cluster.relay.relay_actor import RaydapRelay
from support.agents import leave_socket
from support.local_relay import LocalNode

WAIT = 30.0
NAME = "raydap-call-7-abcd"


class Play:
    """An actor that watches the agents of its node."""

    def __init__(self) -> None:
        self.node = LocalNode()

    async def watch(self) -> None:
        """Start the watch. Raises LookupError."""
        self.lines, self._writer = await self.node.open({"listen": NAME})

    async def next(self) -> Any:
        return json.loads(await asyncio.wait_for(self.lines.readline(), WAIT))

    async def end(self) -> None:
        """End the watch and all connections."""
        await self.node.close()


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    monkeypatch.setattr(relay_actor, "sockets_folder", lambda: str(tmp_path))
    monkeypatch.setattr(relay_actor, "FIND_INTERVAL_S", 0.01)

    def run(part: Callable[[Play], Awaitable[None]]) -> None:
        async def main() -> None:
            it = Play()
            try:
                await asyncio.wait_for(part(it), WAIT)
            finally:
                await it.end()
                others = asyncio.all_tasks() - {asyncio.current_task()}
                await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), WAIT)

        asyncio.run(main())

    return run


async def serve(path: Path, line: bytes) -> asyncio.Server:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(line)
        assert await reader.read() == b"", "no client asks it for a debugger"
        writer.close()

    return await asyncio.start_unix_server(answer, str(path))


def test_agents_are_found_once(play: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets that belong to no agent, or to one that has ended, are ignored."""
    monkeypatch.setattr(relay_actor, "HELLO_TIMEOUT_S", 1.0)  # raydap-2 never sends the end of its line.
    stale = [tmp_path / "raydap-6", tmp_path / "raydap-7", tmp_path / "raydap-call-1-1"]
    for path in stale:
        leave_socket(path)
    (tmp_path / "raydap-8").touch()

    async def part(it: Play) -> None:
        servers = [await serve(tmp_path / "raydap-1", b"{1}\n"), await serve(tmp_path / "raydap-2", b"no line")]
        servers.append(await serve(tmp_path / "raylet", b"{2}\n"))
        servers.append(await serve(tmp_path / "raydap-3", b"x" * 70_000 + b"\n"))
        await it.watch()
        assert await it.next() == {"found": "{1}\n"}
        assert await it.next() == {"searched": True}
        assert [path.exists() for path in stale] == [False, False, True], "a socket that refuses is removed"
        assert (tmp_path / "raydap-8").exists()
        servers.append(await serve(tmp_path / "raydap-4", b"{4}\n"))
        assert await it.next() == {"found": "{4}\n"}
        for server in servers:
            server.close()

    play(part)


def test_a_process_that_is_too_busy_to_answer_is_asked_again(
    play: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It delays no other process."""
    monkeypatch.setattr(relay_actor, "HELLO_TIMEOUT_S", 0.2)
    answers: asyncio.Queue[bytes] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not answers.empty():
            writer.write(answers.get_nowait())
        await reader.read()
        writer.close()

    async def part(it: Play) -> None:
        servers = [await asyncio.start_unix_server(answer, str(tmp_path / "raydap-1"))]
        servers.append(await serve(tmp_path / "raydap-2", b"{2}\n"))
        await it.watch()
        assert await it.next() == {"found": "{2}\n"}
        assert await it.next() == {"searched": True}
        answers.put_nowait(b"{1}\n")
        assert await it.next() == {"found": "{1}\n"}
        for server in servers:
            server.close()

    play(part)


def test_without_a_free_descriptor_a_call_waits(
    play: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The actor waits before it tries again."""
    monkeypatch.setattr(private_listener, "ACCEPT_DELAY_S", 0.0)
    accept, failures = socket.socket.accept, 0

    def fail(it: socket.socket) -> Any:
        nonlocal failures
        if it.family == socket.AF_UNIX and failures < 3:
            failures += 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return accept(it)

    async def part(it: Play) -> None:
        await it.watch()
        assert await it.next() == {"searched": True}
        monkeypatch.setattr(socket.socket, "accept", fail)
        _, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b"hello\n")
        assert "call" in await it.next()
        assert failures == 3
        writer.close()

    play(part)


def test_a_call_waits_until_it_is_taken(play: Callable[..., None], tmp_path: Path) -> None:
    async def part(it: Play) -> None:
        await it.watch()
        assert stat.S_IMODE(os.stat(tmp_path / NAME).st_mode) == 0o600
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b"hello\n")
        (number,) = (await it.next()).values()
        taken, answer = await it.node.open({"call": number})
        assert await taken.readline() == b"hello\n"
        answer.write(b"answer\n")
        assert await reader.readline() == b"answer\n"
        with pytest.raises(LookupError, match="'refused': True"):
            await it.node.open({"call": number})
        answer.close()
        assert await reader.read() == b""
        writer.close()

    play(part)


def test_the_end_of_the_watch_releases_callers_and_leaves_nothing(play: Callable[..., None], tmp_path: Path) -> None:
    async def part(it: Play) -> None:
        await it.watch()
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b"hello\n")
        await it.next()
        await it.end()
        assert await reader.read() == b""
        assert os.listdir(tmp_path) == []
        writer.close()

    play(part)


def test_one_of_two_nodes_with_one_folder_listens(play: Callable[..., None], tmp_path: Path) -> None:
    async def part(it: Play) -> None:
        other = Play()
        server = await serve(tmp_path / "raydap-1", b"{1}\n")
        await it.watch()
        assert await it.next() == {"found": "{1}\n"}
        await other.watch()
        assert await other.next() == {"searched": True}, "the first one finds them"
        # When the first watcher has ended, the second one takes over.
        await it.end()
        assert await other.next() == {"found": "{1}\n"}
        await other.end()
        server.close()

    play(part)


def test_what_a_killed_actor_has_left_is_replaced(play: Callable[..., None], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
        stale.bind(str(tmp_path / NAME))

    async def part(it: Play) -> None:
        await it.watch()
        _, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b"hello\n")
        assert await it.next() == {"searched": True}
        assert set(await it.next()) == {"call"}
        writer.close()

    play(part)


def test_another_user_neither_calls_nor_is_called(
    play: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (relay_actor, private_listener):
        monkeypatch.setattr(module, "peer_is_trusted", lambda connection: False)

    async def part(it: Play) -> None:
        agent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        agent.bind(str(tmp_path / "raydap-1"))
        agent.listen()
        await it.watch()
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        assert await reader.read() == b""
        writer.close()
        with pytest.raises(LookupError, match=r"it belongs to another user.*'refused': False"):
            await it.node.open({"agent": str(tmp_path / "raydap-1")})
        agent.close()

    play(part)


@pytest.mark.parametrize("name", ["missing", "stale"])
def test_an_agent_that_has_ended_refuses(play: Callable[..., None], tmp_path: Path, name: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
        stale.bind(str(tmp_path / "stale"))

    async def part(it: Play) -> None:
        with pytest.raises(LookupError, match="'refused': True"):
            await it.node.open({"agent": str(tmp_path / name)})

    play(part)


def test_a_folder_that_cannot_be_used_is_an_answer(play: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_actor, "sockets_folder", lambda: "/nonexistent")

    async def part(it: Play) -> None:
        with pytest.raises(LookupError, match="No such file or directory"):
            await it.watch()

    play(part)


def test_a_folder_with_a_long_path_is_an_answer(
    play: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(relay_actor, "sockets_folder", lambda: str(folder))

    async def part(it: Play) -> None:
        with pytest.raises(LookupError, match="too long for"):
            await it.watch()

    play(part)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "no.such.host.invalid", "a..b", "x" * 300])
def test_what_cannot_be_reached_is_an_answer(play: Callable[..., None], host: str) -> None:
    """With RAY_DEBUG_POST_MORTEM=1, an actor that raises would become a paused worker."""

    async def part(it: Play) -> None:
        with pytest.raises(LookupError, match=f"'refused': {host == '127.0.0.1'}"):
            await it.node.open({"host": host, "port": 1})

    play(part)


def test_it_is_no_worker_to_debug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a prepared cluster the actor has an agent. The actor ends it, and works even if that fails."""
    ours, theirs = socket.socketpair()
    (tmp_path / "raydap-1").touch()
    session = SimpleNamespace(connection=ours)
    agent = SimpleNamespace(identity={"socket": str(tmp_path / "raydap-1")}, session=session)
    monkeypatch.setitem(sys.modules, "_raydap_agent.agent", SimpleNamespace(AGENT=agent))
    with ours, theirs:
        RaydapRelay()
        assert theirs.recv(1) == b""
    assert not (tmp_path / "raydap-1").exists()
    RaydapRelay()


def test_it_looks_at_processes_of_its_node(play: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_looks, "py_spy_output", lambda *arguments: repr(arguments).encode())
    monkeypatch.setattr(outside_looks, "forked_waits_output", lambda *arguments: repr(arguments).encode())

    async def part(it: Play) -> None:
        for target, arguments in (({"py_spy": 7}, (7, "--locals")), ({"forks": [7, 8]}, ([7, 8],))):
            reader, _ = await it.node.open(target)
            assert await asyncio.wait_for(reader.read(), WAIT) == repr(arguments).encode()

    play(part)
