"""The types of the messages of raydap's own requests and events (docs/requests.md).

The core decodes arguments into these types, and encodes answers from them. `vscode-ext/src/protocol/messages.ts` is
generated from them. Names on the wire are in camel case, as in DAP.
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol import reload_messages, stack_messages, value_messages, wait_messages
from raydap.protocol.message_base import Arguments, Message

PROTOCOL = 1
"""The number of the protocol. Increase it with every change that an older client or hub would misunderstand."""


class Server(Message, frozen=True):
    """The field `raydap` in the answer to `initialize`."""

    version: str
    """The version of raydap, such as `0.1.0`."""
    protocol: int = PROTOCOL
    """If it differs from the client's own number, the side with the lower number is too old."""
    debugs: str | UnsetType = UNSET
    """The cluster that raydap debugs already, and whose session the client can join. Absent if there is none, and for a
    client that has not shown the hub's token."""


class ProblemData(Message, frozen=True):
    """The error that an `output` event reports."""

    code: int
    """The number of the error (docs/errors.md)."""


class OutputData(Message, frozen=True):
    """The `data` of an `output` event."""

    raydap: ProblemData | UnsetType = UNSET
    """Present if the output is an error of raydap's own."""
    worker: str | UnsetType = UNSET
    """The key of the worker that has written the output through its debugger, such as the message of a logpoint."""


class StoppedThread(Message, frozen=True):
    """A stopped thread of a worker."""

    thread_id: int
    """The id of the thread, as in DAP."""
    name: str
    """The name of the thread, as in DAP: its worker's name, with `order` if that is not 0."""
    reason: str
    """As in DAP's event `stopped`."""
    error: str
    """The type of the exception that the thread stopped for, else ""."""
    order: int
    """The number of the thread in its worker, from 1; 0 while only one thread of the worker has stopped."""
    place: str
    """Where the thread is, if it was paused and cannot stop: `blocked in ray.get (train.py:41)`; else ""."""


WorkerState = Literal["paused", "attaching", "stopped", "held", "running", "detached", "alive", "gone"]
"""The state of a worker; docs/requests.md explains each one. A worker is `held` while it waits at a barrier."""


class WorkerEntry(Message, frozen=True):
    """One worker in the list of workers. A string that Ray has not provided is ""."""

    key: str
    """The worker's name in requests."""
    name: str
    """`label`, ` · ` and `where`: `Trainer 2 · train · 4711 · 10.0.0.7`."""
    title: str
    """The name that identifies the worker: `Trainer 2`, or `prepare 4711` for a task."""
    label: str
    """The actor and its method, or the task: `Trainer 2 · train`, `prepare`."""
    where: str
    """Its process and its node: `4711 · 10.0.0.7`."""
    state: WorkerState
    """The state; docs/requests.md explains each one."""
    age: float
    """Seconds since the state began."""
    type: Literal["worker", "driver", "target", "child"]
    """The kind of process. A `target` was given by address, and a `child` was started or forked by another process."""
    pid: int
    """0 if it is not known."""
    node: str
    """The address of the node, for people to read."""
    node_id: str
    """Ray's id of the node."""
    job: str
    """Ray's id of the job."""
    submission: str
    """The id of the job in Ray's Jobs API."""
    actor: str
    """The class of the actor."""
    actor_name: str
    """The name that the program has given the actor."""
    task: str
    """The name of the function, or `Class.method` for an actor."""
    agent: bool
    """Whether the worker has an agent, so that raydap can attach to it at any time."""
    threads: tuple[StoppedThread, ...]
    """The stopped threads; empty in all states but `stopped`."""
    problem: str
    """Why raydap could not attach to the worker, or why it has ended; "" if there is no problem."""
    rank: int | UnsetType = UNSET
    """The rank that an actor's program declares, else the number of the actor in its class. Absent if unknown."""
    retry: float | UnsetType = UNSET
    """Seconds until raydap tries to attach again, after an attach that has failed."""


class WorkerList(Message, frozen=True):
    """The answer to `raydap/workers`, and the body of the event `raydap/workersChanged`."""

    workers: tuple[WorkerEntry, ...]
    """All workers in the answer; in the event, the workers that are new or have changed."""
    outage: str
    """A sentence for the user while the cluster does not answer, else ""."""
    complete: bool | UnsetType = UNSET
    """True for a client that requests `all`, once Ray has listed the processes that run; else absent."""
    cluster: str | UnsetType = UNSET
    """The URL of the cluster's dashboard, or "the given workers". Only in the answer, and only once it is known."""


class WorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/workers`."""

    all: bool = False
    """Whether to list also workers that run and are not attached."""


class AttachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/attach`. Without `workers` and `select`: all workers that are paused now or later."""

    workers: tuple[str, ...] | None = None
    """Keys of workers."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""


class DetachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/detach`: one of `workers` and `select`."""

    workers: tuple[str, ...] | None = None
    """Keys of workers."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""


class PauseWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/pause`: one of `workers` and `select`."""

    workers: tuple[str, ...] | None = None
    """Keys of workers."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""


class SetsArguments(Arguments, frozen=True):
    """The arguments of `raydap/sets`. Without `name`, nothing is kept or dropped."""

    name: str | None = None
    """The name of the set that is kept or dropped."""
    select: str | None = None
    """The set to keep under `name`; without it, the set of that name is dropped."""


class SelectArguments(Arguments, frozen=True):
    """The arguments of `raydap/select`."""

    select: str
    """A set (docs/usage/sets.md)."""
    running: bool = False
    """Whether to evaluate the expression of the set in workers that run, too."""


class SelectedWorkers(Message, frozen=True):
    """The answer to `raydap/select`."""

    workers: tuple[str, ...]
    """The keys of the workers in the set."""


