"""The events that enter the core: what happened. The packages around the core create them from I/O."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from raydap.analysis.ray_state import ListCut, RayState
from raydap.core.process_info import EndedJob, EndedWorker, ListedActor, ProcessInfo, RayFacts
from raydap.errors import Problem
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class ClientConnected:
    """A client has connected."""

    client: ClientId
    child_session: bool = False
    """Whether it uses the port of OpenChildPort, so that it may only join as a child session."""
    admitted: bool = True
    """Whether it has presented the hub's token or needs none. If not, ClientAdmitted may follow."""


@dataclass(frozen=True, slots=True)
class ClientAdmitted:
    """A client has presented the hub's token after it connected."""

    client: ClientId


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A client has sent a message. `data` is its JSON, without the header."""

    client: ClientId
    data: bytes


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The connection of a client has ended; `reason` is for the log."""

    client: ClientId
    reason: str


@dataclass(frozen=True, slots=True)
class WorkersPaused:
    """A snapshot of all workers that wait for a debugger, in the order in which discovery found them."""

    workers: tuple[ProcessInfo, ...]
    age_s: float = field(default=0.0, compare=False)
    """Seconds since the request to Ray."""


@dataclass(frozen=True, slots=True)
class WorkersAlive:
    """A snapshot of all running workers and drivers, paused or not, with their facts. It contains no CHILD."""

    workers: Mapping[ProcessInfo, RayFacts]


@dataclass(frozen=True, slots=True)
class AgentCalled:
    """A process with an agent waits for a debugger, or for ReleaseAgent."""

    worker: ProcessInfo
    waits: bool = False
    """Whether the process calls repeatedly until a raydap debugs it."""
    stops: bool = False
    """Whether the process has reached a breakpoint(), and stops there if raydap debugs it."""


@dataclass(frozen=True, slots=True)
class AgentFound:
    """raydap has found a running process with an agent."""

    worker: ProcessInfo


@dataclass(frozen=True, slots=True)
class AgentsEnded:
    """The processes whose agents have these sockets have ended."""

    sockets: Collection[str]


@dataclass(frozen=True, slots=True)
class NodesAlive:
    """The addresses of all nodes of the cluster that are alive now, by Ray's hex ids."""

    nodes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgentsExpected:
    """Workers with agents run on any node of the cluster, or will soon. `reason` is the evidence for it."""

    reason: str


@dataclass(frozen=True, slots=True)
class AgentsSearched:
    """All places of ReachAgents and ReachNodes have been searched, and AgentFound was sent for each agent there."""


@dataclass(frozen=True, slots=True)
class AgentInjected:
    """The result of InjectAgent. `problem` is "" if an agent starts and is going to call, else a reason for users."""

    worker: WorkerKey
    problem: str


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """The answer to AskAgent: `text` is what the agent has sent, or `problem` is why it has not."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StackSampled:
    """The answer to SampleStack: JSON of Stacks (analysis/thread_stacks.py), or in `problem` why there is none."""

    worker: WorkerKey
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ForkedWaitsFound:
    """The answer to FindForkedWaits: JSON of ForkedWaits in `text`, or in `problem` why there is none."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FactsListed:
    """The facts that Ray has now for these workers."""

    facts: Mapping[WorkerKey, RayFacts]


@dataclass(frozen=True, slots=True)
class ActorsListed:
    """All actors that are not dead now; none if Ray does not answer."""

    actors: tuple[ListedActor, ...]


@dataclass(frozen=True, slots=True)
class RayStateListed:
    """The answer to AskRayState."""

    number: int
    state: RayState


@dataclass(frozen=True, slots=True)
class DiscoveryReady:
    """Discovery has answered. `where` is the cluster's name for users, `sockets` its local folder of sockets."""

    where: str
    sockets: str = ""


@dataclass(frozen=True, slots=True)
class DiscoveryFailed:
    """Discovery could not answer. It tries again until the core stops it."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class WorkerConnected:
    """The connection that DialWorker has requested is open."""

    worker: WorkerKey


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """A worker has sent a message. `data` is its JSON, without the header."""

    worker: WorkerKey
    data: bytes


@dataclass(frozen=True, slots=True)
class WorkerGone:
    """The connection has ended, or could not be made. `refused`: nothing listens on the worker's port."""

    worker: WorkerKey
    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class DebuggeeOutput:
    """The launched program has printed something."""

    category: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class DebuggeeStarted:
    """The launched program runs. `pid` is 0 for a submitted job. `off`: its environment contains RAYDAP=off."""

    name: str
    pid: int
    off: bool = False


@dataclass(frozen=True, slots=True)
class DebuggeeExited:
    """The launched program has ended. `code` is 128 plus the signal's number if a signal ended it."""

    code: int


@dataclass(frozen=True, slots=True)
class DebuggeeStopped:
    """The launched program has ended after StopDebuggee. Its workers may still run for a moment."""


@dataclass(frozen=True, slots=True)
class DebuggeeFailed:
    """The launched program could not be started."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class ChildPortOpened:
    """Child sessions can connect to this loopback port, with this token."""

    port: int
    token: str


@dataclass(frozen=True, slots=True)
class ChildPortFailed:
    """raydap cannot listen for child sessions."""

    reason: str


@dataclass(frozen=True, slots=True)
class FilesChecked:
    """The result of CheckFiles: whether raydap's machine has each file; true for all if the check failed."""

    files: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class WorkersEnded:
    """The answer to AskExitReason, for all workers whose end Ray reports by now."""

    workers: tuple[EndedWorker, ...]


@dataclass(frozen=True, slots=True)
class JobsListed:
    """The names of the jobs that ran at the first contact with the cluster."""

    running: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobsEnded:
    """Jobs that have ended. Each job is reported once."""

    jobs: tuple[EndedJob, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; the core has no other clock. `now` is in seconds, monotonic."""

    now: float


@dataclass(frozen=True, slots=True)
class NextPart:
    """The next part of long work may begin: other events have been handled since ScheduleNextPart."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The process is about to end. The core detaches all workers."""


Event = (
    ClientConnected | ClientAdmitted | ClientMessage | ClientGone | WorkersPaused | WorkersAlive | AgentCalled |
    AgentFound | AgentsEnded | NodesAlive | AgentsExpected | AgentInjected | AgentsSearched | AgentAnswered |
    StackSampled | ForkedWaitsFound | FactsListed | ActorsListed | RayStateListed | DiscoveryReady |
    DiscoveryFailed | ListCut | WorkerConnected | WorkerMessage | WorkerGone | DebuggeeOutput | DebuggeeStarted |
    DebuggeeExited | DebuggeeStopped | DebuggeeFailed | ChildPortOpened | ChildPortFailed | FilesChecked |
    WorkersEnded | JobsListed | JobsEnded | NextPart | Tick | Shutdown
)  # fmt: skip
