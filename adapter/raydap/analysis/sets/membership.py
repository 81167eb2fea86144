"""The members of a set."""

import fnmatch
import re
from dataclasses import dataclass
from functools import lru_cache

from msgspec import UNSET

from raydap.analysis.sets.set_syntax import AllOf, AnyOf, Not, Numbered, NumberRanges, Quality, Tree, Word
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry


@dataclass(frozen=True, slots=True)
class Candidate:
    """A worker, and one of its stopped threads if it has any."""

    entry: WorkerEntry
    """The worker's entry in the list of workers."""
    thread: StoppedThread | None = None
    """The stopped thread as clients see it; None for a worker without one."""
    place: tuple[str, int] | None = None
    """The path and the line of the user's top frame; None if it is not known."""


def is_in(tree: Tree, candidate: Candidate) -> bool:
    """Return whether a candidate is in a set."""
    match tree:
        case AllOf(parts):
            return all(is_in(part, candidate) for part in parts)
        case AnyOf(parts):
            return any(is_in(part, candidate) for part in parts)
        case Not(part):
            return not is_in(part, candidate)
        case NumberRanges(qualifier, ranges):
            number = candidate.entry.rank if qualifier == "rank" else candidate.entry.pid or UNSET
            return isinstance(number, int) and any(first <= number <= last for first, last in ranges)
        case Quality("line", patterns):
            return candidate.place is not None and any(_is_at(pattern, *candidate.place) for pattern in patterns)
        case Quality(qualifier, patterns):
            values = _values(qualifier, candidate)
            return any(_is_like(pattern, value) for pattern in patterns for value in values)
        case Numbered(kind, ranges):
            entry = candidate.entry
            number = entry.rank if entry.actor else entry.pid
            names = (entry.actor, entry.actor_name) if entry.actor else (entry.label, entry.task, entry.type)
            is_in_range = isinstance(number, int) and any(first <= number <= last for first, last in ranges)
            return is_in_range and any(_is_like(kind, name) for name in names)
        case Word(text):
            return _is_like(text if _has_wildcards(text) else f"*{text}*", candidate.entry.name)


def _values(qualifier: str, candidate: Candidate) -> tuple[str, ...]:
    """Return the values of a candidate of which a pattern has to match one."""
    entry, thread = candidate.entry, candidate.thread
    match qualifier:
        case "actor":
            return entry.actor, entry.actor_name, entry.title if entry.actor else ""
        case "task":
            return entry.task, entry.task.rpartition(".")[2], "" if entry.actor else entry.label
        case "node":
            return entry.node, entry.node_id
        case "job":
            return entry.job, entry.submission
        case "state":
            return (entry.state,)
        case _:
            error = "" if thread is None else thread.error
            return error, error.rpartition(".")[2]


def _is_at(pattern: str, path: str, line: int) -> bool:
    """Return whether a pattern such as `train.py`, `train.py:42` or `train.py:40-50` matches a place.

    The pattern may leave out the folder of the file.
    """
    found = re.fullmatch(r"(.*?)(?::(\d{1,9})(?:-(\d{1,9}))?)?", pattern, re.DOTALL | re.ASCII)
    assert found is not None
    file, first, last = found.groups()
    if first is not None and not int(first) <= line <= int(last or first):
        return False
    path = path.replace("\\", "/")
    return _is_like(file, path) or _is_like(f"*/{file}", path)


def _has_wildcards(text: str) -> bool:
    return any(character in text for character in "*?[")


def _is_like(pattern: str, value: str) -> bool:
    return value != "" and _compiled(pattern).match(value) is not None


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern with the wildcards of file names as a regular expression that ignores case."""
    return re.compile(fnmatch.translate(pattern), re.IGNORECASE)
