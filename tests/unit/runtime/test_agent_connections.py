"""The bridge's connection to one agent. Sockets stand in for agents."""

import asyncio
import json
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from raydap.runtime import agent_connections
from raydap.transport import unix
from support.agents import hello_line

WAIT = 10


async def connect(path: str, waiting: socket.socket | None = None) -> socket.socket:
    return await agent_connections.connect(lambda: unix.dial(path, WAIT), waiting)


def test_a_process_that_has_ended_refuses(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "stale"))
    listener.close()
    for path in ("missing", "stale"):
        with pytest.raises(ConnectionRefusedError):
            asyncio.run(connect(str(tmp_path / path)))


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        (hello_line(holder="raydap 0.1.0 with pid 7"), "raydap 0.1.0 with pid 7 debugs it"),
        (hello_line(port=41234), "breakpoint"),
        (hello_line(raydap=2), "another version"),
        (b"nonsense\n", "cannot read the data from its agent"),
    ],
)
def test_an_agent_that_cannot_be_used_says_why(tmp_path: Path, hello: bytes, reason: str) -> None:
    async def main() -> None:
        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(hello)
            writer.close()

        server = await asyncio.start_unix_server(answer, str(tmp_path / "agent"))
        async with server:
            with pytest.raises(OSError, match=reason):
                await connect(str(tmp_path / "agent"))

    asyncio.run(main())


def test_a_debugger_that_does_not_start_says_why(tmp_path: Path) -> None:
    async def main() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(hello_line())
            asked = json.loads(await reader.readline())
            assert asked["debug"] is True
            assert str(os.getpid()) in asked["client"]
            writer.write(b'{"error": "No module named \'debugpy\'"}\n')
            writer.close()

        async with await asyncio.start_unix_server(answer, str(tmp_path / "agent")):
            with pytest.raises(OSError, match="No module named 'debugpy'"):
                await connect(str(tmp_path / "agent"))

    asyncio.run(main())


def test_a_process_that_ends_before_it_answers_has_ended(tmp_path: Path) -> None:
    """Over the relay, its connection still exists for a moment."""

    async def main() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.close()
        with pytest.raises(ConnectionRefusedError, match="it has ended"):
            await connect(str(tmp_path / "missing"), ours)

    asyncio.run(main())


@pytest.mark.parametrize(("says", "expected"), [(hello_line(), BrokenPipeError), (b"", ConnectionRefusedError)])
def test_a_process_that_has_hung_up_is_asked_whether_it_lives(
    tmp_path: Path, says: bytes, expected: type[OSError]
) -> None:
    """A process that is ending still listens, but closes new connections at once."""

    async def main() -> None:
        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(says)
            writer.close()

        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.close()
        async with await asyncio.start_unix_server(answer, str(tmp_path / "agent")):
            with pytest.raises(expected):
                await connect(str(tmp_path / "agent"), ours)

    asyncio.run(main())


def test_a_connection_that_is_cut_off_is_made_once_more(tmp_path: Path) -> None:
    """The actor of a relay ends while raydap dials a worker through it, and its successor reaches the worker."""

    async def main() -> None:
        connections = 0

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            if connections > 1:
                writer.write(hello_line())
                if await reader.readline():
                    writer.write(b'{"error": ""}\n')
            writer.close()

        async with await asyncio.start_unix_server(answer, str(tmp_path / "agent")):
            with await connect(str(tmp_path / "agent")):
                assert connections == 3, "the first, a look whether the process lives, and the second"

    asyncio.run(asyncio.wait_for(main(), WAIT))


@pytest.mark.parametrize(
    ("said", "result"),
    [
        (b'{"threads": []}', '{"threads": []}'),
        (b"x" * 100_000, "x" * 100_000),
        (b"", "its agent is from an older raydap, which does not support this request"),
        (b"x" * (agent_connections.ANSWER_LIMIT + 1), "it sent too much"),
        (None, "it has ended"),
    ],
)
def test_a_question_is_answered(said: bytes | None, result: str, tmp_path: Path) -> None:
    path = str(tmp_path / "raydap-42")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(hello_line())
        assert json.loads(await reader.readline()) == {"stack": True}
        with suppress(OSError):
            writer.write(said or b"")
            await writer.drain()
        writer.close()

    async def main() -> None:
        async with await asyncio.start_unix_server(serve, path if said is not None else str(tmp_path / "other")):
            try:
                read = await agent_connections.ask(lambda: unix.dial(path, WAIT), {"stack": True}, WAIT)
            except OSError as error:
                read = str(error)
        assert read == result

    asyncio.run(asyncio.wait_for(main(), WAIT))
