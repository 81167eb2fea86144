"""An agent that does not answer in time is asked again; an agent that answers wrongly is not."""

import asyncio
from pathlib import Path

import pytest

from raydap.core.events import AgentFound, AgentsSearched, Event
from raydap.runtime import agent_connections, agents
from raydap.runtime.agents import Agents

HELLO = b'{"raydap": 1, "pid": 42, "socket": "/sockets/raydap-42", "worker_id": "w1"}\n'


def test_a_process_that_is_too_busy_to_answer_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "FIND_INTERVAL_S", 0.01)
    read_hello = agent_connections.read_hello
    monkeypatch.setattr(agents, "read_hello", lambda connection: read_hello(connection, 0.05))
    asked = {"busy": 0, "wrong": 0}

    async def busy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked["busy"] += 1
        if asked["busy"] > 2:
            writer.write(HELLO)
        await reader.read()
        writer.close()

    async def wrong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked["wrong"] += 1
        writer.write(HELLO.replace(b"1", b"2", 1))
        writer.close()

    async def main() -> None:
        events: asyncio.Queue[Event] = asyncio.Queue()
        finder = Agents(events.put_nowait)
        servers = [await asyncio.start_unix_server(busy, str(tmp_path / "raydap-42"))]
        servers.append(await asyncio.start_unix_server(wrong, str(tmp_path / "raydap-43")))
        finder.reach(str(tmp_path))
        assert await asyncio.wait_for(events.get(), 10) == AgentsSearched()
        assert isinstance(await asyncio.wait_for(events.get(), 10), AgentFound)
        assert asked == {"busy": 3, "wrong": 1}
        await finder.close()
        for server in servers:
            server.close()

    asyncio.run(main())
