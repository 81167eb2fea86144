"""The events that enter the core: what happened. The packages around the core make them of I/O.

The core turns each into a list of effects (effects.py). Both are plain data, so tests read like scripts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from raydap.analysis.ray_state import ListCut, RayState
from raydap.errors import Problem
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class PausedWorker:
    """A worker process that waits for a debugger, is prepared, or (WorkersAlive) runs.

    `node` is the machine's name for users (its address); `node_id` is Ray's hex id, "" for explicit targets.
    `pid` is 0 if it is not known. `agent` is the path of the agent's socket, on the worker's node; such a worker needs
    no port (inworker/agent.py). With `over_relay` only its node reaches that. A CHILD is a subprocess of a worker. It
    has an agent and a `parent`, or it is reached through its parent's adapter.
    """

    key: WorkerKey
    host: str
    port: int
    pid: int = 0
    node: str = ""
    node_id: str = ""
    worker_type: Literal["WORKER", "DRIVER", "TARGET", "CHILD"] = "WORKER"
    agent: str = ""
    parent: WorkerKey = field(default=WorkerKey(""))
    over_relay: bool = False


@dataclass(frozen=True, slots=True)
class WorkerLabel:
    """A worker's entries in Ray's task and actor lists. A field is "" if they do not say it (yet).

    `task` is a function's name, or `Class.method` for an actor; `actor` is the actor's class; `actor_name` its
    registered name; `job` Ray's hex job id; `submission` its id in the Jobs API; `title` tells actors of a class apart,
    and is the name that a task was given. `started` is when that task began, or the driver's job, in seconds since 1970
    by the clock of its node; 0.0 if it is not known. It makes no label different: nobody is told of each new task.
    """

    task: str = ""
    actor: str = ""
    actor_name: str = ""
    job: str = ""
    submission: str = ""
    title: str = ""
    started: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class ClientConnected:
    """`child_session`: the client came by the port of OpenChildPort, so it may only join as a child session.
    `admitted`: it has shown the required token or needs none; otherwise ClientAdmitted follows when it shows one."""

    client: ClientId
    child_session: bool = False
    admitted: bool = True


@dataclass(frozen=True, slots=True)
class ClientAdmitted:
    client: ClientId


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """`data` is the JSON of one message, without its header."""

    client: ClientId
    data: bytes


@dataclass(frozen=True, slots=True)
class ClientGone:
    client: ClientId
    reason: str


@dataclass(frozen=True, slots=True)
class WorkersPaused:
    """All workers that wait for a debugger now: a snapshot, in the order discovery found them."""

    workers: tuple[PausedWorker, ...]
    age_s: float = field(default=0.0, compare=False)
    """Seconds since Ray was asked."""


@dataclass(frozen=True, slots=True)
class WorkersAlive:
    """All workers and drivers that run now, paused or not, and what they run: a snapshot. It has no child."""

    workers: Mapping[PausedWorker, WorkerLabel]


@dataclass(frozen=True, slots=True)
class AgentCalled:
    """A process with an agent waits for a debugger, or for ReleaseAgent."""

    worker: PausedWorker
    waits: bool = False
    """Whether the process calls again and again until a raydap debugs it."""
    stops: bool = False
    """Whether the process has reached a breakpoint() and stops there if raydap debugs it."""


@dataclass(frozen=True, slots=True)
class AgentFound:
    worker: PausedWorker


@dataclass(frozen=True, slots=True)
class AgentsEnded:
    """The processes with these sockets have ended."""

    sockets: Collection[str]


@dataclass(frozen=True, slots=True)
class NodesAlive:
    """All nodes of the cluster that are alive now: Ray's hex ids, and their addresses."""

    nodes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgentsExpected:
    """Workers with agents run on any node of the cluster, or will soon. `reason` says how that is known."""

    reason: str


@dataclass(frozen=True, slots=True)
class AgentsSearched:
    """raydap has looked for agents wherever it was told to by ReachAgents and ReachNodes, and AgentFound has come for
    each that it has found."""


@dataclass(frozen=True, slots=True)
class AgentInjected:
    """`problem` is "" if an agent begins in the worker now, and calls; else the reason why none does, for users."""

    worker: WorkerKey
    problem: str


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """`text` is what the agent has answered, or `problem` says why it has not."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StackSampled:
    """The stacks of a worker, read from outside. `text` is JSON (model/thread_stacks.py), or `problem` says why there
    is none."""

    worker: WorkerKey
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ForkedWait:
    """A thread that waits in Ray's breakpoint() in a forked child, where no debugger can attach to it
    (machine/outside_looks.py). `pid` is the child's, `parent` that of the worker or driver that it descends from.
    `function`, `path` and `line` are where it called breakpoint()."""

    parent: int
    pid: int
    thread: str
    function: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class ForkedWaits:
    """The waiting threads in forked children of one node. `problem` is why some children could not be read, or ""."""

    waits: tuple[ForkedWait, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ForkedWaitsFound:
    """The answer to FindForkedWaits with this number: JSON of ForkedWaits in `text`, or `problem` says why there is
    none."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WorkersLabelled:
    labels: Mapping[WorkerKey, WorkerLabel]


