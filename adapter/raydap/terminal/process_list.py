"""The list of workers with their tasks, places, and times in state: its rows, and its table with equal rows folded."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from rich.table import Table
from rich.text import Text

from raydap.analysis.sets.folding import group_name
from raydap.bounded_wait import wait_for
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.presentation.durations import whole_seconds
from raydap.presentation.short_text import file_line, function_line, shortened
from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers, WorkerEntry
from raydap.protocol.stack_messages import CodeLocation, Places, PlacesArguments, WaitingChild, WorkerPlace
from raydap.terminal import screen
from raydap.terminal.legacy_listing import LegacyListing
from raydap.terminal.live_session import LiveSession, is_idle

OUTSIDE_S = 10.0
"""Seconds between two readings of workers without an agent, unless a worker has changed."""

OUTSIDE_SHARE = 0.05
"""The share of the time that these readings may take: each stops its process for some hundredths of a second."""

LONGEST_NAME = 60
"""The most characters of the short name of several workers. The ranks of many workers may have many gaps."""

PDB = "pdb"
"""The state of a worker that waits for Ray's old debugger. The session itself reports that worker as running."""

STATES = {
    "stopped": "bold red",
    "held": "bold magenta",
    "paused": "yellow",
    PDB: "bold yellow",
    "attaching": "yellow",
    "running": "green",
    "alive": "",
}
"""The states in the order of the list, with their styles."""


class ProcessRow(msgspec.Struct, frozen=True):
    """A worker, or a breakpoint of Ray's old debugger where a worker waits."""

    entry: WorkerEntry
    """The entry of the worker or forked child; some are not in the session's list."""
    place: WorkerPlace | None
    """Where the worker's first thread with code of the user's is; None if that is not known."""
    pdb: LegacyBreakpoint | None = None
    """The breakpoint of Ray's old debugger; None for an ordinary row."""
    age: float | None = None
    """Seconds since the state began; None if that is not known."""

    @property
    def state(self) -> str:
        """The state to show: a key of STATES."""
        return self.entry.state if self.pdb is None else PDB

    @property
    def seconds(self) -> float | None:
        """The seconds in the present state; None if they are not known.

        For a worker that runs without a debugger, it is the age of its task.
        """
        if self.has_exact_age:
            return self.age
        if self.place is None or self.place.started is UNSET:
            return None
        return max(0.0, time.time() - self.place.started)

    @property
    def has_exact_age(self) -> bool:
        """Whether `seconds` is the age of the state. Otherwise it is that of the task, which can be older."""
        return self.age is not None and self.state != "alive"

    @property
    def lasts(self) -> str:
        """The time in the present state, such as `2m 06s`; `<2m 06s` if only the age of the task is known."""
        if self.seconds is None:
            return ""
        since = whole_seconds(self.seconds)
        return since if self.has_exact_age or self.state == "alive" else f"<{since or '1 s'}"

    @property
    def name(self) -> str:
        """The name to show: `Trainer 3 · step`, `prepare`, `driver train.py`."""
        return self.entry.label

    @property
    def where(self) -> str:
        """Where the worker is, with the exception that it has stopped for; its problem if neither is known."""
        if self.pdb is not None:
            return pdb_place(self.pdb)
        errors = [thread.error for thread in self.entry.threads if thread.error]
        location = None if self.place is None else self.place.location
        if self.entry.state == "paused" and location is not None:
            text = _at_breakpoint(location)
        else:
            text = "" if self.place is None else self.place.text
        return " ".join([text, *errors[:1]]).strip() or self._problem

    @property
    def _problem(self) -> str:
        retry = self.entry.retry
        again = "" if isinstance(retry, UnsetType) else f" Next attempt in {retry:.0f} s."
        return self.entry.problem + again

    @property
    def has_failed(self) -> bool:
        """Whether the worker has stopped for an exception, or waits in a post mortem."""
        if self.pdb is not None:
            return self.pdb.traceback != ""
        return any(thread.error for thread in self.entry.threads)

    @property
    def is_idle(self) -> bool:
        """Whether the worker runs nothing, and Ray keeps it for later tasks."""
        return self.pdb is None and is_idle(self.entry)

    def as_json(self) -> dict[str, Any]:
        """Return the row as `raydap ps --json` prints it."""
        location = None if self.place is None else self.place.location
        rank = self.entry.rank
        known: dict[str, Any] = msgspec.to_builtins(self.entry)
        started = UNSET if self.place is None else self.place.started
        row = {
            **known,
            "age": self.entry.age if self.age is None else self.age,
            "started": None if started is UNSET else started,
            "rank": None if rank is UNSET else rank,
            "place": "" if self.place is None else self.place.text,
            "file": "" if location is None else location.path,
            "line": 0 if location is None else location.line,
            "pdb": None,
        }
        if self.pdb is None:
            return row
        found = self.pdb
        keys = ("host", "port", "external", "error", "traceback")
        of_pdb = {"state": PDB, "age": self.age, "place": self.where, "file": found.path, "line": found.line}
        return {**row, **of_pdb, "pdb": {key: getattr(found, key) for key in keys}}


