"""The table of the tools, with one row for each, and its form in MCP's `tools/list`.

The table imports nothing of a debug session, so that a client gets the list at once.
"""

from typing import Any, NamedTuple

import msgspec

from raydap.mcp_server import tool_arguments
from raydap.mcp_server.tool_arguments import ToolArguments

INSTRUCTIONS = """\
raydap debugs all processes of a Ray program as one session: the driver, tasks and actors are workers, with names such \
as `Trainer 3` (class and rank) or `prepare 4711` (task and process id).

The first line of each answer is the state of the session, the last one a call that fits it. Workers that are alike \
share a line: `Trainer{0-5,7}`. Such a name is a set, and most tools take sets; a set can also be \
`actor:Trainer rank:0-3`, `state:stopped`, `line:train.py:42`, `not ...`. A stop is state: it stays until you \
resume the worker, and `wait` reports it again. Only breakpoints, uncaught exceptions and go(action="pause") stop a \
worker.

- A program hangs: hang(), then stacks().
- A value is wrong in some worker: values(expressions=["loss"]); it works in running workers, too.
- Why does it fail: start(program="train.py") stops at the uncaught exception; look() shows its variables.
- When does it go wrong: breakpoint(at="train.py:42", condition="loss != loss"), go(action="continue"), wait().
- A breakpoint is not hit: its answer says in how many workers it is set, and why not in others.

Call end() when you are done: it removes your breakpoints, and all workers continue. A program that you have not \
started is never ended.
"""
"""MCP's `instructions`. Clients cut them after 2,000 characters."""


class Tool(NamedTuple):
    """A tool."""

    name: str
    """The name, by which clients call it."""
    arguments: type[ToolArguments]
    """The class of its arguments."""
    text: str
    """The description for models, which begins with when to use it; at most 500 characters."""
    is_read_only: bool = True
    """Whether it neither stops nor resumes a worker, nor changes anything that `end` has to undo."""
    is_destructive: bool = False
    """Whether it can end a program."""
    is_idempotent: bool = True
    """Whether a second call with the same arguments has no further effect."""
    is_looking: bool = False
    """Whether the tool is offered with --read-only."""


TOOLS = (
    Tool(
        "status",
        tool_arguments.StatusCall,
        "Call first, or to see where all workers are: how many are stopped, running or waiting at breakpoint(), and at "
        "which line. Finds the running Ray cluster or debug session by itself.",
        is_looking=True,
    ),
    Tool(
        "start",
        tool_arguments.StartCall,
        "To debug a program from its start, or a job that runs: launches a driver, or attaches to the workers of a job "
        "or hub. Sets the breakpoints first, then waits for the first stop. Give exactly one of program, module, job "
        "and hub. Not needed for stacks, hang and values in a running cluster.",
        is_read_only=False,
        is_idempotent=False,
    ),
    Tool(
        "breakpoint",
        tool_arguments.BreakpointCall,
        "To stop all workers that reach a line or function, now or later; with a condition, a log message instead of a "
        "stop, or a barrier that holds workers until all have come. Says in how many workers it is set. Without "
        "arguments: lists breakpoints.",
        is_read_only=False,
    ),
    Tool(
        "go",
        tool_arguments.GoCall,
        "To resume stopped workers (continue), step them (next, step, out), or stop running ones (pause); then waits "
        "for the next stop. step follows a call to Ray into the worker that runs it, out leads back. Without a set: "
        "continue moves all stopped workers, a step the one that you looked at.",
        is_read_only=False,
        is_idempotent=False,
    ),
    Tool(
        "wait",
        tool_arguments.WaitCall,
        "To wait until workers stop or the program ends. Returns at once if a worker of the set is stopped already. A "
        "time-out is a normal answer: call it again.",
        is_looking=True,
    ),
    Tool(
        "look",
        tool_arguments.LookCall,
        "To see one worker: its stack, source and variables. A running worker is read without stopping it.",
        is_looking=True,
    ),
    Tool(
        "values",
        tool_arguments.ValuesCall,
        "To compare values over all workers, stopped or running: equal values share a line, numbers get statistics, "
        "arrays shape, range and NaN counts. With baseline: what has changed since.",
    ),
    Tool(
        "stacks",
        tool_arguments.StacksCall,
        "To see where all workers are, as one tree, the rarest stacks first. No worker is stopped.",
        is_looking=True,
    ),
    Tool(
        "hang",
        tool_arguments.HangCall,
        "When a program makes no progress: what each worker waits for (tasks, locks, resources, collectives), who is "
        "missing, and deadlocks. No worker is stopped.",
        is_looking=True,
    ),
    Tool(
        "end",
        tool_arguments.EndCall,
        "When you are done: removes your breakpoints and barriers, resumes workers, and ends your part of the session. "
        "A program that start() launched ends only with how=terminate.",
        is_read_only=False,
        is_destructive=True,
    ),
)

BY_NAME = {tool.name: tool for tool in TOOLS}


def offered(read_only: bool) -> tuple[Tool, ...]:
    """Return the tools to offer, in their fixed order."""
    return tuple(tool for tool in TOOLS if tool.is_looking or not read_only)


def listing(tool: Tool) -> dict[str, Any]:
    """Return a tool as an entry of `tools/list`."""
    return {
        "name": tool.name,
        "description": tool.text,
        "inputSchema": schema(tool.arguments),
        "annotations": {
            "readOnlyHint": tool.is_read_only,
            "destructiveHint": tool.is_destructive,
            "idempotentHint": tool.is_idempotent,
            "openWorldHint": False,
        },
    }


def schema(kind: type[ToolArguments]) -> dict[str, Any]:
    """Return the JSON schema of arguments, without what a model does not need: titles and empty defaults."""
    whole = msgspec.json.schema(kind)["$defs"][kind.__name__]
    found = {"type": "object", "properties": whole["properties"], "additionalProperties": False}
    for each in found["properties"].values():
        each.pop("title", None)
        if each.get("default") in ("", [], False):
            del each["default"]
    return found | ({"required": whole["required"]} if whole.get("required") else {})
