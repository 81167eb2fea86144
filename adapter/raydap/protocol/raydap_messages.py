"""The messages of raydap's own requests and events (docs/requests.md), declared once.

The core decodes arguments into these types and encodes answers from them; `vscode-ext/src/protocol/messages.ts` is
generated from them. Names on the wire are in camel case, as in DAP.
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol import stack_messages, value_messages, wait_messages
from raydap.protocol.message_base import Arguments, Message

PROTOCOL = 1
"""Raise it with every change here that an older client or hub would misunderstand."""


class Server(Message, frozen=True):
    """The field `raydap` in the answer to `initialize`. If its `protocol` differs from the client's own, the side with
    the lower number is too old. `debugs` names the cluster that is debugged already, which the client can join; it is
    absent if none is, and for a client that has not shown the hub's token."""

    version: str
    protocol: int = PROTOCOL
    debugs: str | UnsetType = UNSET


class ProblemData(Message, frozen=True):
    """The number of the error that an `output` event reports (docs/errors.md)."""

    code: int


class OutputData(Message, frozen=True):
    """The `data` of an `output` event: what an error of raydap's own is about, or the key of the `worker` that has
    written it through its debugger, such as the message of a logpoint."""

    raydap: ProblemData | UnsetType = UNSET
    worker: str | UnsetType = UNSET


class StoppedThread(Message, frozen=True):
    """`error` is the type of the exception that the thread stopped for, else "". `order` counts a worker's threads from
    1; it is 0 while only one of them has stopped. `place` says where a thread is that was paused and cannot stop, else
    ""."""

    thread_id: int
    name: str
    reason: str
    error: str
    order: int
    place: str


WorkerState = Literal["paused", "attaching", "stopped", "held", "running", "detached", "alive", "gone"]


class WorkerEntry(Message, frozen=True):
    """One worker. It is `held` while it waits at a barrier. `name` is `label`, ` · ` and `where`; `age` are the seconds
    since the state began; `pid` is 0 if it is not known; a string that Ray does not give (yet) is "". With `agent` it
    can be attached at any time."""

    key: str
    name: str
    label: str
    where: str
    state: WorkerState
    age: float
    type: Literal["worker", "driver", "target", "child"]
    pid: int
    node: str
    node_id: str
    job: str
    submission: str
    actor: str
    actor_name: str
    task: str
    agent: bool
    threads: tuple[StoppedThread, ...]
    problem: str
    retry: float | UnsetType = UNSET
    """The seconds until raydap tries again to attach, after an attach that has failed."""


class WorkerList(Message, frozen=True):
    """The answer to `raydap/workers`, with all workers; and the body of `raydap/workersChanged`, with those that are
    new or have changed. `outage` is a sentence for the user while the cluster does not answer, else "". `complete` is
    there, and true, for a client that asks for all, once Ray has said who runs. `cluster` is in the answer, once it is
    known: the URL of the cluster's dashboard, or "the given workers"."""

    workers: tuple[WorkerEntry, ...]
    outage: str
    complete: bool | UnsetType = UNSET
    cluster: str | UnsetType = UNSET


class WorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/workers`. With `all`, workers that run and are not attached are listed, too."""

    all: bool = False


class AttachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/attach`: `workers` are keys, `select` is a set (docs/usage/sets.md). Without both, all
    present and future workers are meant."""

    workers: tuple[str, ...] | None = None
    select: str | None = None


class DetachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/detach`: `workers` are keys, `select` is a set."""

    workers: tuple[str, ...] | None = None
    select: str | None = None


class PauseWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/pause`: `workers` are keys, `select` is a set."""

    workers: tuple[str, ...] | None = None
    select: str | None = None


class SetsArguments(Arguments, frozen=True):
    """The arguments of `raydap/sets`: `select` is kept under `name`; without it, what was kept there is dropped."""

    name: str | None = None
    select: str | None = None


class SelectArguments(Arguments, frozen=True):
    """The arguments of `raydap/select`: `select` is a set. With `running` its expression is evaluated in workers that
    run, too."""

    select: str
    running: bool = False


class SelectedWorkers(Message, frozen=True):
    """The answer to `raydap/select`: the keys of the workers in the set."""

    workers: tuple[str, ...]


class KeptSet(Message, frozen=True):
    """A set that is kept under a name."""

    name: str
    select: str


class WorkerSets(Message, frozen=True):
    """The answer to `raydap/sets`: all that are kept."""

    sets: tuple[KeptSet, ...]


class FocusArguments(Arguments, frozen=True):
    """The arguments of `raydap/focus`."""

    thread_id: int


class ContinueThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/continue`: `select` is a set. Without both, all stopped threads are meant."""

    threads: tuple[int, ...] | None = None
    select: str | None = None


class StepThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/step`. All other threads that are stopped at the line of this thread step, too; with the
    set `select`, those of them that are in it. With a `timeout` in seconds the answer comes when all of them have
    stopped again, or then, and says where they are. `until` they are at different lines, they step again and again
    within the timeout."""

    thread_id: int
    command: Literal["next", "stepIn", "stepOut"]
    select: str | None = None
    timeout: float = 0.0
    until: Literal["parted"] | None = None


