"""The request `raydap/waits`: the graph of waits between threads and tasks, and its deadlocks (docs/requests.md)."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from raydap.analysis.ray_state import RayState
from raydap.analysis.thread_stacks import SampledStack
from raydap.analysis.waits import building, thread_nodes, wait_graph, wait_text
from raydap.analysis.waits.building import Graph
from raydap.analysis.waits.collective_waits import Collective
from raydap.analysis.waits.wait_graph import Edge, GraphNode
from raydap.core.effects import AskRayState
from raydap.core.events import RayStateListed
from raydap.core.flows import Flow, Future, start
from raydap.core.model.client import Client, Request
from raydap.core.model.state import State
from raydap.core.requests import selecting
from raydap.core.workers import forked_waits, worker_entries, worker_stack
from raydap.errors import Code, Problem, ProblemError
from raydap.presentation.safe_text import one_line
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.types import WorkerKey
from raydap.protocol.wait_messages import (
    CollectiveWait,
    Deadlock,
    WaitEdge,
    WaitGraph,
    WaitLine,
    WaitNode,
    WaitsArguments,
)

SECOND_LOOK_S = 2.0
"""Seconds until raydap looks at a deadlock again.

Ray's list of tasks is about one second late, and a call that is on its way to an actor looks as if it waited there.
"""

MORE_LOOKS = 3
"""The maximum number of further looks, which end when every deadlock has been seen twice."""


def waits(state: State, request: Request, arguments: WaitsArguments) -> Flow[WaitGraph]:
    """Return the graph of waits, made from the stacks of all workers and from Ray's list of unfinished tasks.

    Nothing is stopped. The answer contains a deadlock only if raydap has found it at two looks in succession.
    """
    chosen = None
    if arguments.select is not None:
        chosen = yield from selecting.workers(state, request.client, None, arguments.select, running=True)
    graph, unread, problem = yield from _look(state, request.client, chosen, 0.0)
    confirmed: list[list[GraphNode]] = []
    for _ in range(MORE_LOOKS):
        if len(confirmed) == len(graph.deadlocks):
            break
        before = {edge for group in graph.deadlocks for edge in _edges(group)}
        graph, unread, problem = yield from _look(state, request.client, chosen, SECOND_LOOK_S)
        confirmed = [group for group in graph.deadlocks if _steps(wait_graph.cycle(group)) <= before]
    graph.deadlocks[:] = confirmed
    return _answer(graph, unread, problem)


_Step = tuple[Hashable, str, Hashable, str]
"""One wait: the key and the task of the node that waits, then those of the node that it waits for."""


def _edges(group: Iterable[GraphNode]) -> set[_Step]:
    return {_step(node, edge.target) for node in group for edge in node.edges}


def _steps(path: Sequence[Edge]) -> set[_Step]:
    targets = [edge.target for edge in path]
    return {_step(node, target) for node, target in zip([targets[-1], *targets], targets, strict=False)}


def _step(node: GraphNode, target: GraphNode) -> _Step:
    return node.key, node.task, target.key, target.task


def _look(
    state: State, client: Client, chosen: list[WorkerKey] | None, delay_s: float
) -> Flow[tuple[Graph, list[WorkerKey], str]]:
    ray_state = yield from _ray_state(state, delay_s)
    members = worker_entries.members(state)
    every = [WorkerKey(key) for key in members]
    stopped = {thread.worker.key for thread in state.stopped.values()}
    wanted = set(selecting.readable(state, every, True, True))
    keys = [key for key in every if key in wanted or key in stopped]
    parents = every if chosen is None else [key for key in chosen if key in members]
    searching = start(forked_waits.find(state, parents, keys))
    found = yield from state.parts.gather({key: worker_stack.threads(state, key) for key in keys}, client)
    children = yield from searching
    unread = [key for key, stacks in found.items() if isinstance(stacks, ProblemError)]
    for key in unread:
        state.log("info", f"the waits of {key} cannot be read: {found[key]}")
    processes = _processes(members, found)
    for child in children:
        entry = forked_waits.entry(members[child.parent], child.pid)
        key = WorkerKey(entry.key)
        processes[key] = thread_nodes.process(entry, child.threads)
        chosen = None if chosen is None else [*chosen, key]
    graph = building.build(processes, ray_state, chosen)
    return graph, unread, ray_state.problem


def _ray_state(state: State, delay_s: float) -> Flow[RayState]:
    number = state.next_question()
    if state.run.program is not None and not state.run.configured:
        text = "The program is not running yet; send the request again after configurationDone."
        raise ProblemError(Problem(Code.WRONG_ORDER, text))
    answer = state.run.state_questions[number] = Future()
    state.emit(AskRayState(number, delay_s))
    return (yield from answer)


def state_listed(state: State, event: RayStateListed) -> None:
    """Give Ray's list of unfinished work to the flow that waits for it."""
    asked = state.run.state_questions.pop(event.number, None)
    if asked is not None:
        asked.set_result(event.state)


