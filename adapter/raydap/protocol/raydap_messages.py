"""The messages of raydap's own requests and events (docs/requests.md), declared once.

The core decodes arguments into these types and encodes answers from them; `vscode-ext/src/protocol/messages.ts` is
generated from them. Names on the wire are in camel case, as in DAP.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

PROTOCOL = 1
"""Raise it with every change here that an older client or hub would misunderstand."""


class Message(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of all types here."""


class Arguments(Message, frozen=True, forbid_unknown_fields=True):
    """Base of the arguments of raydap's own requests: an unknown one is an error that names it."""


class Server(Message, frozen=True):
    """The field `raydap` in the answer to `initialize`. If its `protocol` differs from the client's own, the side with
    the lower number is too old."""

    version: str
    protocol: int = PROTOCOL


class ProblemData(Message, frozen=True):
    """The number of the error that an `output` event reports (docs/errors.md)."""

    code: int


class OutputData(Message, frozen=True):
    """The `data` of an `output` event of raydap's own."""

    raydap: ProblemData


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


WorkerState = Literal["paused", "attaching", "stopped", "running", "detached", "alive", "gone"]


class WorkerEntry(Message, frozen=True):
    """One worker. `name` is `label`, ` · ` and `where`; `age` are the seconds since the state began; `pid` is 0 if it
    is not known; a string that Ray does not give (yet) is "". `agent`: it can be attached at any time."""

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


class WorkerList(Message, frozen=True):
    """The answer to `raydap/workers`, with all workers; and the body of `raydap/workersChanged`, with those that are
    new or have changed. `outage` is a sentence for the user while the cluster does not answer, else ""."""

    workers: tuple[WorkerEntry, ...]
    outage: str


class WorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/workers`. With `all`, workers that run and are not attached are listed, too."""

    all: bool = False


class AttachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/attach`. `workers` are keys; without it, all present and future workers are meant."""

    workers: tuple[str, ...] | None = None


class DetachWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/detach`. `workers` are keys."""

    workers: tuple[str, ...]


class PauseWorkersArguments(Arguments, frozen=True):
    """The arguments of `raydap/pause`. `workers` are keys."""

    workers: tuple[str, ...]


class StackArguments(Arguments, frozen=True):
    """The arguments of `raydap/stack`. `worker` is a key."""

    worker: str


class StackVariable(Message, frozen=True):
    """`value` is short; values of types that are not Python's own have the type only."""

    name: str
    value: str
    type: str


class StackFrame(Message, frozen=True):
    """One frame. `path` is the client's, or a name like `<string>`. `isUsers`: it is neither Python's, Ray's nor an
    installed package's."""

    name: str
    path: str
    line: int
    is_users: bool
    variables: tuple[StackVariable, ...]


class ThreadStack(Message, frozen=True):
    """One thread, or a coroutine that waits. `place` says where it is; `frames` are innermost first. `isUsers`: it runs
    code of the user's."""

    name: str
    place: str
    is_users: bool
    frames: tuple[StackFrame, ...]
    coroutine: bool = False


class WorkerStack(Message, frozen=True):
    """The answer to `raydap/stack`: the threads with code of the user's first. `name` is the worker's, and `text` says
    all of this for people to read."""

    name: str
    threads: tuple[ThreadStack, ...]
    text: str


class FocusArguments(Arguments, frozen=True):
    """The arguments of `raydap/focus`."""

    thread_id: int


class ContinueThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/continue`. Without `threads`, all stopped threads are meant."""

    threads: tuple[int, ...] | None = None


class StepThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/step`. All other threads that are stopped at the line of this thread step, too."""

    thread_id: int
    command: Literal["next", "stepIn", "stepOut"]


class EvaluateThreadsArguments(Arguments, frozen=True):
    """The arguments of `raydap/evaluate`. Without `threads`, all stopped threads are meant. `timeout` is in seconds: a
    thread without a result by then has an `error`, so that it does not withhold the results of the others."""

    expression: str
    threads: tuple[int, ...] | None = None
    timeout: float = 5.0


class ResumedThreads(Message, frozen=True):
    """The answer to `raydap/continue` and `raydap/step`: the threads that run on."""

    threads: tuple[int, ...]


class Evaluation(Message, frozen=True):
    """The result of the expression in one thread: `value` and `type`, or `error`, one line. `label` is the worker's."""

    thread_id: int
    name: str
    label: str
    value: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class Evaluations(Message, frozen=True):
    """The answer to `raydap/evaluate`, in the order of its `threads`."""

    results: tuple[Evaluation, ...]


REQUESTS: dict[str, tuple[type[Arguments], type[Message] | None]] = {
    "raydap/workers": (WorkersArguments, WorkerList),
    "raydap/focus": (FocusArguments, None),
    "raydap/attach": (AttachWorkersArguments, None),
    "raydap/pause": (PauseWorkersArguments, None),
    "raydap/stack": (StackArguments, WorkerStack),
    "raydap/detach": (DetachWorkersArguments, None),
    "raydap/continue": (ContinueThreadsArguments, ResumedThreads),
    "raydap/step": (StepThreadsArguments, ResumedThreads),
    "raydap/evaluate": (EvaluateThreadsArguments, Evaluations),
}
"""The types of the arguments and of the answer's body; None for no body."""

EVENTS: dict[str, type[Message]] = {"raydap/workersChanged": WorkerList}
