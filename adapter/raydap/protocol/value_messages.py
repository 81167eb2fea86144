"""The messages about values in many threads: `raydap/evaluate` and `raydap/compare`. A part of raydap_messages.py."""

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Arguments, Message


class EvaluateThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/evaluate`. Without `threads` and `select`, all stopped threads are meant."""

    expression: str
    """A Python expression, evaluated in the user's top frame of each thread."""
    threads: tuple[int, ...] | None = None
    """The ids of stopped threads."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""
    timeout: float = 5.0
    """Seconds for each thread. A thread without a result gets an `error`, and does not delay the others."""
    running: bool = False
    """Whether to evaluate the expression in workers that run, too, without stopping them."""


class CompareArguments(Arguments, frozen=True):
    """The arguments of `raydap/compare`: the arguments of `raydap/evaluate`, and two names."""

    expression: str
    """A Python expression, evaluated in the user's top frame of each thread."""
    threads: tuple[int, ...] | None = None
    """The ids of stopped threads."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""
    timeout: float = 5.0
    """Seconds for each thread, as in `raydap/evaluate`."""
    running: bool = False
    """Whether to evaluate the expression in workers that run, too, without stopping them."""
    keep: str | None = None
    """The name under which raydap keeps the values for later requests."""
    baseline: str | None = None
    """The name of kept values, with which the value of each thread is compared."""


class Evaluation(Message, frozen=True):
    """The result of the expression in one stopped thread."""

    thread_id: int
    """The id of the stopped thread."""
    name: str
    """The name of the thread."""
    label: str
    """The label of its worker."""
    value: str | UnsetType = UNSET
    """The value as text; absent if there is an `error`."""
    type: str | UnsetType = UNSET
    """The name of the value's type; absent if there is an `error`."""
    error: str | UnsetType = UNSET
    """Why there is no value, in one line; absent if there is a value."""


class EvaluationGroup(Message, frozen=True):
    """Threads with the same result."""

    members: tuple[int, ...]
    """The ids of the stopped threads."""
    label: str
    """A short name for all of their workers: `Trainer{0-5,7}`."""
    value: str | UnsetType = UNSET
    """The value as text; absent if there is an `error`."""
    type: str | UnsetType = UNSET
    """The name of the value's type; absent if there is an `error`."""
    error: str | UnsetType = UNSET
    """Why there is no value, in one line; absent if there is a value."""
    running: tuple[str, ...] | UnsetType = UNSET
    """The keys of the workers that run; absent if there are none."""


class Statistics(Message, frozen=True):
    """Statistics of numbers."""

    min: float | None
    """The smallest of the finite numbers; null if there are none."""
    max: float | None
    """The largest of the finite numbers; null if there are none."""
    mean: float | None
    """The mean of the finite numbers; null if there are none."""
    std: float | None
    """The standard deviation of the finite numbers as a population, not as a sample; null if there are none."""
    nan: int
    """How many numbers are not a number (NaN)."""
    inf: int
    """How many numbers are infinite."""


class Evaluations(Message, frozen=True):
    """The answer to `raydap/evaluate`."""

    results: tuple[Evaluation, ...]
    """The results of the stopped threads, in the order of the argument `threads`."""
    groups: tuple[EvaluationGroup, ...]
    """The groups of equal results, the largest last."""
    silent: tuple[int, ...]
    """The ids of the stopped threads that had no result in time; they are in no group."""
    unread: tuple[str, ...] | UnsetType = UNSET
    """The keys of the workers that run and had no result in time; absent if there are none."""
    statistics: Statistics | UnsetType = UNSET
    """Present if all values are numbers."""


class ArrayHistogram(Message, frozen=True):
    """A histogram of finite elements of an array, in bins of the same width."""

    low: float
    """The smallest of the counted elements, where the first bin begins."""
    high: float
    """The largest of the counted elements, where the last bin ends."""
    counts: tuple[int, ...]
    """The number of elements in each bin: in all, of a large array, about 4,000 that are spread over the array."""


class ArraySummary(Message, frozen=True):
    """A summary of an array, whose elements are not sent."""

    shape: tuple[int, ...]
    """The length of each dimension."""
    dtype: str
    """The type of the elements, such as `float32`."""
    device: str
    """The devices of all members of the group."""
    min: float | None
    """The smallest of the finite elements; null if there are none, or if the elements are not numbers."""
    max: float | None
    """The largest of the finite elements; null if there are none, or if the elements are not numbers."""
    mean: float | None
    """The mean of the finite elements; null if there are none, or if the elements are not numbers."""
    std: float | None
    """The standard deviation of the finite elements; null if there are none, or if the elements are not numbers."""
    nan: int
    """How many elements are not a number (NaN)."""
    inf: int
    """How many elements are infinite."""
    sampled: float
    """The share of the elements that the worker has read, from 0 to 1."""
    hash: str
    """Arrays with the same hash are equal. "" if the worker has not read all elements."""
    reason: str | UnsetType = UNSET
    """Why the worker has read no element; else absent."""
    histogram: ArrayHistogram | UnsetType = UNSET
    """Absent for few or equal elements, and for other arrays than those of numpy and torch."""


class ComparisonGroup(Message, frozen=True):
    """Threads with equal values."""

    members: tuple[int, ...]
    """The ids of the stopped threads."""
    label: str
    """A short name for all of their workers: `Trainer{0-5,7}`."""
    value: str | UnsetType = UNSET
    """The value as text, at most 600 characters; absent if there is an `error`."""
    type: str | UnsetType = UNSET
    """The name of the value's type; absent if there is an `error`."""
    error: str | UnsetType = UNSET
    """Why there is no value, in one line; absent if there is a value."""
    array: ArraySummary | UnsetType = UNSET
    """Present if the value is an array."""
    difference: str | UnsetType = UNSET
    """A short text on how the value differs from the largest group's."""
    running: tuple[str, ...] | UnsetType = UNSET
    """The keys of the workers that run; absent if there are none."""
    partial: bool = False
    """Whether only a part of the value was compared: its first 100,000 parts, or some places of its arrays."""


class Share(Message, frozen=True):
    """A part of the threads, and of the workers that run."""

    members: tuple[int, ...]
    """The ids of the stopped threads."""
    label: str
    """A short name for all of their workers: `Trainer{0-5,7}`."""
    running: tuple[str, ...] | UnsetType = UNSET
    """The keys of the workers that run; absent if there are none."""


class Histogram(Message, frozen=True):
    """A histogram of the finite numbers."""

    low: float
    """The lowest number."""
    high: float
    """The highest number."""
    counts: tuple[int, ...]
    """How many numbers are in each of the equal parts between `low` and `high`."""
    lowest: Share
    """The threads with the lowest number."""
    highest: Share
    """The threads with the highest number."""


class Change(Message, frozen=True):
    """The changes since the values of the baseline."""

    unchanged: Share
    """The threads whose value equals the baseline's."""
    changed: Share
    """The threads whose value differs from the baseline's."""
    unknown: Share
    """The threads without a value that can be compared, then or now."""
    statistics: Statistics | UnsetType = UNSET
    """Statistics of the differences; present if all values that can be compared are numbers."""


class Comparison(Message, frozen=True):
    """The answer to `raydap/compare`."""

    groups: tuple[ComparisonGroup, ...]
    """The groups of equal values, the largest last."""
    silent: tuple[int, ...]
    """The ids of the stopped threads that had no result in time; they are in no group."""
    unread: tuple[str, ...] | UnsetType = UNSET
    """The keys of the workers that run and had no result in time; absent if there are none."""
    statistics: Statistics | UnsetType = UNSET
    """Present if all values are numbers."""
    histogram: Histogram | UnsetType = UNSET
    """Present if all values are numbers, and at least two of the finite ones differ."""
    change: Change | UnsetType = UNSET
    """Present if the request names a baseline."""
