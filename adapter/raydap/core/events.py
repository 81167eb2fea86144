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
    """The new client's number, which no other connection of the bridge gets."""
    child_session: bool = False
    """Whether it uses the port of OpenChildPort, so that it may only join as a child session."""
    admitted: bool = True
    """Whether it has presented the hub's token or needs none. If not, ClientAdmitted may follow."""


@dataclass(frozen=True, slots=True)
class ClientAdmitted:
    """A client has presented the hub's token after it connected."""

    client: ClientId
    """The client whose ClientConnected was not `admitted`."""


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A client has sent a message."""

    client: ClientId
    """The sender."""
    data: bytes
    """The JSON of the message, without its header."""


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The connection of a client has ended."""

    client: ClientId
    """The client that was connected."""
    reason: str
    """Why the connection has ended, for the log."""


@dataclass(frozen=True, slots=True)
class WorkersPaused:
    """A snapshot of all workers that wait for a debugger, in the order in which discovery found them."""

    workers: tuple[ProcessInfo, ...]
    """The workers, with their debug ports. A worker that is absent no longer waits."""
    age_s: float = field(default=0.0, compare=False)
    """Seconds since the request to Ray."""


@dataclass(frozen=True, slots=True)
class WorkersAlive:
    """A snapshot of all running workers and drivers, paused or not, with their facts. It contains no CHILD."""

    workers: Mapping[ProcessInfo, RayFacts]
    """The processes, with what Ray reports that they run."""


@dataclass(frozen=True, slots=True)
class AgentCalled:
    """A process with an agent waits for a debugger, or for ReleaseAgent."""

    worker: ProcessInfo
    """The process that waits."""
    waits: bool = False
    """Whether the process calls repeatedly until a raydap debugs it."""
    stops: bool = False
    """Whether the process has reached a breakpoint(), and stops there if raydap debugs it."""


@dataclass(frozen=True, slots=True)
class AgentFound:
    """raydap has found a running process with an agent."""

    worker: ProcessInfo
    """The process of the agent."""


@dataclass(frozen=True, slots=True)
class AgentsEnded:
    """The processes of this machine whose agents have these sockets have ended."""

    sockets: Collection[str]
    """The paths of the agents' sockets, as in `ProcessInfo.agent`."""


@dataclass(frozen=True, slots=True)
class NodesAlive:
    """The nodes of the cluster that are alive now."""

    nodes: Mapping[str, str]
    """The address of each node, by Ray's hex id."""


@dataclass(frozen=True, slots=True)
class AgentsExpected:
    """Workers with agents run on any node of the cluster, or will soon."""

    reason: str
    """The evidence for this, for the log."""


@dataclass(frozen=True, slots=True)
class AgentsSearched:
    """All places of ReachAgents and ReachNodes have been searched, and AgentFound was sent for each agent there."""


@dataclass(frozen=True, slots=True)
class AgentInjected:
    """The result of InjectAgent."""

    worker: WorkerKey
    """The key of InjectAgent's worker."""
    problem: str
    """Why no agent could be started, for users; "" if one starts and is going to call."""


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """The answer to AskAgent."""

    number: int
    """The number of the AskAgent."""
    text: str
    """The text that the agent has sent; "" if there is a `problem`."""
    problem: str = ""
    """Why the agent has not answered; "" if it has."""


@dataclass(frozen=True, slots=True)
class WaitingAnswered:
    """The answer to AskWaiting."""

    worker: WorkerKey
    """The worker of the AskWaiting."""
    text: str
    """The result of the expression; "" if there is a `problem`."""
    problem: str = ""
    """Why there is no result; "" if there is one."""


@dataclass(frozen=True, slots=True)
class StackSampled:
    """The answer to SampleStack."""

    worker: WorkerKey
    """The key of SampleStack's worker."""
    text: str
    """The JSON of Stacks (analysis/thread_stacks.py); "" if there is a `problem`."""
    problem: str = ""
    """Why the stacks could not be read, for users; "" if they were."""


@dataclass(frozen=True, slots=True)
class ForkedWaitsFound:
    """The answer to FindForkedWaits."""

    number: int
    """The number of the FindForkedWaits."""
    text: str
    """The JSON of ForkedWaits; "" if there is a `problem`."""
    problem: str = ""
    """Why the node could not be searched; "" if it was."""


@dataclass(frozen=True, slots=True)
class FactsListed:
    """The facts that Ray has now for these workers."""

    facts: Mapping[WorkerKey, RayFacts]
    """The facts by worker, only for workers whose facts have changed since the last report."""


@dataclass(frozen=True, slots=True)
class ActorsListed:
    """All actors that are not dead now."""

    actors: tuple[ListedActor, ...]
    """The actors; empty if Ray does not answer."""


@dataclass(frozen=True, slots=True)
class RayStateListed:
    """The answer to AskRayState."""

    number: int
    """The number of the AskRayState."""
    state: RayState
    """The unfinished work, or the reason why it is not known."""


