"""The commands `break`, `tbreak`, `clear`, `condition` and `barrier`, which apply to all workers."""

import os
import re
from typing import Any

from raydap.core.model.breakpoints import WAITING
from raydap.presentation.short_text import file_line
from raydap.protocol.raydap_messages import Barriers, BarriersArguments, SetBreakpoint
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.debugger.moving import function_around

ANSWER_S = 1.0
"""Seconds to wait until a worker reports whether it has the code of a new breakpoint; enough for a busy machine.

raydap answers the request before workers report.
"""

_PLACE = re.compile(r"(?:(?P<file>.+):)?(?P<line>[0-9]{1,9})")


async def set_break(debugger: Debugger, select: str | None, rest: str) -> None:
    """Set a breakpoint, or list all breakpoints if `rest` is empty."""
    await _set(debugger, rest)


async def set_temporary(debugger: Debugger, select: str | None, rest: str) -> None:
    """Set a breakpoint that is removed when the first worker stops at it."""
    if not rest:
        raise CommandError("Give a line or a function: tbreak train.py:42.")
    await _set(debugger, rest, is_temporary=True)


async def _set(debugger: Debugger, rest: str, hit_condition: str = "", is_temporary: bool = False) -> None:
    """Set the breakpoint `PLACE[, CONDITION]`, or list all breakpoints if `rest` is empty."""
    if not rest:
        await _list(debugger)
        return
    place, _, condition = (part.strip() for part in rest.partition(","))
    path, line = await _place(debugger, place)
    spec: dict[str, Any] = {"line": line} if path else {"name": place}
    spec |= {"condition": condition} if condition else {}
    spec |= {"hitCondition": hit_condition} if hit_condition else {}
    breakpoints = debugger.breakpoints
    async with debugger.announcing:
        answer = (await breakpoints.send(path, [*await breakpoints.specs(path), spec]))[-1]
        if is_temporary:
            breakpoints.temporary.add(answer["id"])
        if answer.get("message") == WAITING:
            await debugger.threads.wait(
                lambda: answer["id"] in breakpoints.answered or not debugger.live.debugged, ANSWER_S
            )
        for number, each in await breakpoints.all():
            if each.id == answer["id"]:
                where = f"{path}:{each.line}" if path else place
                debugger.out.text(f"Breakpoint {number} at {where}")
                if each.message:
                    debugger.out.note(each.message)


async def _place(debugger: Debugger, text: str) -> tuple[str, int]:
    """Return the file and the line of a place; ("", 0) for a function whose file is not known. Raises CommandError."""
    found = _PLACE.fullmatch(text)
    if found is not None and found["file"] is None:
        return (await debugger.frame()).path, int(found["line"])
    if found is not None:
        return await path_named(debugger, found["file"]), int(found["line"])
    if not re.fullmatch(r"[A-Za-z_][\w.]*", text):
        raise CommandError(f'"{text}" is not a line, FILE:LINE or function.')
    if debugger.focus.thread in debugger.threads.stops:
        frame = await debugger.frame()
        lines = await debugger.sources.lines(debugger.connection, frame)
        for number, line in enumerate(lines, 1):
            if re.match(rf"\s*(async\s+)?def {re.escape(text.rpartition('.')[2])}\b", line):
                function = function_around(lines, number)
                return frame.path, number if function is None else function.body[0].lineno
    return "", 0


async def path_named(debugger: Debugger, name: str) -> str:
    """Return the path of a file that the user has named. Raises CommandError.

    The name is a path on this machine, the end of the path of a frame, or an absolute path in the workers.
    """
    path = _file_here(name)
    if path:
        return path
    for thread in debugger.threads.stops:
        for frame in await debugger.frames(thread):
            if frame.path == name or frame.path.endswith(f"/{name}"):
                return frame.path
    if os.path.isabs(name):
        return name
    raise CommandError(f"There is no file {name} on this machine; give its path in the workers.")


def _file_here(name: str) -> str:
    """Return the absolute path of a file on this machine; "" if there is no such file."""
    try:
        path = os.path.abspath(os.path.expanduser(name))
    except ValueError:
        # The name has a NUL after a ~.
        return ""
    return path if os.path.isfile(path) else ""


async def _list(debugger: Debugger) -> None:
    found = await debugger.breakpoints.all()
    if not found:
        debugger.out.text("No breakpoint is set.")
    for number, each in found:
        where = f"{each.path}:{each.line}" if each.path else each.function
        parts = [f"{number:<3} {'tbreak' if each.id in debugger.breakpoints.temporary else 'break ':6} at {where}"]
        parts += [f"if {each.condition}"] if each.condition else []
        parts += [f"hit {each.hit_condition}"] if each.hit_condition else []
        parts += [f"log {each.log_message}"] if each.log_message else []
        debugger.out.text(" ".join(parts))
        if each.message:
            debugger.out.note(f"    {each.message}")


async def clear(debugger: Debugger, select: str | None, rest: str) -> None:
    """Remove breakpoints by their numbers or at a place; all breakpoints if `rest` is empty."""
    breakpoints = debugger.breakpoints
    if not rest:
        for _, each in await breakpoints.all():
            await breakpoints.remove(each)
        debugger.out.text("Removed all breakpoints.")
        return
    if all(word.isdecimal() for word in rest.split()):
        chosen = [await _named(debugger, word) for word in rest.split()]
    else:
        path, line = await _place(debugger, rest)
        chosen = [
            each
            for _, each in await breakpoints.all()
            if each.path == path and (each.line == line if path else each.function == rest)
        ]
        if not chosen:
            raise CommandError(f"There is no breakpoint at {rest}; `break` lists them.")
    for each in chosen:
        await breakpoints.remove(each)
        debugger.out.text(f"Removed the breakpoint at {each.path or each.function}{f':{each.line}' * (each.line > 0)}")


async def _named(debugger: Debugger, number: str) -> SetBreakpoint:
    """Return the breakpoint with this number. Raises CommandError."""
    found = await debugger.breakpoints.named(number)
    if found is None:
        raise CommandError(f"There is no breakpoint {number}; `break` lists them.")
    return found


async def condition(debugger: Debugger, select: str | None, rest: str) -> None:
    """Give a breakpoint another condition, or none, so that it always stops."""
    number, _, text = rest.partition(" ")
    found = await _named(debugger, number)
    await debugger.breakpoints.change(found, text.strip())
    debugger.out.text(f"Breakpoint {number} stops {f'if {text.strip()}' if text.strip() else 'always'}.")


async def barrier(debugger: Debugger, select: str | None, rest: str) -> None:
    """Set a barrier (docs/usage/barriers.md), list the barriers where workers wait, or show or release the workers."""
    place, _, terms = rest.partition(" ")
    if place in ("", "show", "release"):
        action: Any = place or None
        found = await debugger.live.ask("raydap/barriers", BarriersArguments(action=action), Barriers)
        for each in found.barriers:
            where = file_line(each.path, each.line) if each.path else each.function
            debugger.out.text(f"{where}: {each.text}")
        if not found.barriers:
            debugger.out.text("No worker waits at a barrier.")
        return
    await _set(debugger, place, f"all {terms}".strip())
