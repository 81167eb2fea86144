"""Watchpoints as desired state: what the clients want, sent to every worker, present and future.

The watchpoints of each client are replaced by its next `setDataBreakpoints`, as DAP requires. A watchpoint of
the console command `/watch` belongs to the run, so it stays when its client leaves.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from raydap.core.model.handles import Handles
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import shortened
from raydap.protocol import messages
from raydap.protocol.types import ClientId, Handle, WorkerKey

MAX_EXPRESSION = 2000
"""The longest expression of a watchpoint, in characters."""

MAX_WATCHES = 100
"""The largest number of watchpoints of a run."""

MAX_NOTE = 300
"""The longest message of a worker about a watchpoint, in characters."""

_HITS = re.compile(r"\s*(?:==|>=|<=|>|<|%)?\s*[0-9]{1,9}\s*")


@dataclass(frozen=True, slots=True)
class WatchPlace:
    """An expression, and the function in whose calls it is watched."""

    expression: str
    """A Python expression in the variables of the function."""
    path: str
    """The path of the function's file, as the client names it."""
    line: int
    """A line of the function."""
    function: str = ""
    """The name of the function in its code; "" for the innermost function at the line."""

    @property
    def data_id(self) -> str:
        """DAP's `dataId` of the watchpoint."""
        return json.dumps([self.expression, self.path, self.line, self.function])

    @property
    def title(self) -> str:
        """The expression and the place for users: `loss in step (train.py:12)`."""
        file = re.split(r"[/\\]", self.path)[-1]
        where = f"{file}:{self.line}"
        name = "the top level" if self.function == "<module>" else one_line(self.function)
        shown = shortened(one_line(self.expression), 80)
        return f"{shown} in {name} ({where})" if name else f"{shown} in the function at {where}"


def place_of(data_id: object) -> WatchPlace | None:
    """Return the place that a `dataId` names; None if it is not raydap's."""
    try:
        fields: list[object] = json.loads(data_id) if isinstance(data_id, str) else []
        expression, path, line, function = fields
    except (ValueError, TypeError, RecursionError):
        return None
    if not (isinstance(expression, str) and isinstance(path, str) and isinstance(function, str) and type(line) is int):
        return None
    is_valid = 0 < len(expression) <= MAX_EXPRESSION and path and line > 0
    return WatchPlace(expression, path, line, function) if is_valid else None


@dataclass(frozen=True, slots=True)
class WatchTerms:
    """The properties of a watchpoint."""

    place: WatchPlace | None
    """What is watched; None if the client has sent a `dataId` that is not raydap's."""
    condition: str = ""
    """A change counts only if this expression is true then; "" for every change."""
    hits: str = ""
    """DAP's hit condition, such as `>= 3`; "" for every hit."""
    logs: bool = False
    """Whether a change is only reported, and stops no thread."""
    select: str = ""
    """The set of workers in which the expression is watched (docs/usage/sets.md); "" for all."""
    mistake: str = ""
    """Why the watchpoint cannot be set, as a sentence; "" if it can."""


def mistake_in(hits: str) -> str:
    """Return a sentence about a wrong hit condition, "" for a right one."""
    if not hits.strip() or _HITS.fullmatch(hits):
        return ""
    return f"The hit condition of a watchpoint is a number, or like `>= 3` or `% 10`; `{hits}` is not."


@dataclass(frozen=True, slots=True)
class WatchAnswer:
    """The answer of one worker about one watchpoint."""

    verified: bool
    """Whether the worker watches the expression."""
    message: str = ""
    """Why the worker does not, or what it cannot compare."""
    running: int = 0
    """The number of calls of the function that the worker executes now."""


