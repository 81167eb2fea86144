"""What an agent can do by `raydap mcp`, as docs/security.md describes it."""

from pathlib import Path

import pytest

from raydap.client.joining import SessionTarget
from raydap.mcp_server import looking_tools, masking, tool_table
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_session import ToolError, ToolSession

PAGE = Path(__file__).parents[3] / "docs" / "security.md"


@pytest.mark.parametrize("text", ["x = 1", "import os", "del self.step", "for x in y: pass"])
def test_statements_are_refused_unless_the_user_allows_them(text: str) -> None:
    with pytest.raises(ToolError, match="--allow-code"):
        looking_tools.check_expression(ToolSession(SessionTarget(), McpOptions()), text)
    looking_tools.check_expression(ToolSession(SessionTarget(), McpOptions(allow_code=True)), text)
    looking_tools.check_expression(ToolSession(SessionTarget(), McpOptions()), "self.step + 1")


@pytest.mark.parametrize(
    "text", ["password = 'open sesame'", '{"api_key": "open sesame"}', "HF_TOKEN=sesame", "sk-sesame-sesame-sesame"]
)
def test_values_that_look_like_secrets_are_masked(text: str) -> None:
    assert "sesame" not in masking.masked(text)
    assert masking.MASK in masking.masked(text)


def test_a_server_that_only_reads_has_no_other_tools() -> None:
    names = [tool.name for tool in tool_table.offered(read_only=True)]
    assert sorted(names) == ["hang", "look", "stacks", "status", "wait"]
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| launch a program,")]
    assert all(f"`{name}`" in row for name in names)