def _processes(
    members: Mapping[str, WorkerEntry], found: Mapping[WorkerKey, tuple[SampledStack, ...] | ProblemError]
) -> dict[WorkerKey, thread_nodes.GraphProcess]:
    """Return the threads of each worker. A worker whose stacks were not requested has none: Ray reports it as idle."""
    processes = {}
    for name, member in members.items():
        key = WorkerKey(name)
        stacks = found.get(key, ())
        processes[key] = thread_nodes.process(member, None if isinstance(stacks, ProblemError) else stacks)
    return processes


def _answer(graph: Graph, unread: Iterable[WorkerKey], problem: str) -> WaitGraph:
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    never = wait_graph.stuck(graph.nodes)
    found = [(group, wait_graph.cycle(group)) for group in graph.deadlocks]
    deadlocks = [
        Deadlock(
            cycle=tuple(numbers[edge.target] for edge in [path[-1], *path[:-1]]),
            nodes=tuple(numbers[node] for node in group),
            certain=all(edge.certain for edge in path),
            text=wait_text.of_deadlock(group, path),
        )
        for group, path in found
    ]
    unread_keys = tuple(unread)
    lines = wait_text.tree(graph)
    return WaitGraph(
        nodes=tuple(_node(node, numbers, node in never) for node in graph.nodes),
        roots=tuple(numbers[node] for node in graph.roots),
        deadlocks=tuple(deadlocks),
        collectives=tuple(_collective(each, numbers) for each in graph.collectives),
        unread=unread_keys,
        idle=graph.idle,
        problem=problem,
        lines=tuple(
            WaitLine(depth=line.depth, text=line.text, nodes=tuple(numbers[node] for node in line.nodes))
            for line in lines
        ),
        text=wait_text.of_graph(
            graph, lines, [(each.certain, each.text) for each in deadlocks], problem, len(unread_keys)
        ),
    )


def _node(node: GraphNode, numbers: Mapping[GraphNode, int], is_stuck: bool) -> WaitNode:
    return WaitNode(
        worker="" if node.member is None else node.member.key,
        label=wait_text.name([node]),
        state=node.state,
        text=one_line(node.text),
        location=node.location,
        task=node.task,
        waits=tuple(WaitEdge(node=numbers[edge.target], kind=edge.kind, certain=edge.certain) for edge in node.edges),
        needed=node.needed,
        stuck=is_stuck,
    )


def _collective(found: Collective, numbers: Mapping[GraphNode, int]) -> CollectiveWait:
    return CollectiveWait(
        library=found.library,
        function=found.function,
        nodes=tuple(numbers[node] for node in found.nodes if node in numbers),
        missing=tuple(numbers[node] for node in found.missing if node in numbers),
        text=wait_text.of_collective(found),
    )