def _at_breakpoint(location: CodeLocation) -> str:
    return f"at breakpoint() in {function_line(location.name, location.path, location.line)}"


def pdb_place(found: LegacyBreakpoint) -> str:
    """Return where a pdb of Ray's old debugger waits."""
    if found.is_led:
        return "at the call that `remote` or `get` reached"
    where = f"({file_line(found.path, found.line)})"
    return f"post mortem {where} {found.error}" if found.traceback else f"at breakpoint() {where}"


def pdb_age(found: LegacyBreakpoint) -> float:
    """Return the seconds since a pdb began to wait; at least 0, because the clocks of two machines may differ."""
    return max(0.0, time.time() - found.since)


@dataclass
class Seen:
    """Results of `look` that its next call reuses."""

    places: dict[str, WorkerPlace | None] = field(default_factory=dict)
    """Where each worker was, by its key."""
    children: tuple[WaitingChild, ...] = ()
    """The forked children that waited in breakpoint() at the last reading of workers without an agent."""
    running: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The state and the task of each worker at the last reading, by its key."""
    outside_at: float = 0.0
    """From this time of the event loop on, workers without an agent may be read again."""


async def look(
    live: LiveSession,
    legacy: LegacyListing,
    select: str | None,
    include_idle: bool,
    seen: Seen,
    legacy_timeout_s: float = 0.0,
) -> list[ProcessRow]:
    """Return the rows of the list, sorted, and renew `seen`. Raises SessionError.

    `select` is the set to list. `include_idle` includes idle workers. `legacy_timeout_s` limits the wait for the first
    reading of `legacy`.
    """
    keys = list(live.workers)
    if select is not None:
        wanted = SelectArguments(select=select, running=True)
        keys = list((await live.ask("raydap/select", wanted, SelectedWorkers)).workers)
    entries = {key: live.workers[key] for key in keys if key in live.workers}
    running = {key: (entry.state, entry.task) for key, entry in entries.items()}
    clock = asyncio.get_running_loop().time
    begun = clock()
    outside = begun >= seen.outside_at or any(seen.running.get(key) != runs for key, runs in running.items())
    answer = await live.ask("raydap/places", PlacesArguments(select=select, outside=outside), Places)
    reported: dict[str, WorkerPlace] = {}
    for place in answer.places:
        reported.setdefault(place.worker, place)
    if outside:
        seen.places.clear()
        seen.children = answer.children
        seen.outside_at = clock() + max(OUTSIDE_S, (clock() - begun) / OUTSIDE_SHARE)
    seen.running = running
    seen.places = {key: reported.get(key, seen.places.get(key)) for key in entries}
    with suppress(asyncio.TimeoutError), live.progress.during("listing the breakpoints of Ray's old debugger"):
        await wait_for(legacy.looked.wait(), legacy_timeout_s)
    waiting: dict[str, list[LegacyBreakpoint]] = {}
    for each in legacy.breakpoints:
        waiting.setdefault(each.worker, []).append(each)
    rows = []
    for key, entry in entries.items():
        of_pdb = [ProcessRow(entry, seen.places[key], each, pdb_age(each)) for each in waiting.get(key, [])]
        own = ProcessRow(entry, seen.places[key], age=live.age(entry))
        # The row of the session is left out if it shows only that the worker runs.
        rows += of_pdb if of_pdb and own.state in ("alive", "running") else [own, *of_pdb]
    rows += [_of_child(entries[each.parent], each) for each in seen.children if each.parent in entries]
    return sorted((row for row in rows if include_idle or not row.is_idle), key=_order)


def _of_child(parent: WorkerEntry, child: WaitingChild) -> ProcessRow:
    # The core is imported only for this rare row, because the import takes longer than all others.
    from raydap.core.workers import forked_waits

    entry = forked_waits.entry(parent, child.pid)
    text = _at_breakpoint(child.location)
    return ProcessRow(entry, WorkerPlace(worker=entry.key, label=entry.title, text=text, location=child.location))


def _order(row: ProcessRow) -> tuple[object, ...]:
    entry, rank = row.entry, row.entry.rank
    states = list(STATES)
    state = states.index(row.state) if row.state in states else len(states)
    return state, entry.job, entry.actor or entry.label, rank if isinstance(rank, int) else -1, entry.pid


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """Rows that differ only in the worker's name, node, process id, and time in state."""

    rows: Sequence[ProcessRow]
    """The rows, in the order of the list; at least one."""

    @property
    def state(self) -> str:
        """The state of all these workers: a key of STATES."""
        return self.rows[0].state

    @property
    def where(self) -> str:
        """The place of all these workers, as in `ProcessRow.where`."""
        return self.rows[0].where

    @property
    def name(self) -> str:
        """The names in short, such as `Trainer{0-5,7} · step`; without `· step` if the methods differ."""
        labels = {row.name for row in self.rows}
        if len(labels) == 1:
            return self.rows[0].name
        methods = {name.partition(" · ")[2] for name in labels}
        method = f" · {methods.pop()}" if len(methods) == 1 and "" not in methods else ""
        return shortened(group_name(row.entry for row in self.rows), LONGEST_NAME) + method

    @property
    def node(self) -> str:
        """The node, or the number of nodes."""
        nodes = {row.entry.node for row in self.rows}
        return nodes.pop() if len(nodes) == 1 else f"{len(nodes)} nodes"

    @property
    def lasts(self) -> str:
        """The time in the present state; of several different times the longest, such as `up to 2m 06s`."""
        longest = max(self.rows, key=lambda row: row.seconds or 0.0).lasts
        return longest if len({row.lasts for row in self.rows}) == 1 else f"up to {longest.removeprefix('<')}"


