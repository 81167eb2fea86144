"""The types of a report: the content of `--json`, and the data that the HTML page shows.

Times are seconds since the epoch, by the clock of the machine that runs `raydap report`. Durations are in seconds.
The JSON has names in camel case, like raydap's own requests (docs/usage/report.md).
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Message
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, StackNode, StackVariable, WorkerPlace
from raydap.protocol.value_messages import Statistics

VERSION = 1
"""The version of the JSON. Each change that an existing reader would misunderstand increases it."""


class WorkerRecord(Message, frozen=True):
    """One process of the program: a worker or a driver."""

    key: str
    """Identifies the worker in this report."""
    label: str
    """Its name among the workers of its class, such as `Trainer 3`."""
    kind: str
    """The class of an actor, the function of a task, or `driver`."""
    pid: int
    """The process id; 0 if it is not known."""
    node: str
    """The IP address of its node."""
    job: str
    """The id of the job; "" if Ray does not report it."""
    seen: float
    """When the state began in which raydap first saw the worker."""
    ended: float | None = None
    """When raydap noticed that the process had ended or was detached; None before that."""
    problem: str = ""
    """Why the worker could not be debugged, or that it crashed; otherwise ""."""
    pauses: int = 0
    """How often a thread of the worker stopped."""
    paused: float = 0.0
    """The total duration of these stops."""


class FrameRecord(Message, frozen=True):
    """A frame of a stopped thread, with its local variables."""

    location: CodeLocation
    """The function and the line that it executes."""
    variables: tuple[StackVariable, ...]
    """The local variables, with their values as short texts."""


class LookRecord(Message, frozen=True):
    """One stop of a worker, with the stack that raydap read before it resumed the thread."""

    time: float
    """When raydap received the `stopped` event."""
    worker: str
    """The key of the worker."""
    label: str
    """The name of the worker."""
    frames: tuple[FrameRecord, ...]
    """The stack, outermost frame first; empty if it could not be read."""
    paused: float
    """How long the thread was stopped."""
    problem: str
    """Why the stack could not be read, as a sentence; otherwise ""."""


class KindCount(Message, frozen=True):
    """The hits of a line by the workers of one kind."""

    kind: str
    """The class of the actors, the function of the tasks, or `driver`."""
    workers: int
    """The number of workers that reached the line."""
    hits: int
    """All hits of these workers."""
    looked: int
    """The number of stops whose stack raydap requested. The others were only counted."""
    failed: int
    """How often the condition or the expression raised an exception."""
    error: str
    """The text of one of these exceptions in one line; otherwise ""."""


class WatchedRecord(Message, frozen=True):
    """A line that workers reached, or did not reach."""

    path: str
    """The path of the file."""
    line: int
    """The number of the line, counted from 1."""
    source: str
    """The text of the line; "" if this machine does not have the file."""
    verified: bool
    """Whether a worker has such a line."""
    message: str
    """Why the breakpoint is not verified; otherwise ""."""
    counts: tuple[KindCount, ...]
    """The hits by the workers of each kind; empty if no worker reached the line."""

    @property
    def reason(self) -> str:
        """Why there are no hits, as a sentence for the user."""
        return "No worker reached this line." if self.verified or not self.message else self.message


class LineRecord(WatchedRecord, frozen=True):
    """A line with a breakpoint, or a call of `breakpoint()` in the program."""

    condition: str
    """The user's condition; "" if there is none."""
    call: bool
    """Whether this is a call of `breakpoint()` in the program."""
    tree: StackNode
    """The last stack of each worker that stopped there, merged, with the variables of each frame."""
    statistics: dict[str, Statistics]
    """Of each variable of the innermost frame that is a number in all workers."""
    looks: tuple[LookRecord, ...]
    """The first ten and the last ten stops of each kind of worker, in the order of time."""


class WatchHit(Message, frozen=True):
    """A change of a watched expression in a worker, or the moment when it became true."""

    time: float
    """When the worker stopped."""
    worker: str
    """The key of the worker."""
    label: str
    """The worker's name."""
    line: int
    """The line after which the value was another one; 0 for the beginning of a call."""
    source: str
    """The text of this line; "" if this machine does not have the file."""
    before: str
    """The value before; "" for an expression that became true."""
    after: str
    """The value after the line."""
    step: str
    """The variables that count steps there, such as `epoch 3, step 120`; "" if there are none."""
    text: str
    """All of this in one line."""


class WatchRecord(Message, frozen=True):
    """A watched expression."""

    path: str
    """The path of the file."""
    line: int
    """The line that the user has given, in the function where the expression is watched."""
    source: str
    """The text of the line; "" if this machine does not have the file."""
    expression: str
    """The expression."""
    verified: bool
    """Whether a worker has watched it."""
    message: str
    """The last message about the watchpoint."""
    hits: tuple[WatchHit, ...]
    """The first three hits of each worker, in the order of time."""

    @property
    def reason(self) -> str:
        """Why there are no hits, as a sentence for the user."""
        return "It has not changed or become true." if self.verified or not self.message else self.message


class Values(Message, frozen=True):
    """The values of an expression in one worker during a short interval."""

    count: int
    """The number of values in the interval."""
    low: float | None
    """The lowest finite value; None if there is none."""
    high: float | None
    """The highest finite value; None if there is none."""
    last: float | None
    """The last value of the interval if it is a finite number; otherwise None."""
    nan: int
    """The number of values that are NaN."""
    inf: int
    """The number of values that are infinite."""


