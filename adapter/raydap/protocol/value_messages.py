"""The messages about values in many threads: raydap/evaluate and raydap/compare; a part of raydap_messages.py."""

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Arguments, Message


class EvaluateThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/evaluate`: `select` is a set. Without it and `threads`, all stopped threads are meant.
    `timeout` is in seconds: a thread without a result by then has an `error`, so that it does not withhold the results
    of the others. With `running` the expression is also evaluated in workers that run, where they are, without stopping
    them."""

    expression: str
    threads: tuple[int, ...] | None = None
    select: str | None = None
    timeout: float = 5.0
    running: bool = False


class CompareArguments(Arguments, frozen=True):
    """The arguments of `raydap/compare`, those of `raydap/evaluate` and two names: `keep` keeps the values under a name
    for a later request, and `baseline` compares each thread's value with that kept under a name."""

    expression: str
    threads: tuple[int, ...] | None = None
    select: str | None = None
    timeout: float = 5.0
    running: bool = False
    keep: str | None = None
    baseline: str | None = None


class Evaluation(Message, frozen=True):
    """The result of the expression in one thread: `value` and `type`, or `error`, one line. `label` is the worker's."""

    thread_id: int
    name: str
    label: str
    value: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class EvaluationGroup(Message, frozen=True):
    """Threads with the same answer: `value` and `type`, or `error`. `members` are their ids, `running` the keys of
    those workers that run, and `label` names the workers of all in few words: `Trainer{0-5,7}`."""

    members: tuple[int, ...]
    label: str
    value: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    running: tuple[str, ...] | UnsetType = UNSET


class Statistics(Message, frozen=True):
    """Of numbers. `nan` and `inf` count those that are not finite, the others are of those that are; null if none is.
    `std` is the standard deviation of all of them, not of a sample."""

    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    nan: int
    inf: int


class Evaluations(Message, frozen=True):
    """The answer to `raydap/evaluate`: `results` in the order of its `threads`, and the same as `groups`, the largest
    last. `silent` are the threads, and `unread` the workers that run, that had no result in time; they are in no group.
    `statistics` are there if all values are numbers."""

    results: tuple[Evaluation, ...]
    groups: tuple[EvaluationGroup, ...]
    silent: tuple[int, ...]
    unread: tuple[str, ...] | UnsetType = UNSET
    statistics: Statistics | UnsetType = UNSET


class ArraySummary(Message, frozen=True):
    """What is said of an array, of which no element is sent. `device` names those of all members. The numbers are of
    the finite elements, null if there are none or if they are no numbers. `sampled` is the share of the elements that
    was looked at, 1 for all of them and 0 for none, for which there is a `reason`. Arrays with the same `hash` are
    equal, "" if that is not known."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    nan: int
    inf: int
    sampled: float
    hash: str
    reason: str | UnsetType = UNSET


class ComparisonGroup(Message, frozen=True):
    """Threads with equal values: `value`, a text of at most 600 characters, and `type`, or `error`. `difference` says
    shortly what is different in the largest group. `partial`: the value is so large that only its first 100,000 parts
    count, or only some places of its arrays."""

    members: tuple[int, ...]
    label: str
    value: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    array: ArraySummary | UnsetType = UNSET
    difference: str | UnsetType = UNSET
    running: tuple[str, ...] | UnsetType = UNSET
    partial: bool = False


class Share(Message, frozen=True):
    """Some of the threads, and of the workers that run."""

    members: tuple[int, ...]
    label: str
    running: tuple[str, ...] | UnsetType = UNSET


class Histogram(Message, frozen=True):
    """How many numbers lie in each of so many equal parts from `low` to `high`, and who has these two."""

    low: float
    high: float
    counts: tuple[int, ...]
    lowest: Share
    highest: Share


class Change(Message, frozen=True):
    """Since the values of the baseline. `unknown` had none then, or have none now. `statistics` are of the differences
    of numbers."""

    unchanged: Share
    changed: Share
    unknown: Share
    statistics: Statistics | UnsetType = UNSET


class Comparison(Message, frozen=True):
    """The answer to `raydap/compare`: `groups` of equal values, the largest last. `silent` and `unread` are as in
    `Evaluations`. `statistics` and `histogram` are there if all values are numbers, and `change`
    with a baseline."""

    groups: tuple[ComparisonGroup, ...]
    silent: tuple[int, ...]
    unread: tuple[str, ...] | UnsetType = UNSET
    statistics: Statistics | UnsetType = UNSET
    histogram: Histogram | UnsetType = UNSET
    change: Change | UnsetType = UNSET
