"""Workers in a collective operation, which wait for the workers of their class that are not in it."""

from collections.abc import Iterable
from dataclasses import dataclass

from raydap.analysis.thread_stacks import SampledStack
from raydap.analysis.waits.thread_nodes import GraphProcess, GraphThread
from raydap.analysis.waits.wait_graph import GraphNode

_LIBRARIES = {"/torch/distributed/": "torch.distributed", "/ray/util/collective/": "ray.util.collective"}

_COLLECTIVES = {"allgather", "allgather_multigpu", "allreduce", "allreduce_multigpu", "barrier", "broadcast"}
_COLLECTIVES |= {"broadcast_multigpu", "reduce", "reduce_multigpu", "reducescatter", "reducescatter_multigpu"}
_COLLECTIVES |= {"all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_reduce"}
_COLLECTIVES |= {"all_reduce_coalesced", "all_to_all", "all_to_all_single", "broadcast_object_list", "gather"}
_COLLECTIVES |= {"gather_object", "init_process_group", "monitored_barrier", "new_group", "reduce_scatter"}
_COLLECTIVES |= {"reduce_scatter_tensor", "scatter", "scatter_object_list", "init_collective_group"}
"""The functions in which all members of a group meet (torch/distributed/distributed_c10d.py,
ray/util/collective/collective.py)."""

_MISSING = 50
"""The number of missing members for which a node waits in the graph."""


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective operation of the workers of one class."""

    library: str
    """Such as `torch.distributed`."""
    function: str
    """The name of the library's function, such as `all_reduce`."""
    nodes: list[GraphNode]
    """The nodes that are in this function of the library."""
    missing: list[GraphNode]
    """The nodes of the class that are in no such function."""


def find(processes: Iterable[GraphProcess]) -> list[Collective]:
    """Return the collective operations, and add edges from their nodes to the missing nodes of the class.

    Nodes that run, or of which another wait is known, get no edges.
    """
    classes: dict[tuple[str, str], list[GraphProcess]] = {}
    for process in processes:
        entry = process.member
        if entry.type != "driver":
            classes.setdefault((entry.job, entry.actor or entry.label), []).append(process)
    found: list[Collective] = []
    for members in classes.values():
        inside: dict[tuple[str, str], list[GraphNode]] = {}
        missing: list[GraphNode] = []
        for process in members:
            place = next(((each, at) for each in process.threads or () if (at := _collective(each.stack))), None)
            if place is None:
                missing.append(_outside(process))
            else:
                inside.setdefault(place[1], []).append(place[0].node)
        found += [Collective(*at, nodes, missing) for at, nodes in inside.items()]
    for collective in found:
        for node in collective.nodes:
            if node.state != "running" and not node.edges and collective.missing:
                node.waits_for(collective.missing[:_MISSING], "collective", certain=False)
    return found


def _collective(stack: SampledStack) -> tuple[str, str] | None:
    """Return the library and the function of the collective operation that a stack is in; None if there is none."""
    for frame in reversed(stack.frames):
        path = frame.path.replace("\\", "/")
        library = next((name for part, name in _LIBRARIES.items() if part in path), None)
        if library is not None and frame.name in _COLLECTIVES:
            return library, frame.name
    return None


def _outside(process: GraphProcess) -> GraphNode:
    threads: list[GraphThread] = process.threads or []
    if threads:
        return threads[0].node
    text = "idle" if process.threads is not None else "its stack cannot be read"
    return GraphNode(
        ("process", process.key), "", "unknown" if process.threads is None else "idle", text, process.member
    )
