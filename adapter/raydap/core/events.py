"""What enters and leaves the core.

The rooms around the core turn I/O into the events below and carry out the effects; the core turns
one event into a list of effects. Both are plain data, so a test reads like a script of a session.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from raydap.core.errors import Problem
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class PausedWorker:
    """One row of discovery: a worker process that waits for a debugger.

    `node` is what a user calls the machine (its address); `node_id` is Ray's hex id, "" for explicit targets.
    `pid` is 0 where it is not known. A CHILD is a subprocess of a worker; it is reached through its parent's adapter.
    """

    key: WorkerKey
    host: str
    port: int
    pid: int = 0
    node: str = ""
    node_id: str = ""
    worker_type: Literal["WORKER", "DRIVER", "TARGET", "CHILD"] = "WORKER"


@dataclass(frozen=True, slots=True)
class WorkerLabel:
    """What Ray's task and actor lists say of a worker; "" where they say nothing (yet).

    `task` is a function's name, or `Class.method` for an actor; `actor` is the actor's class; `actor_name` its
    registered name; `job` Ray's hex job id; `submission` the id of a job from the Jobs API.
    """

    task: str = ""
    actor: str = ""
    actor_name: str = ""
    job: str = ""
    submission: str = ""


# Events: what happened.


@dataclass(frozen=True, slots=True)
class ClientConnected:
    """`guest`: it came by the door that OpenDoor asked for, so it may only join as a child session. `admitted`: it has
    shown the token that is wanted, or none is; else ClientAdmitted follows when it does."""

    client: ClientId
    guest: bool = False
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
class WorkersDescribed:
    labels: Mapping[WorkerKey, WorkerLabel]


@dataclass(frozen=True, slots=True)
class DiscoveryReady:
    """Discovery answered, for the first time or again. `where` names the cluster for the user."""

    where: str


@dataclass(frozen=True, slots=True)
class DiscoveryFailed:
    """Discovery could not answer; it goes on trying unless the core stops it."""

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
class DoorOpened:
    """Child sessions can connect to this loopback port, with this token."""

    port: int
    token: str


@dataclass(frozen=True, slots=True)
class FilesChecked:
    """Which of the files that CheckFiles asked about this machine has. What could not be found out counts as true."""

    files: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class WorkersCrashed:
    """Ray says that these ended as they should not have; `reasons` are its own words, in the same order."""

    workers: tuple[PausedWorker, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes: the only clock the core knows. `now` is in seconds, monotonic."""

    now: float


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The process is to end: whatever is held is let go."""


Event = (
    ClientConnected
    | ClientAdmitted
    | ClientMessage
    | ClientGone
    | WorkersPaused
    | WorkersDescribed
    | DiscoveryReady
    | DiscoveryFailed
    | WorkerConnected
    | WorkerMessage
    | WorkerGone
    | DebuggeeOutput
    | DebuggeeStarted
    | DebuggeeExited
    | DebuggeeFailed
    | DoorOpened
    | FilesChecked
    | WorkersCrashed
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
    """Connect for good: debugpy takes one client, so nothing is ever dialled to look. `node_id` is Ray's, or ""."""

    worker: WorkerKey
    host: str
    port: int
    node_id: str = ""


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
    """Report WorkersPaused until StopDiscovery. With `patient`, no cluster yet is not a failure: it may be starting."""

    settings: AttachSettings
    patient: bool = False


@dataclass(frozen=True, slots=True)
class StopDiscovery:
    pass


@dataclass(frozen=True, slots=True)
class AskFate:
    """This worker ended while it ran. Ray knows whether it should have; answered by WorkersCrashed if not."""

    worker: PausedWorker


@dataclass(frozen=True, slots=True)
class DescribeWorkers:
    """Ask Ray for the labels of these workers; answered by WorkersDescribed with whatever is known."""

    workers: tuple[PausedWorker, ...]


@dataclass(frozen=True, slots=True)
class StartDebuggee:
    settings: LaunchSettings


@dataclass(frozen=True, slots=True)
class StopDebuggee:
    """End the program that StartDebuggee started. `silently`: nothing more is heard of it."""

    silently: bool = True


@dataclass(frozen=True, slots=True)
class OpenDoor:
    """Listen for child sessions of the editor; answered by DoorOpened."""


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """Look which of these files this machine has; answered by FilesChecked."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    level: Literal["debug", "info", "warning", "error"]
    text: str


Effect = (
    SendToClient
    | DropClient
    | DialWorker
    | SendToWorker
    | HangUp
    | StartDiscovery
    | StopDiscovery
    | AskFate
    | DescribeWorkers
    | StartDebuggee
    | StopDebuggee
    | OpenDoor
    | CheckFiles
    | Log
)