class KeptSet(Message, frozen=True):
    """A set that is kept under a name."""

    name: str
    """The name by which `set:` refers to it."""
    select: str
    """The set, as the client has sent it."""


class WorkerSets(Message, frozen=True):
    """The answer to `raydap/sets`."""

    sets: tuple[KeptSet, ...]
    """All sets that are kept."""


class FocusArguments(Arguments, frozen=True):
    """The arguments of `raydap/focus`."""

    thread_id: int
    """The id of the thread that the user looks at."""


class ContinueThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/continue`. Without `threads` and `select`, all stopped threads are meant."""

    threads: tuple[int, ...] | None = None
    """The ids of stopped threads."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""


class StepThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/step`, which steps a thread and the other threads that are stopped at the same line."""

    thread_id: int
    """The id of the thread whose line decides which other threads step."""
    command: Literal["next", "stepIn", "stepOut"]
    """The DAP request that each of the threads gets."""
    select: str | None = None
    """A set to which the other threads are limited."""
    timeout: float = 0.0
    """Seconds to wait for the threads to stop again; the answer then contains their lines. 0: do not wait."""
    until: Literal["parted"] | None = None
    """`parted`: step again and again, within the timeout, until the threads are at different lines."""


class ResumedThreads(Message, frozen=True):
    """The answer to `raydap/continue`."""

    threads: tuple[int, ...]
    """The ids of the threads that were resumed."""


class SteppedGroup(Message, frozen=True):
    """The threads that have stopped at the same line."""

    members: tuple[int, ...]
    """The ids of the threads."""
    label: str
    """A short name for their workers: `Trainer{0-5,7}`."""
    frame: stack_messages.CodeLocation | None
    """The user's top frame; None if no frame is the user's."""


class SteppedThreads(Message, frozen=True):
    """The answer to `raydap/step`. Threads that have ended are neither in `groups` nor in `running`."""

    threads: tuple[int, ...]
    """The ids of the threads that step."""
    groups: tuple[SteppedGroup, ...] | UnsetType = UNSET
    """With a timeout: the threads that have stopped again, the largest group last."""
    running: tuple[int, ...] | UnsetType = UNSET
    """With a timeout: the ids of the threads that have not stopped again."""
    steps: int | UnsetType = UNSET
    """With `until`: the number of steps."""


class BarriersArguments(Arguments, frozen=True):
    """The arguments of `raydap/barriers`."""

    action: Literal["show", "release"] | None = None
    """`show` shows the workers that wait as stopped, `release` resumes them; without it, they keep waiting."""
    barrier: int | None = None
    """The id of the barrier; without it, the action applies to all barriers."""


class MissingWorker(Message, frozen=True):
    """An attached worker that has not arrived at a barrier."""

    worker: str
    """Its key."""
    label: str
    """A short name: `Trainer 3`."""
    state: Literal["attaching", "stopped", "held", "running"]
    """Its state, as in WorkerEntry."""
    place: str
    """Where it runs: `train.py:88`; "" if it is not known."""


class Barrier(Message, frozen=True):
    """A barrier at which workers of one class wait. It is a breakpoint on a line or on a function."""

    id: int
    """The id for the argument `barrier`; a new one each time that workers begin to wait."""
    breakpoint: int
    """The id of the breakpoint."""
    path: str
    """The path on the client's machine; "" for a function."""
    line: int
    """0 for a function."""
    function: str
    """The name of the function; "" for a line."""
    label: str
    """A short name for the workers that have arrived: `Trainer{0-5,7}`."""
    arrived: int
    """How many workers have arrived."""
    of: int
    """How many workers the barrier waits for, including the workers that have arrived."""
    missing: tuple[MissingWorker, ...]
    """The attached workers that have not arrived."""
    starting: int
    """How many actors raydap has yet to attach to."""
    unreached: int
    """How many actors of the class raydap cannot reach; the barrier does not wait for them."""
    text: str
    """All of this as text, for people to read."""


class Barriers(Message, frozen=True):
    """The answer to `raydap/barriers`."""

    barriers: tuple[Barrier, ...]
    """The barriers at which workers wait after the action."""


class BreakpointsArguments(Arguments, frozen=True):
    """The arguments of `raydap/breakpoints`, which has none."""


class SetBreakpoint(Message, frozen=True):
    """A breakpoint on a line or on a function."""

    id: int
    """The id, as in DAP's Breakpoint."""
    path: str
    """The path on the client's machine; "" for a function."""
    line: int
    """The line on which the client has set it, even if a worker has moved it; 0 for a function."""
    function: str
    """The name of the function; "" for a line."""
    condition: str
    """The condition, as in DAP's SourceBreakpoint; "" if there is none."""
    hit_condition: str
    """The hit condition, as in DAP's SourceBreakpoint; "" if there is none."""
    log_message: str
    """The message of a logpoint, as in DAP's SourceBreakpoint; "" for a breakpoint that stops."""
    verified: bool
    """Whether the breakpoint could be set, as in DAP's Breakpoint."""
    message: str
    """A note for the user, such as why it is not verified; "" if there is none."""


class BreakpointList(Message, frozen=True):
    """The answer to `raydap/breakpoints`."""

    breakpoints: tuple[SetBreakpoint, ...]
    """The breakpoints of all clients. From now on, a `setBreakpoints` of this client must repeat those of its file that
    are to stay."""


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
    "raydap/reload": (reload_messages.ReloadArguments, reload_messages.Reloaded),
}
"""The types of the arguments and of the answer's body, by the name of the request; None for no body."""

EVENTS: dict[str, type[Message]] = {"raydap/workersChanged": WorkerList}
"""The types of the bodies, by the name of the event."""
