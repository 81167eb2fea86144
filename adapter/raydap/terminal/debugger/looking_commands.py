"""The commands that show stacks and code: `where`, `stacks`, `hang`, `up`, `down`, `list`, `longlist` and `args`."""

from collections.abc import Sequence

from raydap.presentation import folded_tables
from raydap.presentation.short_text import file_name
from raydap.protocol.stack_messages import MergedStacks, StacksArguments
from raydap.protocol.wait_messages import WaitGraph, WaitsArguments
from raydap.terminal.debugger import frames
from raydap.terminal.debugger.command_line import as_set, number, workers_named
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.debugger.moving import function_around, function_lines
from raydap.terminal.debugger.printing import highlighted
from raydap.terminal.wait_tree import coloured

AROUND = 5
"""The number of lines that `list` shows before and after the current line."""


async def where(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the stack as pdb does, the innermost frame last; for a set, print all stacks as one tree."""
    if select is not None:
        await stacks(debugger, select, "")
        return
    found = await debugger.frames(debugger.current())
    current = await debugger.frame()
    for frame in reversed(found):
        lines = await debugger.sources.lines(debugger.connection, frame)
        mark = ">" if frame is current else " "
        place = f"{mark} {file_name(frame.path)}({frame.line}){frame.name}{frame.of_caller}"
        debugger.out.text(place, "bold" if mark == ">" else "dim" if frame.caller else "")
        if 0 < frame.line <= len(lines):
            debugger.out.rich(highlighted(f"-> {lines[frame.line - 1].strip()}"))


async def stacks(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print all stacks of a set, or of all stopped threads, as one tree."""
    wanted = StacksArguments(select=select if select is not None else as_set(rest) or None)
    found = await debugger.live.ask("raydap/stacks", wanted, MergedStacks)
    debugger.out.text(folded_tables.of_stacks(found))


async def hang(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the tree of waits, as `raydap hang` does."""
    wanted = WaitsArguments(select=workers_named(select, rest))
    debugger.out.rich(coloured(await debugger.live.ask("raydap/waits", wanted, WaitGraph)))


async def up(debugger: Debugger, select: str | None, rest: str) -> None:
    """Move the focus to the caller, or up by the number of frames in `rest`."""
    await _move(debugger, _count(rest))


async def down(debugger: Debugger, select: str | None, rest: str) -> None:
    """Move the focus to the called function, or down by the number of frames in `rest`."""
    await _move(debugger, -_count(rest))


def _count(rest: str) -> int:
    count = number(rest or "1")
    if count is None:
        raise CommandError(f'"{rest}" is not a number of frames.')
    return count


async def _move(debugger: Debugger, frames_up: int) -> None:
    found = await debugger.frames(debugger.current())
    place = debugger.focus.frame + frames_up
    if place >= len(found) and debugger.focus.frame == len(found) - 1:
        raise CommandError("This is the oldest frame.")
    if place < 0 and debugger.focus.frame == 0:
        raise CommandError("This is the newest frame.")
    debugger.focus.frame = max(0, min(place, len(found) - 1))
    debugger.focus.listed = 0
    await debugger.show_frame()


async def list_lines(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the lines that `rest` names, by default eleven around the current line.

    Repeated without arguments, the command prints the next lines. `.` returns to the current line.
    """
    frame = await debugger.frame()
    lines = await debugger.sources.lines(debugger.connection, frame)
    first, last = _range(rest, frame.line, debugger.focus.listed)
    await _show(debugger, frame, lines, first, last)
    debugger.focus.listed = min(last, len(lines))


def _range(rest: str, line: int, listed: int) -> tuple[int, int]:
    """Return the first and the last line to list. Raises CommandError.

    `line` is the current line. `listed` is the last line that was listed, 0 if none was.
    """
    if rest in ("", "."):
        first = listed + 1 if listed and not rest else max(1, line - AROUND)
        return first, first + 2 * AROUND
    numbers = [number(part.strip()) for part in rest.split(",")]
    begin, end = numbers[0], numbers[-1]
    if len(numbers) > 2 or begin is None or end is None:
        raise CommandError("Give one line, or two separated by a comma: list 40, 60.")
    if len(numbers) == 1:
        first = max(1, begin - AROUND)
        return first, first + 2 * AROUND
    # As in pdb, a second number that is smaller is a count.
    return max(1, begin), end if end >= begin else begin + end


async def long_list(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the source of the whole function."""
    frame = await debugger.frame()
    lines = await debugger.sources.lines(debugger.connection, frame)
    await _show(debugger, frame, lines, *function_lines(lines, frame.line))


async def _show(debugger: Debugger, frame: frames.Frame, lines: Sequence[str], first: int, last: int) -> None:
    if not lines:
        raise CommandError(f"The source of {frame.path} cannot be read.")
    shown = lines[first - 1 : last]
    if not shown:
        raise CommandError("The file has no more lines; `list .` shows the lines around the current one.")
    debugger.out.source(shown, first, frame.line, await debugger.breakpoints.lines(frame.path))


async def args(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the arguments of the function; all local variables if its source cannot be read."""
    frame = await debugger.frame()
    lines = await debugger.sources.lines(debugger.connection, frame)
    function = function_around(list(lines), frame.line)
    found = await frames.variables(debugger.connection, frame)
    if function is not None:
        taken = function.args
        every = [*taken.posonlyargs, *taken.args, taken.vararg, *taken.kwonlyargs, taken.kwarg]
        names = {each.arg for each in every if each is not None}
        found = [(name, value) for name, value in found if name in names]
    for name, value in found:
        debugger.out.text(f"{name} = {value}")
