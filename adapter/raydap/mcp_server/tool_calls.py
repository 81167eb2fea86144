"""Carries out a call of a tool: reads its arguments, calls its function, and composes the answer."""

import asyncio
import difflib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.errors import ProblemError
from raydap.hub.hub_token import TokenError
from raydap.mcp_server import (
    answer_text,
    breakpoint_tool,
    looking_tools,
    masking,
    running_tools,
    tool_arguments,
    tool_table,
)
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.stopped_workers import Found
from raydap.mcp_server.tool_session import ToolError, ToolSession
from raydap.terminal.debugger.debugger import CommandError

log = logging.getLogger("raydap")

_FUNCTIONS: Mapping[str, Callable[[ToolSession, Any], Awaitable[Found]]] = {
    "status": looking_tools.status,
    "start": running_tools.start,
    "breakpoint": breakpoint_tool.run,
    "go": running_tools.go,
    "wait": running_tools.wait,
    "look": looking_tools.look,
    "values": looking_tools.values,
    "stacks": looking_tools.stacks,
    "hang": looking_tools.hang,
    "end": running_tools.end,
}

_MOVING = ("start", "go", "breakpoint", "end")
"""The tools that change the session. Their calls wait for each other; the others run beside them."""


class CallAnswer(NamedTuple):
    """The answer to a call."""

    text: str
    """The text for the model."""
    is_error: bool
    """Whether the call could not be carried out."""


class ToolCalls:
    """The calls of one client. Must be closed."""

    def __init__(self, target: SessionTarget, options: McpOptions) -> None:
        self.session = ToolSession(target, options)
        self._options = options
        self._folder = answer_text.Folder()
        self._moving = asyncio.Lock()

    async def call(self, name: str, given: Mapping[str, Any]) -> CallAnswer:
        """Carry out a call, and return its answer. Raises nothing but CancelledError."""
        is_error, following = False, ""
        try:
            found = await self._found(name, given)
            lines, following = list(found.lines), found.following
        except (ToolError, CommandError, SessionError, TokenError, tool_arguments.ArgumentError) as error:
            lines, is_error = [str(error)], True
        except ProblemError as error:
            lines, is_error = [str(error.problem)], True
        except OSError as error:
            lines, is_error = [f"The session cannot be reached: {error.strerror or error}."], True
        except Exception:
            log.exception("the tool %s failed", name)
            lines, is_error = [f"{name} failed because of a defect in raydap; the log has the details."], True
        return CallAnswer(self._text(lines, following), is_error)

    async def _found(self, name: str, given: Mapping[str, Any]) -> Found:
        names = [tool.name for tool in tool_table.offered(self._options.read_only)]
        if name not in names:
            near = difflib.get_close_matches(name, names, 1, 0.5)
            meant = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(names)}."
            raise ToolError(f"There is no tool {json.dumps(name)}; {meant}")
        read = tool_arguments.read(tool_table.BY_NAME[name].arguments, given)
        if name in _MOVING:
            async with self._moving:
                return await _FUNCTIONS[name](self.session, read)
        return await _FUNCTIONS[name](self.session, read)

    def _text(self, lines: list[str], following: str) -> str:
        output, dropped = self.session.new_output(answer_text.OUTPUT_LINES)
        mask = (lambda text: text) if self._options.show_secrets else masking.masked
        return answer_text.compose(
            self.session.state(),
            [mask(line) for line in lines],
            [mask(line) for line in output],
            dropped,
            following or self._following(),
            self._folder.write,
        )

    def _following(self) -> str:
        """Return the next call that fits the state of the session."""
        debugger = self.session.debugger
        if debugger is None:
            return 'status(), or start(program="train.py", breakpoints=["train.py:42"])'
        if debugger.has_ended:
            return 'start(program="..."), or end()'
        threads = debugger.threads
        thread = debugger.focus.thread if debugger.focus.thread in threads.stops else debugger.next_stopped()
        if thread is not None:
            return f'look(worker="{debugger.name(thread)}")'
        return "wait()" if self.session.is_debugging else "stacks()"

    async def close(self) -> None:
        """Undo what the model has done, leave the session, and remove the files of long answer_text."""
        try:
            await self.session.leave()
        finally:
            self._folder.close()
