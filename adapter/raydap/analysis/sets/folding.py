"""Many answers as few groups, and their members in few words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from raydap.presentation.numbers import natural_order, number
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.value_messages import EvaluationGroup, Statistics

_MAX_NAMES = 5


@dataclass(frozen=True, slots=True)
class Member:
    """`rank` is None for what has none. `is_alone`: no other actor of its class is known."""

    entry: WorkerEntry
    rank: int | None
    is_alone: bool = False


class Holder(NamedTuple):
    """Whose stack or value it is. `thread` is None for a thread that runs, which has no id."""

    thread: int | None
    member: Member

    @property
    def key(self) -> str:
        """The worker's."""
        return self.member.entry.key


class Answer(NamedTuple):
    """`value` and `type`, or `error`."""

    value: str | UnsetType
    type: str | UnsetType
    error: str | UnsetType


def threads_of(holders: Iterable[Holder]) -> tuple[int, ...]:
    return tuple(holder.thread for holder in holders if holder.thread is not None)


def running_of(holders: Iterable[Holder]) -> tuple[str, ...] | UnsetType:
    """The keys of the workers that run, if there are any."""
    return tuple(holder.key for holder in holders if holder.thread is None) or UNSET


def label(members: Iterable[Member]) -> str:
    """Like `Trainer{0-5,7}, prepare (3)`."""
    ranks: dict[str, set[int]] = {}
    counts: dict[str, set[str]] = {}
    for member in members:
        entry = member.entry
        if entry.actor and member.rank is not None and not member.is_alone:
            ranks.setdefault(entry.actor, set()).add(member.rank)
        else:
            counts.setdefault(entry.actor or entry.label, set()).add(entry.key)
    names = [f"{name}{{{_ranges(sorted(numbers))}}}" for name, numbers in ranks.items()]
    names += [name if len(keys) == 1 else f"{name} ({len(keys)})" for name, keys in counts.items()]
    more = [f"and {len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([*names[:_MAX_NAMES], *more])


def _ranges(numbers: Sequence[int]) -> str:
    """Like "0-5,7"."""
    ranges: list[list[int]] = []
    for each in numbers:
        if ranges and each == ranges[-1][1] + 1:
            ranges[-1][1] = each
        else:
            ranges.append([each, each])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def smallest_first(count: int, label: str) -> tuple[int, object]:
    """The order of groups: what differs from the rest is what one looks for. Those of one size are in the order of
    their labels, because workers answer in any order."""
    return count, natural_order(label)


def groups(answers: Iterable[tuple[Answer, Holder]]) -> tuple[EvaluationGroup, ...]:
    """Of equal answers, in the order of `smallest_first`."""
    found: dict[Answer, list[Holder]] = {}
    for answer, holder in answers:
        found.setdefault(answer, []).append(holder)
    ordered = sorted(
        ((len(holders), label(holder.member for holder in holders), answer) for answer, holders in found.items()),
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
    """None unless all values are numbers. Errors do not count."""
    values = [(answer.value, answer.type) for answer in answers]
    numbers = [number(str(value), str(kind)) for value, kind in values if isinstance(value, str)]
    known = [each for each in numbers if each is not None]
    return None if not known or len(known) < len(numbers) else statistics_of(known)


def statistics_of(known: Sequence[float]) -> Statistics:
    finite = [each for each in known if math.isfinite(each)]
    nan = sum(map(math.isnan, known))
    counts = {"nan": nan, "inf": len(known) - len(finite) - nan}
    if not finite:
        return Statistics(min=None, max=None, mean=None, std=None, **counts)
    mean = math.fsum(each / len(finite) for each in finite)
    # Without these quotients, the squares of large numbers would be infinite.
    scale = max(map(abs, finite)) or 1.0
    variance = math.fsum((each / scale - mean / scale) ** 2 for each in finite) / len(finite)
    return Statistics(min=min(finite), max=max(finite), mean=mean, std=scale * math.sqrt(variance), **counts)
