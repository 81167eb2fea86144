"""The effects that leave the core: what is to be done. runtime/engine.py performs them; none of them waits.

Events (events.py) and effects are plain data, so that tests read like scripts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from raydap.core.process_info import ProcessInfo
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.protocol.types import ClientId, WorkerKey


@dataclass(frozen=True, slots=True)
class SendToClient:
    """Send a message to a client."""

    client: ClientId
    """The receiver. If it is gone, nothing is sent."""
    data: bytes
    """The JSON of one message, without its header."""


@dataclass(frozen=True, slots=True)
class DropClient:
    """Close the connection of a client that has left, after writing everything sent so far. ClientGone follows.

    A connection that only the end of the process closes stays open, but no longer keeps the process alive.
    """

    client: ClientId
    """The client that has left."""


@dataclass(frozen=True, slots=True)
class DialWorker:
    """Connect to a worker. Answered by WorkerConnected or WorkerGone.

    Never open a probe connection: debugpy accepts one client.
    """

    worker: WorkerKey
    """The key of the worker, repeated in the answer."""
    host: str
    """The address of the worker's node; "" if an agent did not report it."""
    port: int
    """The debug port; 0 for a worker with an agent."""
    node_id: str = ""
    """Ray's hex id of the worker's node, or ""."""
    agent: str = ""
    """The path of the agent's socket; "" for a worker with a debug port."""
    over_relay: bool = False
    """Whether only the worker's node reaches the agent."""


@dataclass(frozen=True, slots=True)
class ReleaseAgent:
    """Let a process that has called raydap continue, if it still waits.

    If raydap does not debug the process, it runs without a debugger.
    """

    worker: WorkerKey
    """The key of the process, as AgentCalled has reported it."""


@dataclass(frozen=True, slots=True)
class ReachAgents:
    """Find the agents in this folder, and accept their calls, until StopDiscovery. Answered by AgentsSearched."""

    folder: str
    """The sockets of a Ray session; "" for the user's own folder, where programs without a cluster wait."""


@dataclass(frozen=True, slots=True)
class ReachNodes:
    """Find the agents on these nodes over the relay, and accept their calls, until StopDiscovery.

    Answered by AgentsSearched. Each ReachNodes replaces the nodes of the last one. Nodes on raydap's machine are left
    out, unless the relay is always used.
    """

    nodes: Mapping[str, str]
    """The nodes' addresses by Ray's hex ids, as in NodesAlive."""


@dataclass(frozen=True, slots=True)
class InjectAgent:
    """Start an agent in a running worker that has none, if that is possible. Answered by AgentInjected."""

    worker: ProcessInfo
    """The running worker. Its key is repeated in the answer."""
    actor: bool
    """Whether the worker runs an actor, as far as Ray reports."""
    children: bool
    """Whether the worker's subprocesses get agents, too."""


@dataclass(frozen=True, slots=True)
class AskAgent:
    """Send a question to an agent (inworker/agent.py). Answered by AgentAnswered.

    No debugger needs to be attached to the agent's process.
    """

    target: DialWorker
    """The process of the agent, as for a connection to it."""
    number: int
    """Repeated in the answer."""
    question: Mapping[str, object]
    """A JSON object with the question, such as `{"stack": True}`."""
    timeout_s: float
    """Seconds for the answer."""


@dataclass(frozen=True, slots=True)
class AskWaiting:
    """Evaluate an expression in a worker that waits in breakpoint(), by a short attach. Answered by WaitingAnswered.

    The worker keeps waiting. Until the answer, nothing else may connect to it.
    """

    target: DialWorker
    """The worker, and how to connect to it."""
    expression: str
    """An expression of inworker/calls.py."""
    timeout_s: float
    """Seconds for the answer, in addition to the time of the attach."""


@dataclass(frozen=True, slots=True)
class SampleStack:
    """Read the stacks of a worker's process from outside, by py-spy on its node. Answered by StackSampled."""

    worker: ProcessInfo
    """The worker, with its pid and node. Its key is repeated in the answer."""


