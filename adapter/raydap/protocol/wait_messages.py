"""The messages of `raydap/waits`: the graph of waits between threads and tasks. A part of raydap_messages.py."""

from typing import Literal

from raydap.protocol.message_base import Arguments, Message
from raydap.protocol.stack_messages import CodeLocation


class WaitsArguments(Arguments, frozen=True):
    """The arguments of `raydap/waits`."""

    select: str | None = None
    """A set of workers whose nodes become the roots. Without it, the roots are the drivers, then the nodes for which no
    other node waits."""


WaitKind = Literal["task", "lock", "thread", "actor", "arguments", "resources", "owner", "event loop", "collective"]
"""The kind of a wait; docs/requests.md explains each one."""

WaitState = Literal["blocked", "busy", "running", "stopped", "paused", "idle", "pending", "resource", "unknown"]
"""The state of a node. `pending` and `resource` are states of nodes that are neither threads nor coroutines."""


class WaitEdge(Message, frozen=True):
    """The wait of one node for another node."""

    node: int
    """The index of the node that it waits for, in `WaitGraph.nodes`."""
    kind: WaitKind
    """The reason for the wait; docs/requests.md explains each kind."""
    certain: bool
    """False if raydap has only concluded that the node waits for this one."""


class WaitNode(Message, frozen=True):
    """A thread, a coroutine, a task that has not begun, an actor that keeps resources, or a used-up resource."""

    worker: str
    """The key of the node's worker, `KEY/PID` for a forked child; "" if it has no worker, such as a resource."""
    label: str
    """The node's name, as in `Trainer 3 · step` or `CPU`."""
    state: WaitState
    """The present activity of the thread or task; `resource` for a used-up resource."""
    text: str
    """Where the node is, or why its task has not begun."""
    location: CodeLocation | None
    """The innermost frame of the user's code; null if there is none."""
    task: str
    """Ray's hex id of the task that the node is or executes; "" if it is not known."""
    waits: tuple[WaitEdge, ...]
    """The node's waits for other nodes; empty if none is known."""
    needed: int
    """How many of its waits must end before the node can continue; 0 means all of them."""
    stuck: bool
    """Whether the node can never continue."""


class Deadlock(Message, frozen=True):
    """Nodes that wait for each other and can never continue. Nodes are given by their indices in `WaitGraph.nodes`."""

    cycle: tuple[int, ...]
    """A shortest cycle: each node waits for the next one, and the last one for the first."""
    nodes: tuple[int, ...]
    """All nodes that wait for each other."""
    certain: bool
    """Whether all waits of the cycle are certain."""
    text: str
    """A description for people to read."""


class CollectiveWait(Message, frozen=True):
    """A collective operation, such as an `all_reduce`, that waits for workers which have not come to it."""

    library: str
    """`torch.distributed` or `ray.util.collective`."""
    function: str
    """The name of the library's function, such as `all_reduce`."""
    nodes: tuple[int, ...]
    """The indices of the nodes that are in this function."""
    missing: tuple[int, ...]
    """The indices of the nodes of their class that are in no collective operation."""
    text: str
    """A description for people to read."""


class WaitLine(Message, frozen=True):
    """A line of the tree of waits. Nodes in the same situation share a line."""

    depth: int
    """0 for a root. A line waits for the lines after it that are one level deeper, up to the next of its own level."""
    text: str
    """The names of the nodes, with their wait, for people to read."""
    nodes: tuple[int, ...]
    """The indices of the nodes; empty if the line stands for others that are left out."""


class WaitGraph(Message, frozen=True):
    """The answer to `raydap/waits`."""

    nodes: tuple[WaitNode, ...]
    """All nodes that can be reached from the roots."""
    roots: tuple[int, ...]
    """The indices of the nodes at which a reader begins."""
    deadlocks: tuple[Deadlock, ...]
    """The groups of nodes that wait for each other and can never continue."""
    collectives: tuple[CollectiveWait, ...]
    """The collective operations in which workers wait."""
    unread: tuple[str, ...]
    """The keys of the workers whose stacks could not be read."""
    idle: int
    """How many workers execute no code of the user's."""
    problem: str
    """Why Ray has not reported its unfinished tasks; "" if it has."""
    lines: tuple[WaitLine, ...]
    """The graph as a tree from the roots down: deadlocked nodes first, then small groups."""
    text: str
    """The whole graph as text, for people to read."""
