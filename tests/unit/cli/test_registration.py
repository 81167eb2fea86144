"""The configurations of `raydap mcp --print-config`, and server.json for the MCP registry."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import raydap
from raydap.cli.main import main
from raydap.mcp_server import registration

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest needs it there.
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

ROOT = Path(__file__).parents[3]

ODD = ["/opt/Jürgen's python 😀/bin/python", 'C:\\my "python"\x7f', sys.executable]


def printed(client: str, *options: str) -> str:
    ended = CliRunner().invoke(main, ["mcp", "--print-config", client, *options])
    assert ended.exit_code == 0, ended.output
    return ended.output


def entry(client: str, text: str) -> tuple[str, list[str]]:
    """Return the command and the arguments with which this client starts the server."""
    if client == "claude":
        words = shlex.split(text)
        assert words[:5] == ["claude", "mcp", "add", "raydap", "--"]
        return words[5], words[6:]
    if client == "codex":
        found: Any = tomllib.loads(text)
        assert list(found) == ["mcp_servers"]
        server = found["mcp_servers"]["raydap"]
    elif client == "cursor":
        found = json.loads(text)
        assert list(found) == ["mcpServers"]
        server = found["mcpServers"]["raydap"]
    else:
        found = json.loads(text)
        assert list(found) == ["servers"]
        server = found["servers"]["raydap"]
        assert server.pop("type") == "stdio"
    assert list(server) == ["command", "args"]
    return server["command"], server["args"]


CLIENTS = ["claude", "codex", "cursor", "vscode"]


@pytest.mark.parametrize("python", ODD)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_starts_this_interpreter(client: str, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python)
    assert entry(client, registration.config(client)) == (python, ["-m", "raydap", "mcp"])


@pytest.mark.parametrize("client", CLIENTS)
def test_the_options_of_the_command_are_those_of_the_server(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an agent could do what the user has just forbidden."""
    monkeypatch.chdir(tmp_path)
    _, words = entry(client, printed(client, "--read-only", "--dashboard", "http://h:1", "--log-file", "my log"))
    assert words[3:] == ["--read-only", "--dashboard", "http://h:1", "--log-file", str(tmp_path / "my log")]
    assert entry(client, printed(client))[1] == ["-m", "raydap", "mcp"]


SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))


def test_the_registry_accepts_the_server() -> None:
    """These are the rules of the schema that server.json names, and of the registry for packages on PyPI."""
    assert re.fullmatch(
        r"https://static\.modelcontextprotocol\.io/schemas/\d{4}-\d\d-\d\d/server\.schema\.json", SERVER["$schema"]
    )
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 1 <= len(SERVER["description"]) <= 100
    assert set(SERVER) == {"$schema", "name", "title", "description", "version", "packages"}
    (package,) = SERVER["packages"]
    assert (package["registryType"], package["transport"]) == ("pypi", {"type": "stdio"})
    assert {SERVER["version"], package["version"]} == {raydap.__version__}
    assert package["runtimeHint"] == "uvx"
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        if argument["type"] == "positional":
            assert {"value", "valueHint"} & set(argument)
        else:
            assert argument["type"] == "named"
            assert argument["name"].startswith("--")


def test_its_command_line_serves_agents() -> None:
    (package,) = SERVER["packages"]
    words = [word for each in package["packageArguments"] for word in (each.get("name"), each.get("value")) if word]
    assert words[0] == "mcp"
    command = main.get_command(None, "mcp")  # type: ignore[arg-type]
    assert command is not None
    assert set(words[1:]) <= {name for parameter in command.params for name in parameter.opts}
    # The extra `mcp` of the package, in a form that does not change the name of the package.
    (extra,) = package["runtimeArguments"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (extra["name"], [extra["value"]]) == ("--with", project["optional-dependencies"]["mcp"])
    assert package["identifier"] == project["name"]


def test_the_readme_proves_who_owns_the_name() -> None:
    assert f"mcp-name: {SERVER['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