def folded(rows: Iterable[ProcessRow], apart: str | None = None) -> list[FoldedRow]:
    """Return the rows of `look` with equal rows as one. In each state, small groups come first.

    `apart` is the key of a worker that keeps a row of its own.
    """
    groups: dict[tuple[object, ...], list[ProcessRow]] = {}
    for row in rows:
        alone = row.entry.key if row.entry.key == apart else ""
        entry = row.entry
        same = (row.state, entry.type, entry.submission or entry.job, row.where, row.has_failed, alone)
        groups.setdefault(same, []).append(row)
    return sorted(map(FoldedRow, groups.values()), key=lambda each: (_order(each.rows[0])[0], len(each.rows)))


def singly(rows: Iterable[ProcessRow]) -> list[FoldedRow]:
    """Return each row by itself."""
    return [FoldedRow([row]) for row in rows]


def as_table(rows: Sequence[FoldedRow], width: int, marked: str | None = None) -> Table:
    """Return the table of the rows. It has the column COUNT if a row stands for several workers.

    `width` is the terminal's, in columns. `marked` is the key of the worker that the user looks at.
    """
    cells: list[list[str | Text]] = []
    has_count = any(len(each.rows) > 1 for each in rows)
    for each in rows:
        first = each.rows[0]
        entry = first.entry
        state = Text(each.state, STATES.get(each.state, ""))
        where = Text(each.where, "red" if first.has_failed else "")
        name = Text(each.name, "bold cyan" if any(row.entry.key == marked for row in each.rows) else "")
        pid = str(entry.pid or "") if len(each.rows) == 1 else ""
        count = [str(len(each.rows))] if has_count else []
        cells.append([state, *count, name, entry.submission or entry.job, each.node, pid, each.lasts, where])
    columns = ["STATE", *(["COUNT"] if has_count else []), "WORKER", "JOB", "NODE", "PID", "FOR", "WHERE"]
    return screen.table(columns, cells, width, cut=("WORKER", "WHERE"), drop=("NODE", "JOB", "FOR", "PID"))
