"""The configurations that register the server with coding agents."""

import json
import shlex
import sys
from collections.abc import Sequence

ARGUMENTS = ["-m", "raydap", "mcp"]


def config(client: str, options: Sequence[str] = ()) -> str:
    """Return the configuration for a client, with the interpreter that runs raydap now.

    `options` are the options of `raydap mcp` with which the client starts the server.
    """
    arguments = [*ARGUMENTS, *options]
    entry = {"command": sys.executable, "args": arguments}
    return {
        # A command for the shell. The others are files: ~/.codex/config.toml, .cursor/mcp.json and .vscode/mcp.json.
        "claude": lambda: f"claude mcp add raydap -- {shlex.join([sys.executable, *arguments])}",
        "codex": lambda: (
            f"[mcp_servers.raydap]\ncommand = {_toml(sys.executable)}\nargs = [{', '.join(map(_toml, arguments))}]"
        ),
        "cursor": lambda: json.dumps({"mcpServers": {"raydap": entry}}, indent=2),
        "vscode": lambda: json.dumps({"servers": {"raydap": {"type": "stdio", **entry}}}, indent=2),
    }[client]()


def _toml(text: str) -> str:
    """Return a basic string of TOML. JSON differs: it escapes some characters as pairs, and may contain DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
