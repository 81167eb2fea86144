"""Where the stopped workers of a set are, as lines of an answer, and waits for their next stops."""

import asyncio
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from raydap.analysis.sets.folding import group_name, smallest_first
from raydap.mcp_server.tool_session import ToolError, ToolSession
from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers, WorkerEntry
from raydap.protocol.stack_messages import WorkerPlace
from raydap.terminal.debugger.command_line import workers_named
from raydap.terminal.debugger.debugger import Debugger

GATHER_S = 0.3
"""Seconds for which stops are collected, because the workers of a class stop almost at once."""


class Found(NamedTuple):
    """The result of a tool."""

    lines: Sequence[str]
    """The lines of the answer."""
    following: str = ""
    """The next call; "" for the one that fits the state of the session."""


def as_set(text: str) -> str | None:
    """Return the set that an argument names; None for the empty text."""
    return workers_named(None, text)


async def stopped_in(debugger: Debugger, select: str | None) -> list[WorkerPlace]:
    """Return the stopped threads of a set; all stopped threads for None. Raises SessionError."""
    stops = debugger.threads.stops
    return [each for each in await debugger.places(select or "state:stopped") if each.thread in stops]


async def stopped_lines(debugger: Debugger, places: Collection[WorkerPlace]) -> list[str]:
    """Return a line for each place where threads are stopped, small groups first: `3 Trainer{0-2} at ...`."""
    groups: dict[str, list[WorkerEntry]] = {}
    for place in places:
        entry = debugger.live.workers.get(place.worker)
        if entry is not None and isinstance(place.thread, int):
            groups.setdefault(_where(debugger, place, entry, place.thread), []).append(entry)
    named = [(len(entries), group_name(entries), where) for where, entries in groups.items()]
    return [
        f"{count} {name}: {where}" for count, name, where in sorted(named, key=lambda row: smallest_first(*row[:2]))
    ]


def _where(debugger: Debugger, place: WorkerPlace, entry: WorkerEntry, thread: int) -> str:
    """Return the text of a stop: its reason, error and place."""
    errors = [each.error for each in entry.threads if each.thread_id == thread and each.error]
    location, stop = place.location, debugger.threads.stops[thread]
    where = f"{shown_path(location.path)}:{location.line} in {location.name}" if location else place.text
    return ", ".join([*errors[:1], where] if errors else [where, stop.reason])


def shown_path(path: str) -> str:
    """Return a path relative to this folder if it is below it, so that a model can use it in later calls."""
    here = os.getcwd()
    return os.path.relpath(path, here) if path.startswith(f"{here}/") else path


async def wait_for_stops(
    session: ToolSession, select: str | None, is_over: Callable[[Sequence[WorkerPlace]], bool], seconds: float
) -> list[WorkerPlace]:
    """Return the stopped threads of a set as soon as `is_over` accepts them, the session ends, or time is over.

    Stops that come within GATHER_S after the first one are included. Raises SessionError.
    """
    debugger = await session.joined()
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while True:
        seen = debugger.threads.count
        places = [] if debugger.has_ended else await stopped_in(debugger, select)
        if debugger.has_ended or is_over(places) or clock() >= until:
            break
        await debugger.threads.wait(partial(_has_changed, debugger, seen), until - clock())
    if not debugger.has_ended and places:
        await asyncio.sleep(min(GATHER_S, max(0.0, until - clock())))
        places = [] if debugger.has_ended else await stopped_in(debugger, select)
    return places


def _has_changed(debugger: Debugger, seen: int) -> bool:
    return debugger.has_ended or debugger.threads.count != seen


async def members(session: ToolSession, select: str) -> list[WorkerEntry]:
    """Return the workers of a set. Raises SessionError, and ToolError if there is none."""
    debugger = await session.joined()
    chosen = await debugger.live.ask("raydap/select", SelectArguments(select=select, running=True), SelectedWorkers)
    found = [debugger.live.workers[key] for key in chosen.workers if key in debugger.live.workers]
    if not found:
        names = group_name(debugger.live.busy)
        raise ToolError(f"No worker is in the set {select}. There are: {names or 'no workers'}.")
    return found
