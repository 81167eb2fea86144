"""The commands `p`, `pp`, `whatis`, `display`, `undisplay` and `compare`, and plain Python."""

import ast
import asyncio

from raydap.client.dap_connection import RequestRefused
from raydap.presentation import folded_tables
from raydap.protocol.python_source import parse_expression
from raydap.protocol.value_messages import CompareArguments, Comparison, EvaluateThreadsArguments, Evaluations
from raydap.terminal.debugger.debugger import CommandError, Debugger, last_line


async def p(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the value of an expression; in a set, print equal values together."""
    await _print(debugger, select, _needed(rest, "p loss"))


async def whatis(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the type of an expression; in a set, print equal types together."""
    await _print(debugger, select, f"type(({_needed(rest, 'whatis loss')}\n))")


async def pp(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print a long value on several lines. In a set, each value is one line, as with `p`."""
    expression = _needed(rest, "pp config")
    if select is not None:
        await _print(debugger, select, expression)
        return
    width = max(20, debugger.console.width - 1)
    value = f"__import__('pprint').pformat(({expression}\n), width={min(width, 200)})"
    written = await debugger.evaluate(value)
    try:
        debugger.out.text(str(ast.literal_eval(written)))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        # debugpy has shortened the text, which is therefore no literal any more.
        debugger.out.text(written)


def _needed(rest: str, example: str) -> str:
    if not rest:
        raise CommandError(f"Give an expression: {example}.")
    return rest


async def _print(debugger: Debugger, select: str | None, expression: str) -> None:
    if select is None:
        debugger.out.text(await debugger.evaluate(expression))
        return
    wanted = EvaluateThreadsArguments(expression=expression, select=select, running=True)
    found = await debugger.live.ask("raydap/evaluate", wanted, Evaluations)
    debugger.out.text(folded_tables.of_evaluations(found))


async def compare(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print how the values of an expression, which can be of any size, differ between threads."""
    wanted = CompareArguments(expression=_needed(rest, "compare loss"), select=select, running=select is not None)
    found = await debugger.live.ask("raydap/compare", wanted, Comparison)
    debugger.out.text(folded_tables.of_comparison(found))


async def display(debugger: Debugger, select: str | None, rest: str) -> None:
    """Show an expression now and at each later stop. If `rest` is empty, show all such expressions."""
    if rest and rest not in debugger.displays:
        debugger.displays.append(rest)
    frame = await debugger.frame()
    for expression in [rest] if rest else debugger.displays:
        debugger.out.text(f"display {expression}: {await debugger.shown(expression, frame)}")
    if not debugger.displays:
        debugger.out.text("No expression is displayed.")


async def undisplay(debugger: Debugger, select: str | None, rest: str) -> None:
    """Stop showing an expression at each stop; if `rest` is empty, stop showing all expressions."""
    if not rest:
        debugger.displays.clear()
    elif rest in debugger.displays:
        debugger.displays.remove(rest)
    else:
        raise CommandError(f"{rest} is not displayed; `display` lists the displayed expressions.")


async def python(debugger: Debugger, select: str | None, text: str) -> None:
    """Run Python in the frame that the user looks at, or in the innermost frame of each thread of a set.

    Text that begins with `/` is a command that raydap carries out itself, for any client (docs/usage/sets.md).
    """
    if text.startswith("/"):
        console = await debugger.request("evaluate", expression=text, context="repl")
        debugger.out.text(str(console["result"]))
    elif select is None:
        result = await debugger.evaluate(text, context="repl")
        if result and result != "None":
            debugger.out.text(result)
    elif _is_expression(text):
        await _print(debugger, select, text)
    else:
        await _run(debugger, select, text)


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


async def _run(debugger: Debugger, select: str, text: str) -> None:
    found = await debugger.stopped_in(select)
    threads = [each.thread for each in found if isinstance(each.thread, int)]
    answers = await asyncio.gather(*(_run_in(debugger, thread, text) for thread in threads))
    for thread, error in zip(threads, answers, strict=True):
        if error:
            debugger.out.error(f"{debugger.name(thread)}: {error}")
    debugger.out.note(f"Executed in {sum(not error for error in answers)} of {len(threads)} threads.")


async def _run_in(debugger: Debugger, thread: int, text: str) -> str:
    """Run Python in the innermost frame of a thread. Return its error, "" if it succeeds."""
    try:
        frame = (await debugger.frames(thread))[0]
        await debugger.request("evaluate", expression=text, frameId=frame.id, context="repl")
    except RequestRefused as refused:
        return last_line(str(refused))
    except CommandError as error:
        return str(error)
    return ""
