"""The commands `watch` and `unwatch`, which are the console commands `/watch` and `/unwatch` of every client."""

from contextlib import suppress

from raydap.client.dap_connection import RequestRefused
from raydap.terminal.debugger.debugger import CommandError, Debugger, last_line


async def watch(debugger: Debugger, select: str | None, rest: str) -> None:
    """Watch an expression in the function that the user looks at, or list what is watched if `rest` is empty."""
    await _console(debugger, "watch", select, rest)


async def unwatch(debugger: Debugger, select: str | None, rest: str) -> None:
    """Stop watching the expression with a number; if `rest` is empty, stop watching all expressions."""
    await _console(debugger, "unwatch", None, rest)


async def _console(debugger: Debugger, command: str, select: str | None, rest: str) -> None:
    where = "" if select is None else f"/in {select} "
    frame = {}
    with suppress(CommandError):  # The list, and a watch at a given line, need no stopped worker.
        frame = {"frameId": (await debugger.frame()).id}
    try:
        text = f"{where}/{command} {rest}".rstrip()
        body = await debugger.request("evaluate", expression=text, context="repl", **frame)
    except RequestRefused as refused:
        raise CommandError(last_line(str(refused))) from None
    debugger.out.text(str(body.get("result", "")))
