"""`raydap ps`: prints the list of workers once, or watches it."""

import asyncio
from typing import NamedTuple, NoReturn

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import ConnectionEnded, SessionError
from raydap.client.joining import SessionTarget
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.exit_codes import ExitCode
from raydap.presentation.safe_text import one_line
from raydap.terminal import screen
from raydap.terminal.legacy_listing import LegacyListing
from raydap.terminal.live_session import LiveSession, answering, looking
from raydap.terminal.process_list import ProcessRow, Seen, as_table, folded, look, singly

REFRESH_S = 2.0
"""Seconds between two refreshes of the list with the places of workers that have an agent."""

LEGACY_TIMEOUT_S = 5.0
"""Seconds for Ray to report what waits for its old debugger, counted from when everything else is known.

Ray is queried in parallel with everything else, so there is usually no wait.
"""

MAX_ROWS = 30
"""The most rows of folded workers, so that the output stays short for any number of workers."""


class Choices(NamedTuple):
    """The options of `raydap ps`."""

    include_idle: bool = False
    """Whether to list idle workers, too."""
    as_json: bool = False
    """Whether to print JSON."""
    watch: bool = False
    """Whether to refresh the list until the user ends it."""
    each: bool = False
    """Whether to print a row for each worker. Otherwise equal rows are folded."""


async def show(target: SessionTarget, select: str | None, choices: Choices) -> int:
    """Print the list, once or until the user ends it. Return the exit code.

    Raises what `looking` raises, and SessionError.
    """
    legacy = LegacyListing()
    try:
        async with looking(target) if choices.watch else answering(target, "raydap stacks") as live:
            legacy.follow(live)
            return await _show(live, legacy, select, choices)
    finally:
        await legacy.close()


async def _show(live: LiveSession, legacy: LegacyListing, select: str | None, choices: Choices) -> int:
    console, errors = screen.console(), screen.console(stderr=True)
    if not (live.listed.is_set() or (choices.watch and await live.wait_listed())):
        errors.print("Ray has not listed the workers in time; the list may be incomplete.")
    if choices.watch:
        await _watch(live, legacy, select, choices)
    rows = await look(live, legacy, select, choices.include_idle, Seen(), legacy_timeout_s=LEGACY_TIMEOUT_S)
    if choices.as_json:
        screen.print_json([row.as_json() for row in rows])
    elif rows:
        console.print(_as_text(rows, choices, console.width))
    else:
        errors.print(no_rows_text(live, select))
    for problem in dict.fromkeys(row.entry.problem for row in rows if row.entry.type == "child" and row.entry.problem):
        if not choices.as_json:
            errors.print(one_line(problem), style="dim")
    waiting = sum(row.pdb is not None for row in rows)
    if waiting and not choices.as_json:
        who = "1 worker waits" if waiting == 1 else f"{waiting} workers wait"
        errors.print(f"{who} for Ray's old debugger; `pdb` in `raydap debug` joins a breakpoint.", style="dim")
    return ExitCode.DONE if rows else ExitCode.NO_WORKER


def _as_text(rows: list[ProcessRow], choices: Choices, width: int) -> RenderableType:
    """Return the table of the rows; of folded rows at most MAX_ROWS, and how to list the others."""
    if choices.each or choices.include_idle:
        return as_table(singly(rows), width)
    found = folded(rows)
    table = as_table(found[:MAX_ROWS], width)
    more = len(found) - MAX_ROWS
    return table if more <= 0 else Group(table, Text(f"and {more} more rows; `raydap ps --each` lists all workers"))


async def _watch(live: LiveSession, legacy: LegacyListing, select: str | None, choices: Choices) -> NoReturn:
    """Refresh the list until the user presses Ctrl-C. Raises ConnectionEnded when the session ends."""
    seen = Seen()
    console = screen.console()
    shown: list[LegacyBreakpoint] = []

    def take_legacy() -> None:
        if legacy.breakpoints != shown:
            live.changed.set()

    legacy.on_look = take_legacy
    live.progress.end()
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as view:
        while not live.ended.is_set():
            live.changed.clear()
            shown[:] = legacy.breakpoints
            try:
                rows = await look(live, legacy, select, choices.include_idle, seen)
            except SessionError as error:
                view.update(Text(str(error)), refresh=True)
            else:
                shown_now = _as_text(rows, choices, console.width) if rows else Text(no_rows_text(live, select))
                view.update(shown_now, refresh=True)
            try:
                await wait_for(live.changed.wait(), REFRESH_S)
            except asyncio.TimeoutError:
                continue
    # Fail, or the user could take the last list for the present state.
    raise ConnectionEnded("The session has ended; start the command again.")


def no_rows_text(live: LiveSession, select: str | None) -> str:
    """Return why the list has no rows."""
    if live.outage:
        return live.outage
    if select is not None and live.workers:
        is_hidden = len(live.busy) < len(live.workers)
        return live.no_worker_in(select) + " `--all` also lists idle workers." * is_hidden
    return (
        "All workers of this cluster are idle; `raydap ps --all` lists them."
        if live.workers
        else "No workers are running."
    )
