"""The events that enter the core, and the effects that leave it.

The packages around the core turn I/O into events and perform the effects. The core turns one event into a list of
effects. Both are plain data, so a test reads like a script of a session.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from raydap.core.errors import Problem
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class PausedWorker:
    """One row of discovery: a worker process that waits for a debugger.

    `node` is the machine's name for users (its address); `node_id` is Ray's hex id, "" for explicit targets.
    `pid` is 0 if it is not known. `agent` is the path of the agent's socket, on the worker's node; such a worker needs
    no port (inworker/agent.py). A CHILD is a subprocess of a worker. It has an agent and a `parent`, or it is reached
    through its parent's adapter.
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


@dataclass(frozen=True, slots=True)
class WorkerLabel:
    """A worker's entries in Ray's task and actor lists. A field is "" if they do not say it (yet).

    `task` is a function's name, or `Class.method` for an actor; `actor` is the actor's class; `actor_name` its
    registered name; `job` Ray's hex job id; `submission` the id of a job from the Jobs API; `title` is what tells an
    actor from others of its class, if anything does.
    """

    task: str = ""
    actor: str = ""
    actor_name: str = ""
    job: str = ""
    submission: str = ""
    title: str = ""


# Events: what happened.


@dataclass(frozen=True, slots=True)
class ClientConnected:
    """`child_session`: the client came by the port of OpenChildPort, so it may only join as a child session.
    `admitted`: it has shown the required token, or none is required. If it is false, ClientAdmitted follows when the
    client shows one."""

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


@dataclass(frozen=True, slots=True)
class AgentCalled:
    """A process of the launched program begins. It waits for a debugger, or for ReleaseAgent."""

    worker: PausedWorker


@dataclass(frozen=True, slots=True)
class WorkersLabelled:
    labels: Mapping[WorkerKey, WorkerLabel]


@dataclass(frozen=True, slots=True)
class DiscoveryReady:
    """Discovery has answered, for the first time or again. `where` is the cluster's name for the user."""

    where: str


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
    """The launched program runs. `pid` is 0 for a submitted job."""

    name: str
    pid: int


@dataclass(frozen=True, slots=True)
class DebuggeeExited:
    code: int


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
    """There is no port for child sessions."""

    reason: str


@dataclass(frozen=True, slots=True)
class FilesChecked:
    """Whether this machine has each of the files of CheckFiles; true if the check failed."""

    files: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class EndedWorker:
    """`reason` is Ray's own words. `crashed`: it should not have ended."""

    row: PausedWorker
    reason: str
    crashed: bool


@dataclass(frozen=True, slots=True)
class WorkersEnded:
    """Ray says why these workers have ended, of those that AskExitReason has named."""

    workers: tuple[EndedWorker, ...]


@dataclass(frozen=True, slots=True)
class EndedJob:
    """`job` is Ray's hex id, "" for a job whose driver never started. `text` is a sentence for users."""

    job: str
    text: str


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
class Shutdown:
    """The process is about to end. The core lets all held workers go."""


Event = (
    ClientConnected
    | ClientAdmitted
    | ClientMessage
    | ClientGone
    | WorkersPaused
    | AgentCalled
    | WorkersLabelled
    | DiscoveryReady
    | DiscoveryFailed
    | WorkerConnected
    | WorkerMessage
    | WorkerGone
    | DebuggeeOutput
    | DebuggeeStarted
    | DebuggeeExited
    | DebuggeeFailed
    | ChildPortOpened
    | ChildPortFailed
    | FilesChecked
    | WorkersEnded
    | JobsListed
    | JobsEnded
    | Tick
    | Shutdown
)


# Effects: what is to be done.


@dataclass(frozen=True, slots=True)
class SendToClient:
    client: ClientId
    data: bytes


@dataclass(frozen=True, slots=True)
class DropClient:
    """Close the connection once everything sent so far is written."""

    client: ClientId


@dataclass(frozen=True, slots=True)
class DialWorker:
    """Connect to a worker. Never open a probe connection: debugpy accepts one client. `node_id` is Ray's, or "".
    `agent` is the path of its agent's socket, "" for a worker with a port."""

    worker: WorkerKey
    host: str
    port: int
    node_id: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseAgent:
    """Let a process that has called run without a debugger."""

    worker: WorkerKey


@dataclass(frozen=True, slots=True)
class SendToWorker:
    worker: WorkerKey
    data: bytes


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection to a worker once everything sent so far is written. No WorkerGone follows."""

    worker: WorkerKey


@dataclass(frozen=True, slots=True)
class StartDiscovery:
    """Report WorkersPaused until StopDiscovery. With `patient`, a missing cluster is no failure: it may be starting."""

    settings: AttachSettings
    patient: bool = False


@dataclass(frozen=True, slots=True)
class StopDiscovery:
    pass


@dataclass(frozen=True, slots=True)
class AskExitReason:
    """Ask Ray why this worker has ended, and whether its job has. Answered by WorkersEnded and JobsEnded."""

    worker: PausedWorker


@dataclass(frozen=True, slots=True)
class AskLabels:
    """Ask Ray for the labels of these workers. Answered by WorkersLabelled with the labels that Ray knows."""

    workers: tuple[PausedWorker, ...]


@dataclass(frozen=True, slots=True)
class StartDebuggee:
    settings: LaunchSettings


@dataclass(frozen=True, slots=True)
class StopDebuggee:
    """End the program that StartDebuggee started. `silently`: no event about it follows."""

    silently: bool = True


@dataclass(frozen=True, slots=True)
class OpenChildPort:
    """Listen for child sessions of the editor; answered by ChildPortOpened or ChildPortFailed."""


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """Check which of these files this machine has. Answered by FilesChecked."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    level: Literal["debug", "info", "warning", "error"]
    text: str


Effect = (
    SendToClient
    | DropClient
    | DialWorker
    | ReleaseAgent
    | SendToWorker
    | HangUp
    | StartDiscovery
    | StopDiscovery
    | AskExitReason
    | AskLabels
    | StartDebuggee
    | StopDebuggee
    | OpenChildPort
    | CheckFiles
    | Log
)