@dataclass(frozen=True, slots=True)
class DiscoveryReady:
    """Discovery has answered."""

    where: str
    """The cluster's name for users: the URL of its dashboard, or `the given workers`."""
    sockets: str = ""
    """The folder of the cluster's sockets on this machine; "" if there is none, or if raydap needs no agents."""


@dataclass(frozen=True, slots=True)
class DiscoveryFailed:
    """Discovery could not answer. It tries again until the core stops it."""

    problem: Problem
    """The reason, for users."""


@dataclass(frozen=True, slots=True)
class WorkerConnected:
    """The connection that DialWorker has requested is open."""

    worker: WorkerKey
    """The key of DialWorker's worker."""


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """A worker has sent a message."""

    worker: WorkerKey
    """The sender."""
    data: bytes
    """The JSON of the message, without its header."""


@dataclass(frozen=True, slots=True)
class WorkerGone:
    """The connection has ended, or could not be made."""

    worker: WorkerKey
    """The key of DialWorker's worker."""
    reason: str
    """Why the connection has ended or could not be made, for users."""
    refused: bool = False
    """Whether the connection could not be made because nothing listens on the worker's port."""


@dataclass(frozen=True, slots=True)
class DebuggeeOutput:
    """The launched program has printed something."""

    category: Literal["stdout", "stderr"]
    """The category of the output, as in DAP's event `output`."""
    text: str
    """A piece of the output, which may end within a line."""


@dataclass(frozen=True, slots=True)
class TerminalNeeded:
    """The launched program waits for a terminal of its client, in which a command starts it."""

    args: tuple[str, ...]
    """The command."""
    cwd: str
    """The folder of the terminal."""
    title: str
    """The name of the program's file or module."""


@dataclass(frozen=True, slots=True)
class DebuggeeStarted:
    """The launched program runs."""

    name: str
    """The name of the program's file or module, or the submission id of the job."""
    pid: int
    """The process id; 0 for a submitted job."""
    off: bool = False
    """Whether the environment of the program contains RAYDAP=off."""


@dataclass(frozen=True, slots=True)
class DebuggeeExited:
    """The launched program has ended."""

    code: int
    """The exit code; 128 plus the signal's number if a signal ended the program."""


@dataclass(frozen=True, slots=True)
class DebuggeeStopped:
    """The launched program has ended after StopDebuggee. Its workers may still run for a moment."""


@dataclass(frozen=True, slots=True)
class DebuggeeFailed:
    """The launched program could not be started."""

    problem: Problem
    """The reason, for users."""


@dataclass(frozen=True, slots=True)
class ChildPortOpened:
    """Child sessions can connect to a port of their own."""

    port: int
    """The port on 127.0.0.1."""
    token: str
    """The secret that raydap sends to the editor, and that each child session repeats in its `attach`."""


@dataclass(frozen=True, slots=True)
class ChildPortFailed:
    """raydap cannot listen for child sessions."""

    reason: str
    """The system's error message."""


@dataclass(frozen=True, slots=True)
class FilesChecked:
    """The result of CheckFiles."""

    files: Mapping[str, bool]
    """For each path, whether raydap's machine has the file. All are true if the check failed, and false if clients do
    not share raydap's files."""


@dataclass(frozen=True, slots=True)
class WorkersEnded:
    """The answer to AskExitReason, for all workers whose end Ray reports by now."""

    workers: tuple[EndedWorker, ...]
    """The workers with Ray's reasons for their ends."""


@dataclass(frozen=True, slots=True)
class JobsListed:
    """The names of the jobs that ran at the first contact with the cluster."""

    running: tuple[str, ...]
    """The names of the jobs for users: `train.py (raysubmit_1)`. Jobs of raydap's own are left out."""


@dataclass(frozen=True, slots=True)
class JobsEnded:
    """Jobs that have ended. Each job is reported once."""

    jobs: tuple[EndedJob, ...]
    """The jobs that have ended since the last report."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; the core has no other clock."""

    now: float
    """The time by the monotonic clock of the event loop, in seconds."""


@dataclass(frozen=True, slots=True)
class NextPart:
    """The next part of long work may begin: other events have been handled since ScheduleNextPart."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The process is about to end. The core detaches all workers."""


Event = (
    ClientConnected | ClientAdmitted | ClientMessage | ClientGone | WorkersPaused | WorkersAlive | AgentCalled |
    AgentFound | AgentsEnded | NodesAlive | AgentsExpected | AgentInjected | AgentsSearched | AgentAnswered |
    WaitingAnswered | StackSampled | ForkedWaitsFound | FactsListed | ActorsListed | RayStateListed | DiscoveryReady |
    DiscoveryFailed | ListCut | WorkerConnected | WorkerMessage | WorkerGone | DebuggeeOutput | TerminalNeeded |
    DebuggeeStarted | DebuggeeExited | DebuggeeStopped | DebuggeeFailed | ChildPortOpened | ChildPortFailed |
    FilesChecked | WorkersEnded | JobsListed | JobsEnded | NextPart | Tick | Shutdown
)  # fmt: skip