class RunWatch:
    """One watchpoint. Its counts are kept up to date, so that `view` takes the same time with any number of workers."""

    __slots__ = ("_notes", "_running", "_verified", "answers", "author", "id", "sent", "terms")

    def __init__(self, handle: Handle, terms: WatchTerms, author: ClientId | None) -> None:
        self.id = handle
        self.terms = terms
        self.author = author
        """The client whose watchpoint it is; None for one of the console, which belongs to the run."""
        self.sent: messages.Breakpoint | None = None
        """The last state that the client has received."""
        self.answers: dict[WorkerKey, WatchAnswer] = {}
        self._verified = self._running = 0
        self._notes: dict[WorkerKey, str] = {}

    def take(self, worker: WorkerKey, answer: WatchAnswer | None) -> None:
        """Replace the answer of a worker. None: the worker has gone, or does not have the watchpoint any more."""
        before = self.answers.pop(worker, None)
        self._notes.pop(worker, None)
        for each, sign in ((before, -1), (answer, 1)):
            if each is not None:
                self._verified += sign * each.verified
                self._running += sign * bool(each.running)
        if answer is not None:
            self.answers[worker] = answer
            if answer.message:
                self._notes[worker] = shortened(one_line(answer.message), MAX_NOTE)

    def note(self, worker: WorkerKey, text: str) -> None:
        """Add what a worker has found out about the value."""
        answer = self.answers.get(worker)
        if answer is not None:
            self.take(worker, WatchAnswer(answer.verified, text, answer.running))

    @property
    def text(self) -> str:
        """What is watched, and in how many workers, as sentences for users."""
        if self.terms.mistake or self.terms.place is None:
            return self.terms.mistake
        title, answered = self.terms.place.title, len(self.answers)
        note = next(iter(self._notes.values()), "")
        if not answered:
            of = f"in the workers of the set {self.terms.select}" if self.terms.select else "in every worker"
            return f"Watches {title} {of} to which raydap attaches; none has confirmed it yet."
        if not self._verified:
            return note or f"No worker could watch {title}."
        count = f"{self._verified}" if self._verified == answered else f"{self._verified} of {answered}"
        running = (
            f"The function is running in {self._running} of them now."
            if self._running
            else "The function is not running in any of them now; the watch begins with its next call."
        )
        noun = "worker" if count == "1" else "workers"
        return f"Watches {title} in {count} {noun}. {running} {note}".rstrip()

    def view(self) -> messages.Breakpoint:
        """Return the watchpoint as its client sees it."""
        view: messages.Breakpoint = {"id": self.id, "verified": 0 < self._verified == len(self.answers)}
        view["message"] = self.text
        place = self.terms.place
        if place is not None:
            view["source"] = {"path": place.path}
            view["line"] = place.line
        return view

    def spec(self, paths: Collection[str]) -> dict[str, object]:
        """Return the watchpoint as a worker gets it that has the file at these paths (inworker/watchpoints.py)."""
        terms, place = self.terms, self.terms.place
        assert place is not None
        return {
            "number": self.id,
            "expression": place.expression,
            "paths": list(paths),
            "line": place.line,
            "function": place.function,
            "condition": terms.condition,
            "hits": terms.hits,
            "log": terms.logs,
        }


class RunWatches:
    """The watchpoints of a run."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._watches: dict[ClientId | None, list[RunWatch]] = {}
        """By author."""
        self.changed: dict[Handle, RunWatch] = {}
        """The watchpoints whose new text their clients get at the next Tick."""
        self.had_any = False
        """Whether the run has ever had a watchpoint."""

    def all(self) -> Iterator[RunWatch]:
        """Return all watchpoints."""
        return (watch for each in self._watches.values() for watch in each)

    def wanted(self) -> list[RunWatch]:
        """Return the watchpoints that workers get."""
        return [watch for watch in self.all() if not watch.terms.mistake and watch.terms.place is not None]

    @property
    def of_console(self) -> list[RunWatch]:
        """The watchpoints that belong to the run."""
        return self._watches.get(None, [])

    def set(self, terms: list[WatchTerms], author: ClientId | None) -> list[RunWatch]:
        """Replace the watchpoints of one client. A watchpoint that is set again keeps its id and its answers."""
        before = {each.terms: each for each in self._watches.pop(author, [])}
        new = [before.get(each) or RunWatch(self._handles.new(), each, author) for each in terms]
        if new:
            self._watches[author] = new
            self.had_any = True
        return new

    def add(self, terms: WatchTerms) -> RunWatch:
        """Add a watchpoint of the console; return the present one if there is the same already."""
        kept = [each.terms for each in self.of_console]
        watches = self.set(kept if terms in kept else [*kept, terms], None)
        return next(each for each in watches if each.terms == terms)

    def remove(self, watch: RunWatch) -> None:
        """Remove a watchpoint."""
        kept = [each for each in self._watches.get(watch.author, []) if each is not watch]
        if kept:
            self._watches[watch.author] = kept
        else:
            self._watches.pop(watch.author, None)

    def find(self, number: object) -> RunWatch | None:
        """Return the watchpoint with this id, None if there is none."""
        return next((each for each in self.all() if type(number) is int and each.id == number), None)

    def forget_clients(self, present: Collection[ClientId]) -> bool:
        """Remove the watchpoints of clients that have left; return whether there were any."""
        gone = [author for author in self._watches if author is not None and author not in present]
        for author in gone:
            del self._watches[author]
        return bool(gone)

    def forget(self, worker: WorkerKey) -> None:
        """Drop the answers of a worker that is gone."""
        for watch in self.all():
            if worker in watch.answers:
                watch.take(worker, None)
                self.changed[watch.id] = watch

    def clear(self) -> None:
        """Remove all watchpoints."""
        self._watches.clear()
        self.changed.clear()


def answers_in(text: object) -> Mapping[int, WatchAnswer]:
    """Read a worker's answer to the watchpoints, by their ids. Workers are not trusted: it can be anything."""
    try:
        rows = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        rows = []
    found = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and type(row.get("number")) is int:
            running = row.get("running")
            count = running if type(running) is int else 0
            answer = WatchAnswer(row.get("verified") is True, str(row.get("message") or ""), max(0, count))
            found[cast("int", row["number"])] = answer
    return found
