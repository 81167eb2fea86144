"""The list of tools, as clients of MCP receive it."""

import json

import pytest
from jsonschema import Draft202012Validator

from raydap.mcp_server import tool_calls, tool_table
from raydap.mcp_server.tool_table import TOOLS, Tool

NAMES = ["status", "start", "breakpoint", "go", "wait", "look", "values", "stacks", "hang", "end"]
READ_ONLY = ["status", "wait", "look", "stacks", "hang"]


def test_there_are_ten_tools_in_a_fixed_order() -> None:
    assert [tool.name for tool in tool_table.offered(read_only=False)] == NAMES
    assert [tool.name for tool in tool_table.offered(read_only=True)] == READ_ONLY
    assert list(tool_calls._FUNCTIONS) == NAMES


def test_the_list_fits_into_eight_kilobytes() -> None:
    listed = {"tools": [tool_table.listing(tool) for tool in TOOLS]}
    assert len(json.dumps(listed, separators=(",", ":")).encode()) <= 8192


def test_clients_do_not_cut_the_instructions() -> None:
    assert len(tool_table.INSTRUCTIONS) <= 2000


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_a_tool_says_when_to_use_it_and_explains_each_argument(tool: Tool) -> None:
    assert len(tool.text) <= 500
    assert tool.text.startswith(("To ", "When ", "Call first"))
    listed = tool_table.listing(tool)
    Draft202012Validator.check_schema(listed["inputSchema"])
    assert listed["inputSchema"]["additionalProperties"] is False
    for name, each in listed["inputSchema"]["properties"].items():
        assert each.get("description"), name


def test_annotations_name_what_a_client_may_call_without_asking() -> None:
    hints = {tool.name: tool_table.listing(tool)["annotations"] for tool in TOOLS}
    assert [name for name in NAMES if hints[name]["readOnlyHint"]] == [*READ_ONLY[:3], "values", *READ_ONLY[3:]]
    assert [name for name in NAMES if hints[name]["destructiveHint"]] == ["end"]
    assert [name for name in NAMES if not hints[name]["idempotentHint"]] == ["start", "go"]
