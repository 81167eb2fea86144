"""What is said of live workers at a place in the source. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from raydap.lsp.analysis.marks import Mark, MarkKind
from raydap.lsp.live.session_state import SeenWorker, SessionState, Stop, same_file
from raydap.presentation.durations import whole_seconds
from raydap.presentation.safe_text import one_line
from raydap.protocol.raydap_messages import WorkerEntry

MAX_LISTED = 20
"""Workers that a hover lists."""

_RUNNING = ("running", "held", "alive")

_RANKS = {state: rank for rank, state in enumerate(("stopped", "held", "attaching", "running", "paused", "alive"))}
"""Two sessions may see the same worker. The state with the lower rank is shown, because it says more."""


class Lens(NamedTuple):
    """What is shown above a mark, and the threads that are stopped in its code, by the keys of their workers."""

    text: str
    stopped: dict[str, list[int]]


def lens(mark: Mark, path: str, sessions: Iterable[SessionState]) -> Lens | None:
    """How many workers are stopped in the code of a mark, run it, or wait there for a debugger; None if none does."""
    stopped: dict[str, list[int]] = {}
    running = paused = 0
    for entry, _, stops in _workers(sessions):
        here = _stops_in(mark, path, stops)
        if here:
            stopped[entry.key] = list(here)
        elif mark.kind is not MarkKind.BREAKPOINT and _runs(entry, mark):
            running += entry.state in _RUNNING
            paused += entry.state == "paused"
    parts = [(len(stopped), "stopped here"), (running, "running"), (paused, "paused, not attached")]
    text = ", ".join(f"{count} {what}" for count, what in parts if count)
    return Lens(text, stopped) if text else None


def hover_text(mark: Mark, path: str, sessions: Iterable[SessionState]) -> str:
    """Markdown: who runs the function or class of a mark, where, and for how long; "" if nobody does."""
    rows: list[tuple[str, str]] = []
    for entry, age_s, stops in _workers(sessions):
        here = _stops_in(mark, path, stops)
        if here or _runs(entry, mark):
            state = f"stopped at line {next(iter(here.values())).line}" if here else _STATES[entry.state]
            rows.append((entry.name, f"| {_escaped(entry.name)} | {state} | {whole_seconds(age_s)} |"))
    if not rows:
        return ""
    shown = [row for _, row in sorted(rows)[:MAX_LISTED]]
    more = [f"\nand {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
    return "\n".join([f"**{_escaped(mark.name)}**\n", "| worker | | for |", "|---|---|---|", *shown, *more])


_STATES = {
    "paused": "paused, not attached",
    "attaching": "being attached",
    "stopped": "stopped elsewhere",
    "held": "held at a barrier",
    "running": "running",
    "alive": "running, not attached",
}


def mark_of(word: str, marks: Sequence[Mark]) -> Mark | None:
    """The function or class that a word of the source names."""
    return next((mark for mark in marks if word and mark.name.rpartition(".")[2] == word), None)


def _workers(sessions: Iterable[SessionState]) -> Iterable[SeenWorker]:
    """Each worker once."""
    found: dict[str, SeenWorker] = {}
    for session in sessions:
        for worker in session.workers():
            known = found.get(worker.entry.key)
            if known is None or _RANKS[worker.entry.state] < _RANKS[known.entry.state]:
                found[worker.entry.key] = worker
    return found.values()


def _stops_in(mark: Mark, path: str, stops: Mapping[int, Stop]) -> dict[int, Stop]:
    """Those in the code of a mark."""
    return {
        thread: stop
        for thread, stop in stops.items()
        if mark.first <= stop.line <= mark.last and same_file(stop.path, path)
    }


def _runs(entry: WorkerEntry, mark: Mark) -> bool:
    """Whether a worker is an actor of the class, or runs the function now. Ray does not say what these are in."""
    names = mark.name.split(".")
    if mark.kind is MarkKind.CLASS:
        return entry.actor == names[-1]
    is_of_class = entry.actor == "" or entry.actor in names[:-1]
    return is_of_class and entry.task.rpartition(".")[2] == names[-1]


def _escaped(text: str) -> str:
    """Return a name as code: Markdown shows no images and makes no links there. A table cell ends at a bar."""
    return "`" + one_line(text).replace("`", "'").replace("|", "\\|") + "`"