@dataclass(frozen=True, slots=True)
class FindForkedWaits:
    """Find the forked children of these processes that wait in breakpoint(). Answered by ForkedWaitsFound."""

    number: int
    """Repeated in the answer."""
    host: str
    """The address of the node, as in ProcessInfo."""
    node_id: str
    """Ray's hex id of the node, as in ProcessInfo."""
    pids: tuple[int, ...]
    """The process ids of workers and drivers on this node."""
    may_relay: bool
    """Whether the relay may be used. If not, a node that needs it is reported as having no such children."""


@dataclass(frozen=True, slots=True)
class SendToWorker:
    """Send a message to a worker."""

    worker: WorkerKey
    """The receiver. If its connection has ended, nothing is sent."""
    data: bytes
    """The JSON of one message, without its header."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection to a worker, after writing everything sent so far. No WorkerGone follows."""

    worker: WorkerKey
    """The key of the connected worker."""


@dataclass(frozen=True, slots=True)
class StartDiscovery:
    """Report WorkersPaused until StopDiscovery."""

    settings: AttachSettings
    """The arguments of `attach` or `launch`, which name the cluster or the workers."""
    patient: bool = False
    """Whether a missing cluster is no failure, because it may still be starting."""


@dataclass(frozen=True, slots=True)
class StopDiscovery:
    """End discovery: report no more workers, and accept no more calls of agents."""


@dataclass(frozen=True, slots=True)
class AskExitReason:
    """Look up in Ray why a worker has ended, and whether its job has. Answered by WorkersEnded and JobsEnded."""

    worker: ProcessInfo
    """The worker as it was known before its end."""


@dataclass(frozen=True, slots=True)
class AskFacts:
    """Look up the facts about these workers in Ray. Answered by FactsListed, with the facts that Ray has."""

    workers: tuple[ProcessInfo, ...]
    """The workers to look up. Each is looked up several times, because Ray's lists lag."""


@dataclass(frozen=True, slots=True)
class AskActors:
    """List all actors in Ray that are not dead. Answered by ActorsListed."""


@dataclass(frozen=True, slots=True)
class AskRayState:
    """List Ray's unfinished tasks and what they need. Answered by RayStateListed, even if Ray does not answer."""

    number: int
    """Repeated in the answer."""
    delay_s: float = 0.0
    """Seconds to wait before the request."""


@dataclass(frozen=True, slots=True)
class WatchAlive:
    """Start or stop reporting WorkersAlive. Comes after StartDiscovery; StopDiscovery stops it, too."""

    on: bool
    """True to start the reports, False to stop them."""


@dataclass(frozen=True, slots=True)
class StartDebuggee:
    """Start the launched program. Answered by DebuggeeStarted or DebuggeeFailed."""

    settings: LaunchSettings
    """The arguments of `launch`, which name the program."""
    in_terminal: bool = False
    """Whether to request a terminal for it by TerminalNeeded."""


@dataclass(frozen=True, slots=True)
class StopDebuggee:
    """End the program that StartDebuggee started. DebuggeeStopped follows."""

    silently: bool = True
    """Whether no other event about the program follows."""


@dataclass(frozen=True, slots=True)
class OpenChildPort:
    """Listen for child sessions of the editor. Answered by ChildPortOpened or ChildPortFailed."""


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """Check which of these files raydap's machine has. Answered by FilesChecked."""

    paths: tuple[str, ...]
    """The paths to check, as workers report them."""


@dataclass(frozen=True, slots=True)
class ScheduleNextPart:
    """Send the event NextPart after the events that have happened by now."""


@dataclass(frozen=True, slots=True)
class Log:
    """Write a line to raydap's log."""

    level: Literal["debug", "info", "warning", "error"]
    """The level, as a name of the module `logging` in lower case."""
    text: str
    """The message, without time and level."""


Effect = (
    SendToClient
    | DropClient
    | DialWorker
    | ReleaseAgent
    | ReachAgents
    | ReachNodes
    | InjectAgent
    | AskAgent
    | AskWaiting
    | SampleStack
    | FindForkedWaits
    | SendToWorker
    | HangUp
    | StartDiscovery
    | StopDiscovery
    | AskExitReason
    | AskFacts
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
