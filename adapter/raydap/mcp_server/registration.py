"""The configurations that register the server with coding agents."""

import json
import shlex
import sys

ARGUMENTS = ["-m", "raydap", "mcp"]


def config(client: str) -> str:
    """Return the configuration for a client, with the interpreter that runs raydap now."""
    entry = {"command": sys.executable, "args": ARGUMENTS}
    return {
        "claude": lambda: f"claude mcp add raydap -- {shlex.join([sys.executable, *ARGUMENTS])}",
        "codex": lambda: (
            f"[mcp_servers.raydap]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(ARGUMENTS)}"
        ),
        "cursor": lambda: json.dumps({"mcpServers": {"raydap": entry}}, indent=2),
        "vscode": lambda: json.dumps({"servers": {"raydap": {"type": "stdio", **entry}}}, indent=2),
    }[client]()
