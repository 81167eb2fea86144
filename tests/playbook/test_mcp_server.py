"""The MCP server with its official client in memory: progress, and the end of an unused session."""

import asyncio

import pytest
from mcp.client.client import Client

from raydap.client.joining import SessionTarget
from raydap.mcp_server import tool_server
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_server import ToolServer
from support.simulated_session import simulated


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_long_wait_reports_progress_and_ends_in_an_answer(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_server, "PROGRESS_S", 0.05)
    reports: list[str | None] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(message)

    async def talk() -> None:
        server = ToolServer(SessionTarget(), McpOptions())
        ticking = asyncio.ensure_future(session.tick())
        async with Client(server.server, mode=mode) as client:
            answer = await client.call_tool("wait", {"seconds": 1}, progress_callback=report)
            (content,) = answer.content
            assert content.type == "text"
            assert "No worker has stopped within 1 s" in content.text
        await server.close()
        ticking.cancel()

    with simulated(8) as session:
        asyncio.run(talk())
    assert len(reports) >= 3
    assert set(reports[1:]) == {"0 stopped, 8 running"}


def test_a_session_without_calls_ends_and_the_workers_go_on() -> None:
    async def talk() -> None:
        server = ToolServer(SessionTarget(), McpOptions(), idle_s=0.3)
        ticking = asyncio.ensure_future(session.tick())
        idle = asyncio.ensure_future(server.end_when_idle())
        async with Client(server.server) as client:
            await client.call_tool("go", {"action": "pause", "set": "Trainer 5", "wait": 0})
            session.trainers[5].stop(reason="pause")
            await client.call_tool("wait", {"set": "Trainer 5"})
            await session.tick(until=lambda: not session.play.bridge.state.stopped)
            answer = await client.call_tool("wait", {"set": "Trainer 5", "seconds": 0})
            assert not answer.is_error, "a later call joins again"
        idle.cancel()
        ticking.cancel()
        await server.close()

    with simulated(8) as session:
        asyncio.run(talk())