class Point(Values, frozen=True):
    """The values of an interval in a series."""

    time: float
    """The end of the interval."""


class Series(Message, frozen=True):
    """The values of an expression in one worker over time."""

    worker: str
    """The key of the worker."""
    label: str
    """The name of the worker."""
    kind: str
    """Like `WorkerRecord.kind`."""
    hits: int
    """How often the worker executed the line."""
    points: tuple[Point, ...]
    """The values that are numbers, in the order of time."""
    texts: tuple[tuple[float, str], ...]
    """The last values that are not numbers, each with its time."""


class TextGroup(Message, frozen=True):
    """The workers whose last value has the same text."""

    text: str
    """The `repr()` of the value, shortened."""
    count: int
    """The number of workers."""
    label: str
    """The names of the workers."""


class TraceRecord(WatchedRecord, frozen=True):
    """An expression that workers evaluate at a line without stopping."""

    expression: str
    """The user's expression."""
    series: tuple[Series, ...]
    """The values of each worker."""
    texts: tuple[TextGroup, ...]
    """The last values of workers that are not numbers, smallest groups first."""
    statistics: Statistics | UnsetType = UNSET
    """Of the last number of each worker; unset if there is none."""
    lowest: str = ""
    """The names of the workers with the lowest of these numbers."""
    highest: str = ""
    """The names of the workers with the highest of these numbers."""


class RaisedError(Message, frozen=True):
    """An exception as debugpy reports it."""

    type: str
    """The name of the exception's class, without its module."""
    text: str
    """The message of the exception."""
    traceback: str
    """The traceback in Python's format; "" if debugpy does not send it."""


class ErrorRecord(RaisedError, frozen=True):
    """Errors of the same type that were raised at the same place. The text and the traceback are those of the first."""

    location: CodeLocation | None
    """Where it was raised; None if the stack could not be read."""
    passed: bool
    """Whether Ray passed the error on from a failed task or actor, which has an error of its own."""
    count: int
    """How often workers stopped for such an error."""
    label: str
    """The names of these workers."""
    first: float
    """When the first of them stopped."""
    tree: StackNode
    """Like `LineRecord.tree`."""
    looks: tuple[LookRecord, ...]
    """Like `LineRecord.looks`."""


class SampleRecord(Message, frozen=True):
    """The stacks of all workers at one time, read without stopping any worker."""

    time: float
    """When raydap requested the stacks."""
    stacks: MergedStacks
    """The stacks of all threads, merged."""
    places: tuple[WorkerPlace, ...]
    """Where each worker was."""
    unread: tuple[str, ...]
    """The keys of the workers whose stack or place could not be read."""


class TimelineSpan(Message, frozen=True):
    """A task that a worker ran, or a stop of one of its threads."""

    worker: str
    """The key of the worker."""
    name: str
    """The name of the task, or the reason of the stop."""
    start: float
    """When the task or the stop began."""
    end: float | None
    """None while the task runs or the thread is stopped."""
    state: str = ""
    """The state of a task as Ray reports it; "" for a stop."""


class Timeline(Message, frozen=True):
    """The tasks and the stops of all workers. Only the first 20,000 of each are kept."""

    tasks: tuple[TimelineSpan, ...]
    """The tasks that Ray lists."""
    pauses: tuple[TimelineSpan, ...]
    """The stops of workers."""
    more: int
    """The number of tasks and stops that were not kept."""


class Note(Message, frozen=True):
    """A message for the user."""

    time: float
    """When the message came first."""
    text: str
    """The message, as one or more sentences."""
    count: int = 1
    """How often the same message came."""


class Outcome(Message, frozen=True):
    """The state of the run."""

    state: Literal["running", "ended", "interrupted", "limit", "failed"]
    """`ended`: the program or job ended by itself. `interrupted`: a signal ended the report. `limit`: the time that
    the user gave is over. `failed`: the session ended before the program or job."""
    code: int | None
    """The exit code of a launched program; None for a job, and before the program has ended."""
    text: str
    """All of this as a sentence for the user."""


class Report(Message, frozen=True):
    """A whole report."""

    version: int
    """`VERSION`."""
    raydap: str
    """The version of raydap."""
    title: str
    """The command line of the program, or the job."""
    command: tuple[str, ...]
    """The command line of raydap."""
    cluster: str
    """The URL of the cluster's dashboard; "" if it is not known."""
    started: float
    """When raydap began the run."""
    written: float
    """When this report was made."""
    ended: float | None
    """When the run ended; None while it runs."""
    outcome: Outcome
    """The state of the run when this report was made."""
    workers: tuple[WorkerRecord, ...]
    """The workers of the program, sorted by kind, rank and process id."""
    errors: tuple[ErrorRecord, ...]
    """In the order of their first stops; those that Ray passed on come last."""
    lines: tuple[LineRecord, ...]
    """The lines of `--break-at`, then the calls of `breakpoint()`."""
    traces: tuple[TraceRecord, ...]
    """The lines of `--trace-at`."""
    samples: tuple[SampleRecord, ...]
    """The samples of `--every` in the order of time; at most 60."""
    timeline: Timeline
    """The tasks and the stops of all workers."""
    notes: tuple[Note, ...]
    """The messages of raydap in the order of time."""
    output: tuple[str, ...]
    """The last lines that the program printed."""
    watches: tuple[WatchRecord, ...] = ()
    """The expressions of `--watch`."""

    @property
    def end(self) -> float:
        """When the run ended; when the report was made if it still runs."""
        return self.written if self.ended is None else self.ended
