"""A step that follows a call into the process that runs it; workers/remote_steps.py changes it."""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from raydap.core.flows import Future
from raydap.core.model.worker import WorkerThread
from raydap.protocol.types import ClientId, WorkerKey


class StepStage(Enum):
    """How far a step across `.remote()` is."""

    ARMED = auto()
    """The caller runs its line, and has submitted nothing yet."""
    PREPARING = auto()
    """The caller waits with its call until all processes that may run it have the breakpoint."""
    WAITING = auto()
    """The call is submitted, and no process has begun it."""
    REACHED = auto()
    """The call has stopped at its first line, or the user has stepped on from there."""
    RETURNING = auto()
    """The user has stepped out of the call, and the caller has not taken the result."""


@dataclass(slots=True, eq=False)
class RemoteStep:
    """A step across `.remote()`, until the caller has taken the result of the call."""

    number: int
    """raydap's number of the step, by which workers name it."""
    caller: WorkerThread
    """The thread in which the user has stepped."""
    since: float
    """When the present stage began, by the clock of Tick."""
    stage: StepStage = StepStage.ARMED
    """How far the step is."""
    kind: str = ""
    """The kind of the call: "task", "method" or "actor"."""
    function: str = ""
    """The name of the called function, for users."""
    code: str = ""
    """The name of the function in its code; "" if it has no code of Python."""
    process: WorkerKey = field(default=WorkerKey(""))
    """The process of the method's actor; "" if any process may run the call."""
    chooses: bool = False
    """Whether the step has chosen this process to be attached."""
    was_chosen: bool | None = None
    """The user's choice about the process before that."""
    task: str = ""
    """Ray's hex id of the task; "" before the call is submitted."""
    callee: WorkerThread | None = None
    """The thread that runs the call, as soon as it has begun."""
    ready: Future[None] | None = None
    """Done when the call may be submitted; None until the attached workers have the breakpoint."""
    progress: str = ""
    """The `progressId` of the wait that clients show; "" if the user has not been notified of a wait."""
    clients: list[ClientId] = field(default_factory=list)
    """The clients that show this progress."""

    def enter(self, stage: StepStage, now: float) -> None:
        """Enter the next stage."""
        self.stage, self.since = stage, now


def origin_of(thread: WorkerThread) -> dict[str, Any]:
    """Return the additional fields of a stop to which a step in another thread has led; {} for other stops."""
    origin, thread.stepped_from = thread.stepped_from, None
    return {} if origin is None else {"raydap": {"steppedFrom": origin.handle}}
