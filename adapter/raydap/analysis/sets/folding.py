"""Groups of equal answers, and short names for the members of a group."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from raydap.presentation.numbers import natural_order, number
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.value_messages import EvaluationGroup, Statistics

_MAX_NAMES = 5
"""The largest number of names in a label."""


class Holder(NamedTuple):
    """The thread or the running worker to which a stack or a value belongs."""

    thread: int | None
    """The id of the thread; None for a running worker, whose threads have no ids."""
    member: WorkerEntry
    """The running worker, or the worker of the thread."""

    @property
    def key(self) -> str:
        """The key of the worker."""
        return self.member.key


class Answer(NamedTuple):
    """The answer of one thread or running worker."""

    value: str | UnsetType
    """The value as text; UNSET if there is an `error`."""
    type: str | UnsetType
    """The name of the value's type, possibly ""; UNSET if there is an `error`."""
    error: str | UnsetType
    """Why there is no value, in one line; UNSET if there is a value."""


def threads_of(holders: Iterable[Holder]) -> tuple[int, ...]:
    """Return the ids of the threads among the holders."""
    return tuple(holder.thread for holder in holders if holder.thread is not None)


def running_of(holders: Iterable[Holder]) -> tuple[str, ...] | UnsetType:
    """Return the keys of the running workers among the holders; UNSET if there are none."""
    return tuple(holder.key for holder in holders if holder.thread is None) or UNSET


def group_name(members: Iterable[WorkerEntry]) -> str:
    """Return a short name for workers, such as `Trainer{0-5,7}, prepare (3)`. One worker has its title: `Trainer 2`."""
    kinds: dict[tuple[str, bool], dict[str, WorkerEntry]] = {}
    for entry in members:
        is_ranked = entry.actor != "" and isinstance(entry.rank, int)
        kinds.setdefault((entry.actor or entry.label, is_ranked), {})[entry.key] = entry
    # Workers with ranks come first.
    ordered = sorted(kinds.items(), key=lambda kind: not kind[0][1])
    names = [_kind_name(name, list(entries.values())) for (name, _), entries in ordered]
    more = [f"and {len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([*names[:_MAX_NAMES], *more])


def _kind_name(kind: str, entries: Sequence[WorkerEntry]) -> str:
    """Return the name of workers of one class of actors, or of one task."""
    if len(entries) == 1:
        return entries[0].title
    ranks = {entry.rank for entry in entries if isinstance(entry.rank, int)}
    return f"{kind}{{{_ranges(sorted(ranks))}}}" if ranks else f"{kind} ({len(entries)})"


def _ranges(numbers: Sequence[int]) -> str:
    """Return sorted numbers as text, such as `0-5,7`."""
    ranges: list[list[int]] = []
    for each in numbers:
        if ranges and each == ranges[-1][1] + 1:
            ranges[-1][1] = each
        else:
            ranges.append([each, each])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def smallest_first(count: int, label: str) -> tuple[int, object]:
    """Return the sort key of a group: small groups come first, because a user looks for what differs from the rest.

    Groups of the same size are in the order of their labels, because workers answer in any order.
    """
    return count, natural_order(label)


def groups(answers: Iterable[tuple[Answer, Holder]]) -> tuple[EvaluationGroup, ...]:
    """Return the groups of equal answers, in the order of `smallest_first`."""
    found: dict[Answer, list[Holder]] = {}
    for answer, holder in answers:
        found.setdefault(answer, []).append(holder)
    ordered = sorted(
        ((len(holders), group_name(holder.member for holder in holders), answer) for answer, holders in found.items()),
        key=lambda each: smallest_first(*each[:2]),
    )
    return tuple(
        EvaluationGroup(
            value=answer.value,
            type=answer.type,
            error=answer.error,
            members=threads_of(found[answer]),
            running=running_of(found[answer]),
            label=name,
        )
        for _, name, answer in ordered
    )


def statistics(answers: Iterable[Answer]) -> Statistics | None:
    """Return the statistics of the answers; None unless all values are numbers.

    Answers with an error do not count.
    """
    values = [(answer.value, answer.type) for answer in answers]
    numbers = [number(str(value), str(kind)) for value, kind in values if isinstance(value, str)]
    known = [each for each in numbers if each is not None]
    return None if not known or len(known) < len(numbers) else statistics_of(known)


def statistics_of(known: Sequence[float]) -> Statistics:
    """Return the statistics of these numbers; those that are not finite are only counted."""
    finite = [each for each in known if math.isfinite(each)]
    nan = sum(map(math.isnan, known))
    counts = {"nan": nan, "inf": len(known) - len(finite) - nan}
    if not finite:
        return Statistics(min=None, max=None, mean=None, std=None, **counts)
    mean = math.fsum(each / len(finite) for each in finite)
    # The scale keeps the squares of large numbers finite.
    scale = max(map(abs, finite)) or 1.0
    variance = math.fsum((each / scale - mean / scale) ** 2 for each in finite) / len(finite)
    return Statistics(min=min(finite), max=max(finite), mean=mean, std=scale * math.sqrt(variance), **counts)
