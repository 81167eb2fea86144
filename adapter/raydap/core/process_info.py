"""What raydap has learned about processes, actors and jobs, as events and effects contain it."""

from dataclasses import dataclass, field
from typing import Literal

from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process that waits for a debugger, has an agent, or (WorkersAlive) runs. `pid` is 0 if it is unknown."""

    key: WorkerKey
    host: str
    port: int
    """The debug port; 0 without one. A process with an agent needs none (inworker/agent.py)."""
    pid: int = 0
    node: str = ""
    node_id: str = ""
    """Ray's hex id of the node, "" for explicit targets. `node` is its address, as its name for users."""
    worker_type: Literal["WORKER", "DRIVER", "TARGET", "CHILD"] = "WORKER"
    """A CHILD is a subprocess of a worker. It has an agent and a `parent`, or its parent's adapter serves it."""
    agent: str = ""
    """The path of the agent's socket on the process's node; "" without an agent."""
    parent: WorkerKey = field(default=WorkerKey(""))
    over_relay: bool = False
    """Whether only the process's own node reaches the agent."""


@dataclass(frozen=True, slots=True)
class RayFacts:
    """What Ray's lists of tasks, actors and jobs contain about a worker. A field is "" if they lack it (yet)."""

    task: str = ""
    """The name of a function, or `Class.method` for an actor."""
    actor: str = ""
    actor_name: str = ""
    """The actor's registered name; `actor` is its class."""
    job: str = ""
    submission: str = ""
    """The job's id in the Jobs API; `job` is Ray's hex id."""
    title: str = ""
    """The name given to a task, or a text that distinguishes an actor from the others of its class."""
    started: float = field(default=0.0, compare=False)  # Not compared: clients need no event for each new task.
    """When the task or the driver's job began: seconds since 1970 by its node's clock, 0.0 if unknown."""


@dataclass(frozen=True, slots=True)
class ListedActor:
    """An actor in Ray's list. `actor` is its class, as in RayFacts. Only an actor that is alive has a process."""

    job: str
    actor: str
    alive: bool
    node_id: str
    pid: int


@dataclass(frozen=True, slots=True)
class ForkedWait:
    """A thread in Ray's breakpoint(), in a forked child to which no debugger can attach (machine/outside_looks.py)."""

    parent: int
    """The pid of the worker or driver that the child descends from; `pid` is the child's own."""
    pid: int
    thread: str
    function: str
    path: str
    line: int
    """`function`, `path` and `line` are the place from which the thread has called breakpoint()."""


@dataclass(frozen=True, slots=True)
class ForkedWaits:
    """The waiting threads of one node's forked children. `problem` is why some children could not be read, or ""."""

    waits: tuple[ForkedWait, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EndedWorker:
    """A worker that has ended; `reason` is Ray's own text."""

    row: ProcessInfo
    reason: str
    crashed: bool
    """Whether Ray reports a crash. A worker that ends with its job may crash, too (workers/loss.py)."""
    ended_ms: int = 0
    """The time of the end in milliseconds since 1970; 0 if Ray does not report it."""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended; `text` is a sentence for users, `ended_ms` as in EndedWorker."""

    job: str
    """Ray's hex id; "" for a job whose driver never started."""
    text: str
    ended_ms: int = 0
