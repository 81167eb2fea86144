"""The MCP server on standard input and output.

It answers `initialize` and `tools/list` before it imports what a session needs.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import raydap
from raydap.bounded_wait import wait_for
from raydap.mcp_server import tool_table
from raydap.mcp_server.mcp_options import McpOptions

if TYPE_CHECKING:
    from raydap.client.joining import SessionTarget
    from raydap.mcp_server.tool_calls import ToolCalls

log = logging.getLogger("raydap")

PROGRESS_S = 5.0
"""Seconds between two reports of progress during a call."""

IDLE_S = 1800.0
"""Seconds without a call after which nothing stops a worker any more, in case the client has forgotten the session."""

LONGEST_MESSAGE = 4 << 20
"""The most bytes of a client's message."""


class ToolServer:
    """The server of one client. Must be closed."""

    def __init__(self, target: "SessionTarget", options: McpOptions, idle_s: float = IDLE_S) -> None:
        self._target = target
        self._options = options
        self._idle_s = idle_s
        self._calls: ToolCalls | None = None
        self._running = 0
        """The number of calls that have no answer yet."""
        self._called = asyncio.Event()
        """Set at the beginning and the end of each call."""
        self.server: Server[Any] = Server(
            "raydap",
            version=raydap.__version__,
            instructions=tool_table.INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        offered = tool_table.offered(self._options.read_only)
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool_table.listing(tool)) for tool in offered])

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if self._calls is None:
            module = await asyncio.to_thread(import_module, "raydap.mcp_server.tool_calls")
            self._calls = self._calls or module.ToolCalls(self._target, self._options)
        self._running += 1
        self._called.set()
        # In a task of its own, so that what a cancelled call undoes is not cancelled again and again, as anyio does.
        work = asyncio.ensure_future(self._calls.call(params.name, params.arguments or {}))
        reporting = asyncio.ensure_future(self._report(context, self._calls))
        try:
            answer = await asyncio.shield(work)
        except asyncio.CancelledError:
            work.cancel()
            raise
        finally:
            reporting.cancel()
            self._running -= 1
            self._called.set()
        content: list[Any] = [types.TextContent(type="text", text=answer.text)]
        return types.CallToolResult(content=content, is_error=answer.is_error)

    async def _report(self, context: Any, calls: "ToolCalls") -> None:
        """Report progress until cancelled, so that the client does not give up."""
        seconds = 0.0
        while True:
            await asyncio.sleep(PROGRESS_S)
            seconds += PROGRESS_S
            await context.session.report_progress(seconds, message=calls.session.state())

    async def end_when_idle(self) -> None:
        """Undo what the model has done whenever there was no call for a long time. Run until cancelled."""
        while True:
            self._called.clear()
            try:
                await wait_for(self._called.wait(), self._idle_s)
            except asyncio.TimeoutError:
                if self._calls is not None and not self._running:
                    await self._calls.session.rest()

    async def close(self) -> None:
        """End the session."""
        if self._calls is not None:
            await self._calls.close()


async def serve(target: "SessionTarget", options: McpOptions) -> int:
    """Serve the client at standard input and output until its end. Return the exit code."""
    server = ToolServer(target, options)
    idle = asyncio.ensure_future(server.end_when_idle())
    reader = asyncio.StreamReader(limit=LONGEST_MESSAGE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        output = anyio.wrap_file(sys.stdout)
        async with stdio_server(_Lines(reader), output) as (incoming, outgoing):  # type: ignore[arg-type]
            await server.server.run(incoming, outgoing, server.server.create_initialization_options())
    finally:
        idle.cancel()
        transport.close()
        with suppress(OSError):
            await server.close()
    return 0


class _Lines:
    """The lines of standard input for the SDK, whose own reader would keep the process alive after a signal."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                log.warning("a message of the client is longer than %d bytes, and is dropped", LONGEST_MESSAGE)
                continue
            if not line:
                return
            yield line.decode("utf-8", "replace")
