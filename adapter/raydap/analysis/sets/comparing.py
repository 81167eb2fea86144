"""Values of many threads as groups of equal ones, and what is different between them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET, UnsetType

from raydap.analysis.sets.compared_value import Summary
from raydap.analysis.sets.differences import difference
from raydap.analysis.sets.folding import Holder, label, running_of, smallest_first, statistics_of, threads_of
from raydap.inworker.array_text import array_text as text_of_array
from raydap.presentation.numbers import number
from raydap.protocol.types import Handle
from raydap.protocol.value_messages import ArraySummary, Change, ComparisonGroup, Histogram, Share

BINS = 10

MAX_DIFFERENCES = 20
"""Groups that are told how they differ from the largest one: to find it out takes a millisecond."""

_MAX_DEVICES = 4


@dataclass(frozen=True, slots=True)
class Compared:
    holder: Holder
    summary: Summary

    @property
    def number(self) -> float | None:
        return number_of(self.summary)


def number_of(summary: Summary) -> float | None:
    """None for what is no number."""
    return None if summary.error or summary.array is not None else number(summary.text, summary.type)


def share(answers: Iterable[Compared]) -> Share:
    holders = [each.holder for each in answers]
    return Share(
        members=threads_of(holders), running=running_of(holders), label=label(holder.member for holder in holders)
    )


def groups(answers: Sequence[Compared]) -> tuple[ComparisonGroup, ...]:
    """In the order of `smallest_first`."""
    by_places = {_kind(each.summary) for each in answers if not _hash(each.summary) and not _is_unseen(each.summary)}
    found: dict[object, list[Compared]] = {}
    for each in answers:
        found.setdefault(_key(each.summary, _kind(each.summary) in by_places), []).append(each)
    ordered = sorted(found.values(), key=lambda group: smallest_first(len(group), share(group).label))
    return tuple(
        _group(each, ordered[-1][0].summary if place < MAX_DIFFERENCES else None) for place, each in enumerate(ordered)
    )


def _kind(summary: Summary) -> object:
    """Values of different kinds are not equal."""
    array = summary.array
    return (summary.type, None if array is None else (array.shape, array.dtype), summary.error)


def _hash(summary: Summary) -> str:
    """Empty if it is not known of the whole value."""
    return summary.hash if summary.array is None else summary.array.hash


def _is_unseen(summary: Summary) -> bool:
    """Whether it is an array of which nothing could be looked at."""
    return summary.array is not None and bool(summary.array.reason)


def _key(summary: Summary, by_places: bool) -> object:
    """If not all of one worker's array could be looked at, only the same places of all can be compared."""
    said = summary.array or summary
    return _kind(summary), (said.places or said.hash) if by_places else said.hash


def _group(answers: Sequence[Compared], largest: Summary | None) -> ComparisonGroup:
    members = share(answers)
    first = answers[0].summary
    if first.error:
        return ComparisonGroup(members=members.members, running=members.running, label=members.label, error=first.error)
    apart = "" if largest is None or first is largest or largest.error else _difference(first, largest)
    array: ArraySummary | UnsetType = UNSET
    text = first.text
    if first.array is not None:
        array = _array(answers)
        text = array_text(array)
    return ComparisonGroup(
        members=members.members,
        running=members.running,
        label=members.label,
        value=text,
        type=first.type,
        array=array,
        difference=apart or UNSET,
        partial=not _hash(first) or not first.whole,
    )


def _difference(one: Summary, other: Summary) -> str:
    if (one.array is None) != (other.array is None) or number_of(one) is not None:
        return ""
    if one.array is None or other.array is None:
        return difference(one.text, other.text)
    if one.array.shape != other.array.shape:
        return f"the shape is {shape_text(one.array.shape)} instead of {shape_text(other.array.shape)}"
    if one.array.dtype != other.array.dtype:
        return f"the dtype is {one.array.dtype} instead of {other.array.dtype}"
    return ""


def _array(answers: Sequence[Compared]) -> ArraySummary:
    """That of the first, on the devices of all."""
    arrays = [each.summary.array for each in answers if each.summary.array is not None]
    devices = sorted({each.device for each in arrays})
    more = [f"and {len(devices) - _MAX_DEVICES} more"] if len(devices) > _MAX_DEVICES else []
    known = {name: getattr(arrays[0], name) for name in ArraySummary.__struct_fields__}
    known["device"] = ", ".join([*devices[:_MAX_DEVICES], *more])
    known["sampled"] = min(each.sampled for each in arrays)
    return ArraySummary(**known)


def shape_text(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def array_text(array: ArraySummary) -> str:
    """Like `float32[3,1000] on cuda:0, min -1, max 1, mean 0.5, std 0.1, 2 nan`."""
    return text_of_array(msgspec.structs.asdict(array))


def histogram(answers: Sequence[Compared]) -> Histogram | None:
    """Counts the finite numbers. Returns None unless two of them are different."""
    known = [(value, each) for each in answers if (value := each.number) is not None and math.isfinite(value)]
    values = [value for value, _ in known]
    if not values or min(values) == max(values):
        return None
    low, high = min(values), max(values)
    counts = [0] * BINS
    # The distance of two numbers may be too large to be one; that of halves is not, but may be 0.
    half = 1.0 if math.isfinite(high - low) else 0.5
    for value in values:
        place = (value * half - low * half) / (high * half - low * half)
        counts[min(int(place * BINS), BINS - 1)] += 1
    return Histogram(
        low=low,
        high=high,
        counts=tuple(counts),
        lowest=share(each for value, each in known if value == low),
        highest=share(each for value, each in known if value == high),
    )


def change(answers: Sequence[Compared], before: Mapping[Handle, Summary]) -> Change:
    """`before` are the kept values, by the ids of the threads."""
    parts: dict[str, list[Compared]] = {"unchanged": [], "changed": [], "unknown": []}
    apart: list[float] = []
    for each in answers:
        # A worker that runs has no thread, and may be anywhere else the next time.
        earlier = None if each.holder.thread is None else before.get(Handle(each.holder.thread))
        if earlier is None or any(known.error or _is_unseen(known) for known in (earlier, each.summary)):
            parts["unknown"].append(each)
            continue
        by_places = not (_hash(earlier) and _hash(each.summary))
        same = _key(earlier, by_places) == _key(each.summary, by_places)
        parts["unchanged" if same else "changed"].append(each)
        now, then = each.number, number_of(earlier)
        if now is not None and then is not None:
            apart.append(now - then)
    shares: dict[str, Share] = {name: share(found) for name, found in parts.items()}
    known = len(parts["unchanged"]) + len(parts["changed"])
    statistics = statistics_of(apart) if apart and len(apart) == known else None
    return Change(**shares, statistics=statistics or UNSET)
