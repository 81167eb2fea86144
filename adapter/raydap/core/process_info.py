"""What raydap has learned about processes, actors and jobs, as events and effects contain it."""

from dataclasses import dataclass, field
from typing import Literal

from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process that waits for a debugger, has an agent, or (WorkersAlive) runs."""

    key: WorkerKey
    """Ray's worker id, `host:port` for an explicit target, or `pid-4711` for a process without a worker id."""
    host: str
    """The address at which debuggers reach the process; "" for a driver that has not joined a cluster."""
    port: int
    """The debug port; 0 without one. A process with an agent needs none (inworker/agent.py)."""
    pid: int = 0
    """The process id on its node; 0 if it is unknown."""
    node: str = ""
    """The address of the node, as its name for users; "" for a driver that has not joined a cluster."""
    node_id: str = ""
    """Ray's hex id of the node; "" for explicit targets."""
    worker_type: Literal["WORKER", "DRIVER", "TARGET", "CHILD"] = "WORKER"
    """A CHILD is a subprocess of a worker. It has an agent and a `parent`, or its parent's adapter serves it."""
    agent: str = ""
    """The path of the agent's socket on the process's node; "" without an agent."""
    parent: WorkerKey = field(default=WorkerKey(""))
    """The key of the process that a CHILD descends from; "" for all others."""
    over_relay: bool = False
    """Whether only the process's own node reaches the agent."""


def rank_of(text: str) -> int | None:
    """Return the rank that a program gives in a text of at most nine ASCII digits, such as RANK; None for others."""
    return int(text) if len(text) < 10 and text.isascii() and text.isdecimal() else None


@dataclass(frozen=True, slots=True)
class RayFacts:
    """What Ray's lists of tasks, actors and jobs contain about a worker. A field is "" if they lack it (yet)."""

    task: str = ""
    """The name of a function, or `Class.method` for an actor."""
    actor: str = ""
    """The class of the actor, without its module."""
    actor_name: str = ""
    """The actor's registered name."""
    job: str = ""
    """Ray's hex id of the job."""
    submission: str = ""
    """The job's id in the Jobs API."""
    given_name: str = ""
    """The name that the program has given a task or an actor, or the actor's own `__repr__`."""
    started: float = field(default=0.0, compare=False)  # Not compared: clients need no event for each new task.
    """When the task or the driver's job began: seconds since 1970 by its node's clock, 0.0 if unknown."""
    rank: int | None = None
    """RANK in an actor's environment, else its number in the order in which its job has created the class's actors."""
    created: int = field(default=1, compare=False)  # Not compared: only the second actor changes names.
    """The number of actors of its class that its job has created so far."""


@dataclass(frozen=True, slots=True)
class ListedActor:
    """An actor in Ray's list."""

    job: str
    """Ray's hex id of the actor's job."""
    actor: str
    """The actor's class, as in RayFacts."""
    alive: bool
    """Whether the actor is alive, and so has a process. False while it starts or restarts."""
    node_id: str
    """Ray's hex id of the process's node; "" if Ray does not report it."""
    pid: int
    """The id of the process; 0 if Ray does not report it."""


@dataclass(frozen=True, slots=True)
class ForkedWait:
    """A thread in Ray's breakpoint(), in a forked child to which no debugger can attach (machine/outside_looks.py)."""

    parent: int
    """The pid of the worker or driver that the child descends from."""
    pid: int
    """The pid of the child."""
    thread: str
    """The name of the thread; "" if it is not known."""
    function: str
    """The function that has called breakpoint(), without its class."""
    path: str
    """The file of this function, by the child's own path."""
    line: int
    """The line of the call, counted from 1."""


@dataclass(frozen=True, slots=True)
class ForkedWaits:
    """The waiting threads of one node's forked children."""

    waits: tuple[ForkedWait, ...] = ()
    """The threads, of all children that could be read."""
    problem: str = ""
    """Why some children could not be read; "" if all could."""


@dataclass(frozen=True, slots=True)
class EndedWorker:
    """A worker that has ended."""

    row: ProcessInfo
    """The worker, as in AskExitReason."""
    reason: str
    """Ray's own text about the end."""
    crashed: bool
    """Whether Ray reports a crash. A worker that ends with its job may crash, too (workers/loss.py)."""
    ended_ms: int = 0
    """The time of the end in milliseconds since 1970; 0 if Ray does not report it."""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended."""

    job: str
    """Ray's hex id; "" for a job whose driver never started."""
    text: str
    """A sentence for users: how the job has ended."""
    ended_ms: int = 0
    """The time of the end in milliseconds since 1970; 0 if Ray does not report it."""
