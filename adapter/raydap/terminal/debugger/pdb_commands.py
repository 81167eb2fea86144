"""The command `pdb`, which joins a breakpoint of Ray's old debugger, and the lines that the user types there."""

import asyncio
from collections.abc import Sequence

from raydap.bounded_wait import wait_for
from raydap.client.pdb_connection import NotReached
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint, ends_debugger
from raydap.inworker import safe_pdb
from raydap.presentation.durations import whole_seconds
from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers
from raydap.terminal import screen
from raydap.terminal.debugger.command_line import as_set, number
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.process_list import pdb_age, pdb_place

LISTED_ALONE = 3
"""The maximum number of new breakpoints that are announced one by one. Of more, only the count is announced."""

LOOK_TIMEOUT_S = 15.0
"""Seconds to wait for the first list of breakpoints from Ray."""


async def pdb(debugger: Debugger, select: str | None, rest: str) -> None:
    """Join the breakpoint that the user names by its number or a set; without a name, join the only breakpoint.

    If there are several, list them instead.
    """
    wanted = await _look(debugger)
    if select is None and rest.isdecimal():
        wanted = [found for found in wanted if debugger.old.number(found) == number(rest)]
        if not wanted:
            raise CommandError(f"There is no breakpoint {rest} of Ray's old debugger; `pdb` lists them.")
    elif select is not None or rest:
        wanted = await _in_set(debugger, wanted, select if select is not None else as_set(rest))
        if not wanted:
            raise CommandError("No worker in this set waits for Ray's old debugger; `pdb` lists the workers that do.")
    if not wanted:
        raise CommandError("No worker waits for Ray's old debugger.")
    if len(wanted) > 1:
        show_list(debugger, wanted)
        debugger.out.note("`pdb NUMBER` joins one of them.")
    else:
        await join(debugger, wanted[0])


async def join_selected(debugger: Debugger, select: str) -> bool:
    """Join the only breakpoint of the set that the user has named at the start. Return whether there is exactly one.

    Raises SessionError, and CommandError if the breakpoint cannot be joined.
    """
    try:
        wanted = await _in_set(debugger, await _look(debugger), select)
    except CommandError:
        return False
    if len(wanted) != 1:
        return False
    await join(debugger, wanted[0])
    return True


async def _look(debugger: Debugger) -> list[LegacyBreakpoint]:
    listing = debugger.old.listing
    try:
        await wait_for(listing.looked.wait(), LOOK_TIMEOUT_S)
    except asyncio.TimeoutError:
        raise CommandError("Ray has not listed the breakpoints of its old debugger yet; try again.") from None
    if listing.problem:
        raise CommandError(f"Cannot list the breakpoints of Ray's old debugger: {listing.problem}.")
    return listing.breakpoints


async def _in_set(debugger: Debugger, found: Sequence[LegacyBreakpoint], select: str) -> list[LegacyBreakpoint]:
    chosen = await debugger.live.ask("raydap/select", SelectArguments(select=select), SelectedWorkers)
    return [one for one in found if one.worker in chosen.workers]


def show_list(debugger: Debugger, breakpoints: Sequence[LegacyBreakpoint]) -> None:
    """Print a table of breakpoints with their numbers."""
    rows = [
        [
            str(debugger.old.number(one)),
            _name(debugger, one),
            one.node,
            str(one.pid),
            whole_seconds(pdb_age(one)),
            pdb_place(one),
        ]
        for one in breakpoints
    ]
    columns = ["NUMBER", "WORKER", "NODE", "PID", "FOR", "WHERE"]
    width = debugger.console.width
    debugger.out.rich(screen.table(columns, rows, width, cut=("WORKER", "WHERE"), drop=("NODE", "FOR", "PID")))
    debugger.old.mark_shown(breakpoints)


def announce(debugger: Debugger) -> None:
    """Print which breakpoints are new, and how to join them."""
    new = debugger.old.take_new()
    if len(new) > LISTED_ALONE:
        debugger.out.note(f"{len(new)} workers wait for Ray's old debugger; `pdb` lists them.", is_important=True)
        return
    for one in new:
        what = f"{_name(debugger, one)} waits for Ray's old debugger {pdb_place(one)}"
        debugger.out.note(f"{what}; `pdb {debugger.old.number(one)}` joins it.", is_important=True)


async def join(debugger: Debugger, found: LegacyBreakpoint) -> None:
    """Join a breakpoint, and print how to leave it. Raises CommandError."""
    debugger.old.mark_shown([found])
    name = _name(debugger, found)
    try:
        connection = await debugger.old.join(found, debugger.out.text)
    except NotReached as error:
        raise CommandError(f"{name} cannot be joined: {error}.") from None
    if found.traceback:
        debugger.out.error(found.error)
    if not connection.is_safe:
        debugger.out.note(
            f"Leave {name} only with `continue`. raydap could not protect its task, and any other exit ends the task.",
            is_important=True,
        )
    elif found.traceback:
        debugger.out.note(f"This is the pdb of {name}, whose task has failed. `continue` or Ctrl-D leaves it.")
    else:
        debugger.out.note(f"This is the pdb of {name}. `continue` or Ctrl-D leaves it; the task keeps running.")


async def send_line(debugger: Debugger, line: str) -> None:
    """Send a line to the joined pdb, and wait until pdb has executed it. If cancelled, leave the pdb."""
    assert debugger.old.joined is not None
    connection, found = debugger.old.joined
    try:
        await connection.ask(line)
    except asyncio.CancelledError:
        await leave(debugger)
        raise
    if not connection.has_ended:
        return
    await debugger.old.leave()
    if connection.has_died:
        debugger.out.error(f"The connection to {_name(debugger, found)} is lost: its process or its node has died.")
    elif connection.last in (safe_pdb.TO_REMOTE, safe_pdb.TO_GET):
        await _follow(debugger, found)


async def leave(debugger: Debugger) -> bool:
    """Leave the joined pdb. Return whether there was one."""
    if debugger.old.joined is None:
        return False
    _, found = debugger.old.joined
    await debugger.old.leave()
    name = _name(debugger, found)
    debugger.out.note(f"{name} ends with its exception." if found.traceback else f"{name} keeps running.")
    return True


async def _follow(debugger: Debugger, found: LegacyBreakpoint) -> None:
    """Wait for the breakpoint to which `remote` or `get` leads, and join it. Ray lists it under the same key."""
    listing = debugger.old.listing
    # With this entry, `ray debug` would wait for the same breakpoint.
    listing.forget(found.key.replace("RAY_PDB_", "RAY_PDB_CONTINUE_", 1))
    debugger.out.note("raydap waits for that breakpoint and joins it; Ctrl-C cancels.")
    while True:
        await listing.next_look()
        if ends_debugger(listing.entries.get(found.key, "")):
            listing.forget(found.key)
            debugger.out.note("The task has ended without such a call.")
            return
        for one in listing.breakpoints:
            if one.key == found.key and one.since != found.since:
                await join(debugger, one)
                return


def _name(debugger: Debugger, found: LegacyBreakpoint) -> str:
    """Return the name of a breakpoint's worker, such as `Trainer 2` or `prepare 4711`.

    Until Ray has listed what the worker runs, the name is that of the breakpoint's entry.
    """
    entry = debugger.live.workers.get(found.worker)
    return entry.title if entry is not None and (entry.actor or entry.task) else f"{found.name} {found.pid}"
