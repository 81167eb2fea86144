"""What a report knows, typed: the content of `--json`, and what the page shows.

Times are seconds since the epoch, on the clock of the machine that runs `raydap report`; durations are in seconds.
Names in the JSON are in camel case, as in raydap's own requests (docs/usage/report.md).
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Message
from raydap.protocol.stack_messages import Location, MergedStacks, StackNode, StackVariable, WorkerPlace
from raydap.protocol.value_messages import Statistics

VERSION = 1
"""Raised with each change that a program which reads the JSON would misunderstand."""


class WorkerRecord(Message, frozen=True):
    """A process of the program. `label` names it among those of its class: `Trainer{3}`; `kind` is that class, the
    function of a task, or `driver`. `ended` is None while it runs, and `problem` says why it could not be debugged, or
    has crashed, else "". `pauses` are how often raydap had it stopped, and `paused` for how long altogether."""

    key: str
    label: str
    kind: str
    pid: int
    node: str
    job: str
    seen: float
    ended: float | None
    problem: str
    pauses: int
    paused: float


class FrameRecord(Message, frozen=True):
    """A frame and its local variables, as short texts."""

    location: Location
    variables: tuple[StackVariable, ...]


class LookRecord(Message, frozen=True):
    """One worker that has stopped, and was looked at before it ran on. `worker` is a key. `frames` are outermost first;
    `paused` is for how long it was stopped, and `problem` says what could not be read, else ""."""

    time: float
    worker: str
    label: str
    frames: tuple[FrameRecord, ...]
    paused: float
    problem: str


class KindCount(Message, frozen=True):
    """What the workers of one kind did at a line: how many of them were there, how often, how many stops were looked
    at, and how often the condition or the expression failed, with one of these errors."""

    kind: str
    workers: int
    hits: int
    looked: int
    failed: int
    error: str


class LineRecord(Message, frozen=True):
    """A line with a breakpoint, or a `breakpoint()` of the program's. `source` is its text. `verified` is false if no
    worker has such a line, for which `message` is the reason. `tree` are the last stacks of all workers that were
    looked at, with their variables, equal ones together; `statistics` those of the innermost frame that are numbers.
    `looks` are the first ten and the last ten of each kind."""

    path: str
    line: int
    condition: str
    source: str
    call: bool
    verified: bool
    message: str
    counts: tuple[KindCount, ...]
    tree: StackNode
    statistics: dict[str, Statistics]
    looks: tuple[LookRecord, ...]


class Point(Message, frozen=True):
    """The values of an expression in one worker in a short time, up to `time`: of `count` values the lowest and highest
    finite one, None without one, the last one if it is finite, and how many are not."""

    time: float
    count: int
    low: float | None
    high: float | None
    last: float | None
    nan: int
    inf: int


class Series(Message, frozen=True):
    """The values in one worker. `texts` are the last ones that are no numbers, each with its time."""

    worker: str
    label: str
    kind: str
    hits: int
    points: tuple[Point, ...]
    texts: tuple[tuple[float, str], ...]


class TextGroup(Message, frozen=True):
    """Workers whose last value is this text."""

    text: str
    count: int
    label: str


class TraceRecord(Message, frozen=True):
    """An expression that was evaluated at a line without stopping. `statistics` are of the last numbers of all workers,
    `lowest` and `highest` who has the lowest and the highest of these. `texts` are the last values that are no
    numbers."""

    path: str
    line: int
    expression: str
    source: str
    verified: bool
    message: str
    counts: tuple[KindCount, ...]
    series: tuple[Series, ...]
    texts: tuple[TextGroup, ...]
    statistics: Statistics | UnsetType = UNSET
    lowest: str = ""
    highest: str = ""


class ErrorRecord(Message, frozen=True):
    """Equal errors: of one type, raised at one place. `text` is the message of the first, `traceback` its text as
    Python writes it. `passed`: it came from a task that has failed, and is that one's error. `looks` and `tree` are
    those of LineRecord."""

    type: str
    text: str
    traceback: str
    location: Location | None
    passed: bool
    count: int
    label: str
    first: float
    tree: StackNode
    looks: tuple[LookRecord, ...]


class SampleRecord(Message, frozen=True):
    """Where all workers were at a time, without stopping them."""

    time: float
    stacks: MergedStacks
    places: tuple[WorkerPlace, ...]
    unread: tuple[str, ...]


class Span(Message, frozen=True):
    """What a worker, a key, did from `start` to `end`; `end` is None while it goes on. A task's `state` is Ray's."""

    worker: str
    name: str
    start: float
    end: float | None
    state: str = ""


class Timeline(Message, frozen=True):
    """`tasks` is what Ray says, `pauses` when raydap had workers stopped. Only the first of very many are kept; `more`
    are the others."""

    tasks: tuple[Span, ...]
    pauses: tuple[Span, ...]
    more: int


class Note(Message, frozen=True):
    """Something that has happened: `text` is a sentence, and `count` how often it was said."""

    time: float
    text: str
    count: int = 1


class Outcome(Message, frozen=True):
    """How it stands: it runs, or has ended by itself, by a signal, after the time that was given, or could not begin.
    `code` is the exit code of a launched program, None if it has none yet; `text` says all of this."""

    state: Literal["running", "ended", "interrupted", "limit", "failed"]
    code: int | None
    text: str


class Report(Message, frozen=True):
    """All of it. `command` is the command line; `cluster` is the URL of the dashboard, "" if it is not known. `output`
    are the last lines that the program has printed."""

    version: int
    raydap: str
    title: str
    command: tuple[str, ...]
    cluster: str
    started: float
    written: float
    ended: float | None
    outcome: Outcome
    workers: tuple[WorkerRecord, ...]
    errors: tuple[ErrorRecord, ...]
    lines: tuple[LineRecord, ...]
    traces: tuple[TraceRecord, ...]
    samples: tuple[SampleRecord, ...]
    timeline: Timeline
    notes: tuple[Note, ...]
    output: tuple[str, ...]