class ResumedThreads(Message, frozen=True):
    """The answer to `raydap/continue`: the threads that run on."""

    threads: tuple[int, ...]


class SteppedGroup(Message, frozen=True):
    """Threads that have stopped at the same line, which is None if no frame is the user's."""

    members: tuple[int, ...]
    label: str
    frame: stack_messages.Location | None


class SteppedThreads(Message, frozen=True):
    """The answer to `raydap/step`: `threads` are those that step. With a `timeout`, `groups` are those that have
    stopped again, the largest group last, and `running` those that have not. Those that have ended are in neither.
    `steps` is how often they have stepped, if that was until they parted."""

    threads: tuple[int, ...]
    groups: tuple[SteppedGroup, ...] | UnsetType = UNSET
    running: tuple[int, ...] | UnsetType = UNSET
    steps: int | UnsetType = UNSET


class BarriersArguments(Arguments, frozen=True):
    """The arguments of `raydap/barriers`: `show` shows the workers that wait at a barrier, and `release` lets them run
    on; without `barrier`, an id, those of all barriers."""

    action: Literal["show", "release"] | None = None
    barrier: int | None = None


class MissingWorker(Message, frozen=True):
    """A worker that has not arrived: its key, its state, and where it runs, "" if that is not known."""

    worker: str
    label: str
    state: Literal["attaching", "stopped", "held", "running"]
    place: str


class Barrier(Message, frozen=True):
    """A barrier at which workers of one class wait. It is a line of the client's file `path`, or a `function`;
    `breakpoint` is its id. `label` names the workers that have arrived, `arrived` of those that are waited for.
    `starting` actors are to be attached yet, and `unreached` ones are not waited for, because raydap does not reach
    them. `text` says all of this for people to read."""

    id: int
    breakpoint: int
    path: str
    line: int
    function: str
    label: str
    arrived: int
    of: int
    missing: tuple[MissingWorker, ...]
    starting: int
    unreached: int
    text: str


class Barriers(Message, frozen=True):
    """The answer to `raydap/barriers`: those at which workers wait, after the action."""

    barriers: tuple[Barrier, ...]


class BreakpointsArguments(Arguments, frozen=True):
    """The arguments of `raydap/breakpoints`."""


class SetBreakpoint(Message, frozen=True):
    """A breakpoint that clients have set: on a line of the client's file `path`, or, with `path` "" and `line` 0, on a
    `function`. `line` is where it was set. The texts are those of DAP's SourceBreakpoint, "" for none. `verified` and
    `message` are those of DAP's Breakpoint."""

    id: int
    path: str
    line: int
    function: str
    condition: str
    hit_condition: str
    log_message: str
    verified: bool
    message: str


class BreakpointList(Message, frozen=True):
    """The answer to `raydap/breakpoints`: those of all clients. Who sets those of a file has to set these again."""

    breakpoints: tuple[SetBreakpoint, ...]


REQUESTS: dict[str, tuple[type[Arguments], type[Message] | None]] = {
    "raydap/workers": (WorkersArguments, WorkerList),
    "raydap/focus": (FocusArguments, None),
    "raydap/attach": (AttachWorkersArguments, None),
    "raydap/pause": (PauseWorkersArguments, None),
    "raydap/stack": (stack_messages.StackArguments, stack_messages.WorkerStack),
    "raydap/stacks": (stack_messages.StacksArguments, stack_messages.MergedStacks),
    "raydap/places": (stack_messages.PlacesArguments, stack_messages.Places),
    "raydap/waits": (wait_messages.WaitsArguments, wait_messages.WaitGraph),
    "raydap/detach": (DetachWorkersArguments, None),
    "raydap/select": (SelectArguments, SelectedWorkers),
    "raydap/sets": (SetsArguments, WorkerSets),
    "raydap/continue": (ContinueThreadsArguments, ResumedThreads),
    "raydap/barriers": (BarriersArguments, Barriers),
    "raydap/breakpoints": (BreakpointsArguments, BreakpointList),
    "raydap/step": (StepThreadsArguments, SteppedThreads),
    "raydap/evaluate": (value_messages.EvaluateThreadsArguments, value_messages.Evaluations),
    "raydap/compare": (value_messages.CompareArguments, value_messages.Comparison),
}
"""The types of the arguments and of the answer's body; None for no body."""

EVENTS: dict[str, type[Message]] = {"raydap/workersChanged": WorkerList}
