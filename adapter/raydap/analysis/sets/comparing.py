"""Groups of equal values among many threads, and the differences between the groups."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET, UnsetType

from raydap.analysis.sets.compared_value import Summary
from raydap.analysis.sets.differences import difference
from raydap.analysis.sets.folding import Holder, group_name, running_of, smallest_first, statistics_of, threads_of
from raydap.inworker.array_text import array_text as text_of_array
from raydap.presentation.numbers import number
from raydap.protocol.types import Handle
from raydap.protocol.value_messages import ArraySummary, Change, ComparisonGroup, Histogram, Share

BINS = 10
"""The number of bins in a histogram."""

MAX_DIFFERENCES = 20
"""The number of groups whose difference from the largest group is described; each description takes a millisecond."""

_MAX_DEVICES = 4
"""The number of devices that a text names."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The value of one thread or running worker."""

    holder: Holder
    """The thread or running worker that has sent the value."""
    summary: Summary
    """The worker's summary of the value, or the error in its place."""

    @property
    def number(self) -> float | None:
        """The value as a number; None if it is not one."""
        return number_of(self.summary)


def number_of(summary: Summary) -> float | None:
    """Return a value as a number; None if it is not one."""
    return None if summary.error or summary.array is not None else number(summary.text, summary.type)


def share(answers: Iterable[Compared]) -> Share:
    """Return the threads and the running workers that gave these answers."""
    holders = [each.holder for each in answers]
    return Share(
        members=threads_of(holders), running=running_of(holders), label=group_name(holder.member for holder in holders)
    )


def groups(answers: Sequence[Compared]) -> tuple[ComparisonGroup, ...]:
    """Return the groups of equal values, in the order of `smallest_first`."""
    by_places = {_kind(each.summary) for each in answers if not _hash(each.summary) and not _is_unseen(each.summary)}
    found: dict[object, list[Compared]] = {}
    for each in answers:
        found.setdefault(_key(each.summary, _kind(each.summary) in by_places), []).append(each)
    ordered = sorted(found.values(), key=lambda group: smallest_first(len(group), share(group).label))
    return tuple(
        _group(each, ordered[-1][0].summary if place < MAX_DIFFERENCES else None) for place, each in enumerate(ordered)
    )


def _kind(summary: Summary) -> object:
    """Return a key for the kind of a value; values of different kinds are not equal."""
    array = summary.array
    return (summary.type, None if array is None else (array.shape, array.dtype), summary.error)


def _hash(summary: Summary) -> str:
    """Return the hash of the whole value; "" if it is not known."""
    return summary.hash if summary.array is None else summary.array.hash


def _is_unseen(summary: Summary) -> bool:
    """Return whether the value is an array of which no element could be read."""
    return summary.array is not None and bool(summary.array.reason)


def _key(summary: Summary, by_places: bool) -> object:
    """Return a key that is equal for equal values.

    `by_places`: some worker has not read the whole array. Then only the places that all workers read can be compared.
    """
    source = summary.array or summary
    return _kind(summary), (source.places or source.hash) if by_places else source.hash


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
    """Return the summary of a group's arrays: that of the first, with the devices of all."""
    arrays = [each.summary.array for each in answers if each.summary.array is not None]
    devices = sorted({each.device for each in arrays})
    more = [f"and {len(devices) - _MAX_DEVICES} more"] if len(devices) > _MAX_DEVICES else []
    known = {name: getattr(arrays[0], name) for name in ArraySummary.__struct_fields__}
    known["device"] = ", ".join([*devices[:_MAX_DEVICES], *more])
    known["sampled"] = min(each.sampled for each in arrays)
    return ArraySummary(**known)


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as text, such as `[3,1000]`."""
    return f"[{','.join(map(str, shape))}]"


def array_text(array: ArraySummary) -> str:
    """Return an array as text, such as `float32[3,1000] on cuda:0, min -1, max 1, mean 0.5, std 0.1, 2 nan`."""
    return text_of_array(msgspec.structs.asdict(array))


def histogram(answers: Sequence[Compared]) -> Histogram | None:
    """Return a histogram of the finite numbers; None unless two of them are different."""
    known = [(value, each) for each in answers if (value := each.number) is not None and math.isfinite(value)]
    values = [value for value, _ in known]
    if not values or min(values) == max(values):
        return None
    low, high = min(values), max(values)
    counts = [0] * BINS
    # The difference of two large numbers can overflow. The difference of their halves cannot, but half of the smallest
    # number is 0, so use halves only if needed.
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
    """Return which values have changed since a baseline.

    `before` contains the values of the baseline, by the ids of the threads.
    """
    parts: dict[str, list[Compared]] = {"unchanged": [], "changed": [], "unknown": []}
    apart: list[float] = []
    for each in answers:
        # A running worker has no thread id, and its code may be elsewhere the next time.
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
