"""The effects that leave the core: what is to be done. runtime/engine.py performs them; none of them waits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from raydap.core.events import PausedWorker
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class SendToClient:
    client: ClientId
    data: bytes


@dataclass(frozen=True, slots=True)
class DropClient:
    """The client has left, and keeps nothing alive. Close its connection once everything sent so far is written, or
    with the process if that is all that ends it. ClientGone follows."""

    client: ClientId


@dataclass(frozen=True, slots=True)
class DialWorker:
    """Connect to a worker. Never open a probe connection: debugpy accepts one client. `node_id` is Ray's, or "".
    `agent` is the path of its agent's socket, "" for a worker with a port; with `over_relay` only the node reaches
    it."""

    worker: WorkerKey
    host: str
    port: int
    node_id: str = ""
    agent: str = ""
    over_relay: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseAgent:
    """Let a process that has called go on, if it still waits. If raydap does not debug it, it runs undebugged."""

    worker: WorkerKey


@dataclass(frozen=True, slots=True)
class ReachAgents:
    """Find the agents in this folder, and take their calls, until StopDiscovery. "" is the user's own folder, for
    programs that wait and have joined no cluster yet."""

    folder: str


@dataclass(frozen=True, slots=True)
class ReachNodes:
    """Find the agents on these nodes, of those that have sockets of their own, and take their calls, until
    StopDiscovery; no longer on others. As in NodesAlive."""

    nodes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class InjectAgent:
    """Start an agent in a worker that runs without one, if that is possible. `actor`: it runs an actor, as far as Ray
    says. `children`: its subprocesses are to have agents, too. Answered by AgentInjected."""

    worker: PausedWorker
    actor: bool
    children: bool


@dataclass(frozen=True, slots=True)
class AskAgent:
    """Send this worker's agent a question (inworker/agent.py), for which nobody needs to debug its process. `timeout_s`
    is for the answer. Answered by AgentAnswered, with the same number."""

    target: DialWorker
    number: int
    question: Mapping[str, object]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class SampleStack:
    """Read the stacks of this worker's process from outside, if it runs on raydap's machine. Answered by
    StackSampled."""

    worker: PausedWorker


@dataclass(frozen=True, slots=True)
class FindForkedWaits:
    """Find the forked children of these processes of one node that wait in breakpoint(). Answered by ForkedWaitsFound,
    with the same number. `host` and `node_id` are those of PausedWorker."""

    number: int
    host: str
    node_id: str
    pids: tuple[int, ...]
    may_relay: bool
    """Whether the relay may be used. Without it a node that needs it has no such children."""


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
class AskActors:
    """Ask Ray for all actors that are not dead. Answered by ActorsListed."""


@dataclass(frozen=True, slots=True)
class AskRayState:
    """Ask Ray, after so many seconds, for unfinished tasks and what they need. Answered by RayStateListed with the same
    number, even if Ray does not answer."""

    number: int
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WatchAlive:
    """Report WorkersAlive from now on until StopDiscovery, or no longer. Comes after StartDiscovery."""

    on: bool


@dataclass(frozen=True, slots=True)
class StartDebuggee:
    settings: LaunchSettings


@dataclass(frozen=True, slots=True)
class StopDebuggee:
    """End the program that StartDebuggee started; DebuggeeStopped follows. `silently`: no other event about it does."""

    silently: bool = True


@dataclass(frozen=True, slots=True)
class OpenChildPort:
    """Listen for child sessions of the editor; answered by ChildPortOpened or ChildPortFailed."""


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """Check which of these files this machine has. Answered by FilesChecked."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduleNextPart:
    """Send the event NextPart after the events that have happened by now."""


@dataclass(frozen=True, slots=True)
class Log:
    level: Literal["debug", "info", "warning", "error"]
    text: str


Effect = (
    SendToClient
    | DropClient
    | DialWorker
    | ReleaseAgent
    | ReachAgents
    | ReachNodes
    | InjectAgent
    | AskAgent
    | SampleStack
    | FindForkedWaits
    | SendToWorker
    | HangUp
    | StartDiscovery
    | StopDiscovery
    | AskExitReason
    | AskLabels
    | AskActors
    | AskRayState
    | WatchAlive
    | StartDebuggee
    | StopDebuggee
    | OpenChildPort
    | CheckFiles
    | ScheduleNextPart
    | Log
)
