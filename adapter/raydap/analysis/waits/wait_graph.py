"""The wait-for graph: which node waits for which, and which nodes can never continue.

A node continues when enough of the nodes for which it waits do: all of them (`needed` is 0), or some number, as in
ray.wait. The graph is reduced: a node that can continue is removed together with the waits for it, until no such node
is left. The remaining nodes are deadlocked, or wait for deadlocked ones (Holt 1972). A node of which nothing is known
counts as one that can continue, so that raydap never invents a deadlock.

The design is in docs/design/deadlocks.md.
"""

import itertools
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import CodeLocation
from raydap.protocol.wait_messages import WaitKind, WaitState

_STARTS = 20
"""The number of nodes of a group from which a shortest cycle is searched."""


@dataclass(slots=True)
class Edge:
    """A wait of one node for another."""

    target: "GraphNode"
    """The node that is waited for."""
    kind: WaitKind
    """The reason for the wait; docs/requests.md explains each kind."""
    certain: bool = True
    """Whether the wait is certain. If not, raydap concludes it."""


@dataclass(eq=False, slots=True)
class GraphNode:
    """A thread, a coroutine, a task without a known thread, an actor that keeps resources, or a used-up resource."""

    key: Hashable
    """Identifies the node, also in a later graph."""
    label: str
    """The name of the node without its worker: a method, a function, a thread's name."""
    state: WaitState
    """The present activity of the thread or task; `resource` for a used-up resource."""
    text: str
    """Where it is, or why it has not begun, for users."""
    member: WorkerEntry | None = None
    """The worker; None if there is none."""
    location: CodeLocation | None = None
    """The innermost frame with code of the user; None if there is none."""
    edges: list[Edge] = field(default_factory=list)
    """The waits for other nodes; empty if none is known."""
    needed: int = 0
    """How many of the nodes for which it waits have to continue, including the `ready` ones; 0 for all."""
    ready: int = 0
    """How many of them have ended already, and so have no edge."""
    can_continue: bool = True
    """Whether it may continue, whatever the others do."""
    task: str = ""
    """The hex id of the Ray task that it is or runs; "" if it is not known."""

    def waits_for(self, targets: Iterable["GraphNode"], kind: WaitKind, needed: int = 0, certain: bool = True) -> None:
        """Replace the edges; without targets the node may continue."""
        self.edges = [Edge(target, kind, certain) for target in dict.fromkeys(targets)]
        self.needed = needed
        self.can_continue = not self.edges


def reachable(roots: Iterable[GraphNode]) -> list[GraphNode]:
    """Return the nodes that can be reached, each once, beginning with `roots`."""
    found: dict[GraphNode, None] = {}
    waiting = deque(roots)
    while waiting:
        node = waiting.popleft()
        if node not in found:
            found[node] = None
            waiting.extend(edge.target for edge in node.edges)
    return list(found)


def stuck(nodes: Collection[GraphNode]) -> set[GraphNode]:
    """Return the nodes that can never continue.

    `nodes` must contain everything for which its nodes wait.
    """
    waiting: dict[GraphNode, list[GraphNode]] = {}
    missing: dict[GraphNode, int] = {}
    going = deque[GraphNode]()
    for node in nodes:
        for edge in node.edges:
            waiting.setdefault(edge.target, []).append(node)
        missing[node] = len(node.edges) if not node.needed else node.needed - node.ready
        if node.can_continue or missing[node] <= 0:
            missing[node] = 0
            going.append(node)
    while going:
        for node in waiting.get(going.popleft(), ()):
            if missing[node] > 0:
                missing[node] -= 1
                if missing[node] == 0:
                    going.append(node)
    return {node for node in nodes if missing[node] > 0}


def deadlocks(nodes: Collection[GraphNode]) -> list[list[GraphNode]]:
    """Return the groups of nodes that wait for each other and can never continue.

    Nodes that only wait for such a group are left out.
    """
    never = stuck(nodes)
    ordered = [node for node in nodes if node in never]
    return [group for group in _components(ordered, never) if len(group) > 1 or _waits_for_itself(group[0])]


def cycle(group: Collection[GraphNode]) -> list[Edge]:
    """Return a shortest cycle in a group of `deadlocks`, preferably of certain edges.

    The target of each edge is the node of the next edge.
    """
    members = set(group)
    found = [path for node in itertools.islice(group, _STARTS) if (path := _way_back(node, members))]
    return min(found, key=lambda path: (sum(not edge.certain for edge in path), len(path)))


def _waits_for_itself(node: GraphNode) -> bool:
    return any(edge.target is node for edge in node.edges)


def _way_back(start: GraphNode, members: set[GraphNode]) -> list[Edge]:
    ways: dict[GraphNode, list[Edge]] = {start: []}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for edge in node.edges:
            if edge.target is start:
                return [*ways[node], edge]
            if edge.target in members and edge.target not in ways:
                ways[edge.target] = [*ways[node], edge]
                waiting.append(edge.target)
    return []


def _components(nodes: Iterable[GraphNode], among: set[GraphNode]) -> list[list[GraphNode]]:
    """Return the strongly connected components (Tarjan), without recursion, because a chain may be long."""
    numbers: dict[GraphNode, int] = {}
    lowest: dict[GraphNode, int] = {}
    path: list[GraphNode] = []
    on_path: set[GraphNode] = set()
    found: list[list[GraphNode]] = []
    for root in nodes:
        if root in numbers:
            continue
        open_: list[tuple[GraphNode, Iterator[Edge]]] = []
        next_: GraphNode | None = root
        while next_ is not None or open_:
            if next_ is not None:
                numbers[next_] = lowest[next_] = len(numbers)
                path.append(next_)
                on_path.add(next_)
                open_.append((next_, iter(next_.edges)))
                next_ = None
            node, edges = open_[-1]
            for edge in edges:
                target = edge.target
                if target not in among:
                    continue
                if target not in numbers:
                    next_ = target
                    break
                if target in on_path:
                    lowest[node] = min(lowest[node], numbers[target])
            if next_ is not None:
                continue
            open_.pop()
            if open_:
                outer = open_[-1][0]
                lowest[outer] = min(lowest[outer], lowest[node])
            if lowest[node] == numbers[node]:
                group = [path.pop()]
                while group[-1] is not node:
                    group.append(path.pop())
                on_path.difference_update(group)
                found.append(group[::-1])
    return found