@dataclass(frozen=True, slots=True)
class ListedActor:
    """An actor in Ray's list. `actor` is its class, as in WorkerLabel. Only one that is alive has a process."""

    job: str
    actor: str
    alive: bool
    node_id: str
    pid: int


@dataclass(frozen=True, slots=True)
class ActorsListed:
    """All actors that are not dead now; none if Ray does not say."""

    actors: tuple[ListedActor, ...]


@dataclass(frozen=True, slots=True)
class RayStateListed:
    number: int
    state: RayState


@dataclass(frozen=True, slots=True)
class DiscoveryReady:
    """Discovery has answered. `where` is the cluster's name for the user; `sockets` the folder of its sockets here."""

    where: str
    sockets: str = ""


@dataclass(frozen=True, slots=True)
class DiscoveryFailed:
    """Discovery could not answer. It tries again until the core stops it."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class WorkerConnected:
    worker: WorkerKey


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """`data` is the JSON of one message, without its header."""

    worker: WorkerKey
    data: bytes


@dataclass(frozen=True, slots=True)
class WorkerGone:
    """The connection ended or never came about. `refused`: nothing listens on the worker's port."""

    worker: WorkerKey
    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class DebuggeeOutput:
    category: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class DebuggeeStarted:
    """The launched program runs. `pid` is 0 for a submitted job. `off`: RAYDAP=off is in its environment."""

    name: str
    pid: int
    off: bool = False


@dataclass(frozen=True, slots=True)
class DebuggeeExited:
    code: int


@dataclass(frozen=True, slots=True)
class DebuggeeStopped:
    """The launched program runs no more, after StopDebuggee. Its workers may still run for a moment."""


@dataclass(frozen=True, slots=True)
class DebuggeeFailed:
    """The program could not be started at all."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class ChildPortOpened:
    """Child sessions can connect to this loopback port, with this token."""

    port: int
    token: str


@dataclass(frozen=True, slots=True)
class ChildPortFailed:
    reason: str


@dataclass(frozen=True, slots=True)
class FilesChecked:
    """Whether this machine has each of the files of CheckFiles; true if the check failed."""

    files: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class EndedWorker:
    row: PausedWorker
    reason: str
    """Ray's own words."""
    crashed: bool
    """Whether Ray calls it a crash; one that ends with its job may crash, too (workers/loss.py)."""
    ended_ms: int = 0
    """When it ended, in milliseconds since 1970; 0 if Ray does not report it."""


@dataclass(frozen=True, slots=True)
class WorkersEnded:
    """Ray says why these workers have ended, of those that AskExitReason has named."""

    workers: tuple[EndedWorker, ...]


@dataclass(frozen=True, slots=True)
class EndedJob:
    job: str
    """Ray's hex id, "" for a job whose driver never started."""
    text: str
    """A sentence for users."""
    ended_ms: int = 0
    """When it ended, in milliseconds since 1970; 0 if Ray does not report it."""


@dataclass(frozen=True, slots=True)
class JobsListed:
    """The names of the jobs that ran at the first contact."""

    running: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobsEnded:
    jobs: tuple[EndedJob, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed. The core has no other clock. `now` is in seconds, monotonic."""

    now: float


@dataclass(frozen=True, slots=True)
class NextPart:
    """Other events have been handled since ScheduleNextPart."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The process is about to end. The core lets all held workers go."""


Event = (
    ClientConnected | ClientAdmitted | ClientMessage | ClientGone | WorkersPaused | WorkersAlive | AgentCalled |
    AgentFound | AgentsEnded | NodesAlive | AgentsExpected | AgentInjected | AgentsSearched | AgentAnswered |
    StackSampled | ForkedWaitsFound | WorkersLabelled | ActorsListed | RayStateListed | DiscoveryReady |
    DiscoveryFailed | ListCut | WorkerConnected | WorkerMessage | WorkerGone | DebuggeeOutput | DebuggeeStarted |
    DebuggeeExited | DebuggeeStopped | DebuggeeFailed | ChildPortOpened | ChildPortFailed | FilesChecked |
    WorkersEnded | JobsListed | JobsEnded | NextPart | Tick | Shutdown
)  # fmt: skip
