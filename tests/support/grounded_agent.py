"""A model's part in a scenario: calls of tools whose arguments the model could know, within a budget."""

import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from raydap.mcp_server import tool_table

Call = Callable[[str, dict[str, Any]], Awaitable[str]]
"""Calls a tool with arguments, and returns the text of the answer."""


@dataclass(frozen=True)
class Budget:
    """The most that a scenario may cost."""

    calls: int
    size: int
    """Bytes of all answers together."""
    seconds: float = 60.0


BUDGETS = {
    "hang": Budget(calls=5, size=4096),
    "nan": Budget(calls=7, size=5120),
    "not hit": Budget(calls=3, size=5120),
    "exception": Budget(calls=4, size=4096),
}
"""The budgets of the scenarios (docs/performance.md), which hold for any number of workers."""


class GroundedAgent:
    """Calls tools, and fails if an argument occurs neither in the prompt, the sources, nor an earlier answer."""

    def __init__(self, call: Call, scenario: str, prompt: str, *sources: str) -> None:
        self._call = call
        self._budget = BUDGETS[scenario]
        self._known = "\n".join([prompt, *sources, json.dumps([tool_table.listing(tool) for tool in tool_table.TOOLS])])
        self._began = time.monotonic()
        self.calls = 0
        self.size = 0

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return the answer, which must name its session's state and a next call."""
        for value in arguments.values():
            for each in value if isinstance(value, list) else [value]:
                for word in re.findall(r"[\w.]+", str(each)) if isinstance(each, str) else []:
                    assert word in self._known, f"{tool}: how could a model know {word}?"
        text = await self._call(tool, arguments)
        self.calls += 1
        self.size += len(text.encode())
        self._known += "\n" + text
        lines = text.splitlines()
        assert re.match(r"\d+ stopped|no session|.* has ended", lines[0]), lines[0]
        assert re.match(r"Next: \w+\(", lines[-1]), lines[-1]
        return text

    def within_budget(self) -> None:
        """Check what the scenario has cost."""
        assert self.calls <= self._budget.calls
        assert self.size <= self._budget.size
        assert time.monotonic() - self._began <= self._budget.seconds
