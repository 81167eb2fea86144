"""Builds the wait-for graph from the reports of workers and Ray."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from raydap.analysis.ray_state import RayState
from raydap.analysis.waits import collective_waits, thread_nodes, wait_graph
from raydap.analysis.waits.collective_waits import Collective
from raydap.analysis.waits.task_nodes import TaskNodes
from raydap.analysis.waits.thread_nodes import GraphProcess, GraphThread
from raydap.analysis.waits.wait_graph import GraphNode
from raydap.protocol.types import WorkerKey


@dataclass(frozen=True, slots=True)
class Graph:
    """A wait-for graph."""

    roots: list[GraphNode]
    """Where a reader begins: drivers, then nodes for which no other node waits, then one node of each remaining
    cycle."""
    nodes: list[GraphNode]
    """All nodes that can be reached from the roots."""
    deadlocks: list[list[GraphNode]]
    """The groups of nodes that wait_graph.deadlocks finds."""
    collectives: list[Collective]
    """The collective operations of all processes, even if their nodes are not in `nodes`."""
    idle: int
    """The number of workers that run no code of the user."""


def build(processes: Mapping[WorkerKey, GraphProcess], state: RayState, chosen: Iterable[WorkerKey] | None) -> Graph:
    """Build the graph.

    The roots are the threads of the `chosen` workers. If that is None, they are the threads of drivers, and further
    nodes from which all others can be reached.
    """
    thread_nodes.assign(processes, state.tasks)
    tasks = TaskNodes(state, processes)
    for process in processes.values():
        for thread in process.threads or ():
            _link(thread, process, tasks, bool(state.problem))
    collectives = collective_waits.find(processes.values())
    if chosen is None:
        drivers = [each for each in processes.values() if each.member.type == "driver"]
        roots = _nodes(drivers)
        all_nodes = wait_graph.reachable([*_nodes(processes.values()), *tasks.all()])
        targets = {edge.target for node in all_nodes for edge in node.edges if edge.target is not node}
        roots += [node for node in all_nodes if node not in targets]
        reached = set(wait_graph.reachable(roots))
        for node in all_nodes:
            # The remaining nodes are in cycles for which no other node waits.
            if node not in reached:
                roots.append(node)
                reached.update(wait_graph.reachable([node]))
        roots = list(dict.fromkeys(roots))
    else:
        roots = _nodes(processes[key] for key in chosen if key in processes)
    nodes = wait_graph.reachable(roots)
    idle = sum(process.threads == [] for process in processes.values())
    return Graph(roots, nodes, wait_graph.deadlocks(nodes), collectives, idle)


def _nodes(processes: Iterable[GraphProcess]) -> list[GraphNode]:
    return [thread.node for process in processes for thread in process.threads or () if not thread.is_part]


def _link(thread: GraphThread, process: GraphProcess, tasks: TaskNodes, is_unknown: bool) -> None:
    """Add edges from a thread's node to the nodes for which the thread waits.

    `is_unknown`: Ray has not reported its tasks.
    """
    node, wait = thread.node, thread.stack.wait
    loop = process.thread(thread.stack.ident) if thread.stack.coroutine else None
    if node.state != "blocked":
        return
    if loop is not None and loop.node.state == "blocked":
        node.waits_for([loop.node], "event loop")
    elif wait is None:
        if thread.gets:
            node.waits_for(tasks.children(thread, process), "task", needed=1, certain=False)
    elif wait.kind == "objects":
        targets = tasks.of(wait.tasks)
        count = len(wait.tasks) + wait.more + wait.puts
        node.ready = count - len(targets)
        node.waits_for(targets, "task", needed=wait.needed if wait.needed < count else 0)
        if not targets and not is_unknown:
            groups = tasks.of_groups(process.member.job) if wait.puts else []
            node.waits_for(groups, "resources", certain=False, needed=1)
            made = "no task makes" if wait.puts == count else "no unfinished task makes"
            node.text += f", for objects that {made}" if count > 1 else f", for an object that {made}"
    else:
        holder = process.thread(wait.holder)
        if holder is not None:
            node.waits_for([holder.node], "lock" if wait.kind == "lock" else "thread", certain=wait.sure)
    if wait is not None and wait.ends:
        node.can_continue = True
