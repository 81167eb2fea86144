"""The texts of lenses and hovers about live workers. No I/O."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from raydap.lsp.analysis.marks import Mark, MarkKind
from raydap.lsp.live.session_state import SeenWorker, SessionState, StopPlace, same_file
from raydap.presentation.durations import whole_seconds
from raydap.presentation.safe_text import one_line
from raydap.protocol.raydap_messages import WorkerEntry

MAX_LISTED = 20
"""The number of workers that a hover lists."""

_RUNNING = ("running", "held", "alive")

_RANKS = {state: rank for rank, state in enumerate(("stopped", "held", "attaching", "running", "paused", "alive"))}
"""The order of a worker's states in two sessions that see the same worker. The lower one is shown, because it is more
exact."""


class Lens(NamedTuple):
    """The text above a mark, and the stops in its code."""

    text: str
    """The text that the editor shows, such as `3 stopped here, 12 running`."""
    stopped: dict[str, list[int]]
    """The ids of the threads that are stopped in the mark's code, by the keys of their workers."""


def lens(
    mark: Mark, path: str, sessions: Iterable[SessionState], counted: Collection[str] | None = None
) -> Lens | None:
    """Return a lens that counts the workers that are stopped in the code of a mark, run it, or wait for a debugger.

    Only the workers with the keys `counted` count; None for all. Return None if there is no such worker.
    """
    stopped: dict[str, list[int]] = {}
    running = paused = 0
    for entry, _, stops in _workers(sessions, counted):
        here = _stops_in(mark, path, stops)
        if here:
            stopped[entry.key] = list(here)
        elif mark.kind is not MarkKind.BREAKPOINT and _runs(entry, mark):
            running += entry.state in _RUNNING
            paused += entry.state == "paused"
    parts = [(len(stopped), "stopped here"), (running, "running"), (paused, "paused, not attached")]
    text = ", ".join(f"{count} {what}" for count, what in parts if count)
    return Lens(text, stopped) if text else None


def hover_text(mark: Mark, path: str, sessions: Iterable[SessionState], counted: Collection[str] | None = None) -> str:
    """Return a table in Markdown of the workers that run the function or class of a mark, with their states.

    `counted` is that of `lens`. Return "" if there is no such worker.
    """
    rows: list[tuple[str, str]] = []
    for entry, age_s, stops in _workers(sessions, counted):
        here = _stops_in(mark, path, stops)
        if here or _runs(entry, mark):
            state = f"stopped at line {next(iter(here.values())).line}" if here else _STATES[entry.state]
            rows.append((entry.name, f"| {_escaped(entry.name)} | {state} | {whole_seconds(age_s)} |"))
    if not rows:
        return ""
    shown = [row for _, row in sorted(rows)[:MAX_LISTED]]
    more = [f"\nand {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
    return "\n".join(
        [f"**{_escaped(mark.name)}**\n", "| worker | state | time in state |", "|---|---|---|", *shown, *more]
    )


_STATES = {
    "paused": "paused, not attached",
    "attaching": "being attached",
    "stopped": "stopped elsewhere",
    "held": "held at a barrier",
    "running": "running",
    "alive": "running, not attached",
}


def mark_of(word: str, marks: Sequence[Mark]) -> Mark | None:
    """Return the first mark of a function or class with this name; None if there is none."""
    return next((mark for mark in marks if word and mark.name.rpartition(".")[2] == word), None)


def _workers(sessions: Iterable[SessionState], counted: Collection[str] | None) -> Iterable[SeenWorker]:
    """Return each worker that counts once, with the most exact state that a session has."""
    found: dict[str, SeenWorker] = {}
    for session in sessions:
        for worker in session.workers():
            known = found.get(worker.entry.key)
            if counted is not None and worker.entry.key not in counted:
                continue
            if known is None or _RANKS[worker.entry.state] < _RANKS[known.entry.state]:
                found[worker.entry.key] = worker
    return found.values()


def _stops_in(mark: Mark, path: str, stops: Mapping[int, StopPlace]) -> dict[int, StopPlace]:
    """Return the stops in the code of a mark."""
    return {
        thread: stop
        for thread, stop in stops.items()
        if mark.first <= stop.line <= mark.last and same_file(stop.path, path)
    }


def _runs(entry: WorkerEntry, mark: Mark) -> bool:
    """Return whether a worker is an actor of a mark's class, or runs a mark's function now.

    Only the names are compared, because Ray does not report the modules of functions and classes.
    """
    names = mark.name.split(".")
    if mark.kind is MarkKind.CLASS:
        return entry.actor == names[-1]
    is_of_class = entry.actor == "" or entry.actor in names[:-1]
    return is_of_class and entry.task.rpartition(".")[2] == names[-1]


def _escaped(text: str) -> str:
    """Return a name as inline code for a cell of a Markdown table.

    Inline code contains no images and no links. A bar is escaped, because it would end the cell.
    """
    return "`" + one_line(text).replace("`", "'").replace("|", "\\|") + "`"
