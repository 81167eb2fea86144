"""The wait-for graph as text: deadlocks first, then a tree from the drivers down.

Nodes that are alike share a line.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from raydap.analysis.sets import folding
from raydap.analysis.waits.building import Graph
from raydap.analysis.waits.collective_waits import Collective
from raydap.analysis.waits.wait_graph import Edge, GraphNode
from raydap.presentation.safe_text import one_line

_LINES = 400
"""The largest number of lines of the tree."""
_DEPTH = 40
"""The largest depth of the tree."""

_ROUNDS = 12
"""How many levels below two nodes are compared to decide whether they are alike."""

_WORDS: dict[tuple[str, bool], str] = {
    ("task", False): "probably ",
    ("lock", True): "held by ",
    ("lock", False): "may be held by ",
    ("thread", True): "until the end of ",
    ("thread", False): "one of them: ",
    ("arguments", False): "perhaps for ",
    ("owner", True): "until released by ",
    ("event loop", True): "its event loop: ",
    ("collective", False): "missing: ",
}
"""The words before the target of an edge, by the kind of the edge and whether it is certain."""


def name(nodes: Sequence[GraphNode]) -> str:
    """Return the name of nodes that are alike, such as `Trainer{0-2} · step` or `prepare (3)`."""
    return one_line(_name(nodes))


def _name(nodes: Sequence[GraphNode]) -> str:
    first = nodes[0]
    members = [node.member for node in nodes if node.member is not None]
    if not members:
        return first.label if len(nodes) == 1 else f"{first.label} ({len(nodes)})"
    entry = members[0]
    if first.label.startswith("thread "):
        return f"{folding.group_name(members)} · {first.label}"
    if entry.type == "driver" or not first.label:
        return folding.group_name(members)
    method = first.label.rpartition(".")[2]
    if entry.actor:
        return f"{folding.group_name(members)} · {method}"
    # Ray reports the name of a task before the label of its worker.
    return first.label if len(nodes) == 1 else f"{first.label} ({len(nodes)})"


def of_deadlock(group: Collection[GraphNode], path: Sequence[Edge]) -> str:
    """Return a deadlock as text, in several lines.

    `path` is a cycle: the target of the last edge is the node of the first one.
    """
    start = path[-1].target
    lines = [f"  {_head([start])}"]
    lines += [f"  -> {_words(edge)}{_head([edge.target])}" for edge in path[:-1]]
    lines.append(f"  -> {_words(path[-1])}{name([start])}")
    more = [node for node in group if node not in {edge.target for edge in path}]
    if more:
        names = [name(alike) for alike in _alike(more, {node: _kind(node) for node in more})]
        lines.append(f"  {len(more)} more are in it: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}")
    return "\n".join(lines)


def _kind(node: GraphNode) -> tuple[str, str]:
    return "" if node.member is None else node.member.actor, node.label


def of_collective(found: Collective) -> str:
    """Return a collective operation as text, with the nodes that are missing."""
    inside = f"{name(found.nodes)} in {found.function} ({found.library})"
    if not found.missing:
        return f"{inside}: all workers of the class are in a collective operation"
    shown = [name(alike) for alike in _alike(found.missing, {node: (node.label, "") for node in found.missing})]
    return f"{inside}; missing: {', '.join(shown)}"


class TreeLine(NamedTuple):
    """A line of the tree."""

    depth: int
    """0 for the lines of the roots; a line waits for the lines below it that are one level deeper."""
    branch: str
    """The line-drawing characters before the text."""
    text: str
    """The names of the nodes, with their wait."""
    nodes: Sequence[GraphNode]
    """The nodes, which are alike; empty for the line "...", which stands for lines that are left out."""


def tree(graph: Graph) -> list[TreeLine]:
    """Return the tree of waits from the roots down: deadlocked nodes first, then small groups."""
    marks = {node: number for number, group in enumerate(graph.deadlocks, 1) for node in group}
    made = _Tree(_colours(graph.nodes), marks, len(graph.deadlocks) > 1)
    made.add([(None, node) for node in graph.roots], "", 0)
    return made.lines


def of_graph(
    graph: Graph, lines_of_tree: Iterable[TreeLine], deadlocks: Sequence[tuple[bool, str]], problem: str, unread: int
) -> str:
    """Return the graph as text.

    `deadlocks` contains for each one whether it is certain, and its text. `problem` is why nothing is known of Ray's
    tasks, and `unread` the number of workers whose stacks could not be read.
    """
    lines: list[str] = []
    for number, (is_certain, text) in enumerate(deadlocks, 1):
        which = f" {number}" if len(deadlocks) > 1 else ""
        lines += [f"{'Deadlock' if is_certain else 'Probably a deadlock'}{which}:", text, ""]
    lines += [f"{of_collective(each)}." for each in graph.collectives]
    lines += [line.branch + line.text for line in lines_of_tree]
    notes = [f"{graph.idle} idle"] * (graph.idle > 0) + [f"{unread} could not be read"] * (unread > 0)
    if notes:
        lines.append(", ".join(notes))
    entries = [node.member for node in graph.nodes if node.member is not None]
    lines += dict.fromkeys(one_line(entry.problem) for entry in entries if entry.type == "child" and entry.problem)
    if problem:
        lines.append(one_line(f"Ray's list of waiting tasks is not available: {problem}"))
    return "\n".join(lines) or "No workers are running."


class _Tree:
    """The lines of the tree."""

    def __init__(self, colours: dict[GraphNode, int], marks: dict[GraphNode, int], numbered: bool) -> None:
        self._colours = colours
        self._marks = marks
        self._numbered = numbered
        self._shown: set[int] = set()
        self.lines: list[TreeLine] = []

    def add(self, children: Iterable[tuple[Edge | None, GraphNode]], indent: str, depth: int) -> None:
        """Add siblings: deadlocked nodes first, then small groups."""
        groups: dict[object, list[tuple[Edge | None, GraphNode]]] = {}
        for edge, node in children:
            kind = None if edge is None else (edge.kind, edge.certain)
            groups.setdefault((kind, self._colours[node]), []).append((edge, node))
        ordered = sorted(
            groups.values(),
            key=lambda each: (each[0][1] not in self._marks, len(each), name([node for _, node in each])),
        )
        if depth == 0:
            # Drivers come first, as given.
            ordered = sorted(ordered, key=lambda each: not _is_driver(each[0][1]))
        for number, group in enumerate(ordered):
            if len(self.lines) >= _LINES or depth > _DEPTH:
                self.lines.append(TreeLine(depth, indent, "...", ()))
                return
            is_last = number == len(ordered) - 1
            branch, below = ("", "") if depth == 0 else ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            self._add_group(group, indent + branch, indent + below, depth)

    def _add_group(self, group: Sequence[tuple[Edge | None, GraphNode]], start: str, indent: str, depth: int) -> None:
        nodes = list(dict.fromkeys(node for _, node in group))
        edge, first = group[0]
        mark = self._marks.get(first)
        shown = "" if mark is None else f"  [deadlock{f' {mark}' if self._numbered else ''}]"
        colour = self._colours[first]
        words = "" if edge is None else _words(edge)
        if colour in self._shown and first.edges:
            self.lines.append(TreeLine(depth, start, f"{words}{name(nodes)} (see above){shown}", nodes))
            return
        self._shown.add(colour)
        self.lines.append(TreeLine(depth, start, f"{words}{_head(nodes)}{shown}", nodes))
        self.add([(each, each.target) for node in nodes for each in node.edges], indent, depth + 1)


def _head(nodes: Sequence[GraphNode]) -> str:
    where = ""
    entry = None if nodes[0].member is None else nodes[0].member
    if len(nodes) == 1 and entry is not None and entry.pid:
        # The title of a task's worker contains the process id.
        process = "" if str(entry.pid) in name(nodes).split() else f"pid {entry.pid}"
        node = f"on {entry.node}" if entry.node else ""
        where = f" ({' '.join(part for part in (process, node) if part)})" if process or node else ""
    return f"{name(nodes)}{where}: {one_line(nodes[0].text)}"


def _words(edge: Edge) -> str:
    if edge.kind == "resources" and (edge.target.member is not None or edge.target.state == "running"):
        return "in use by "
    return _WORDS.get((edge.kind, edge.certain), "")


def _is_driver(node: GraphNode) -> bool:
    return node.member is not None and node.member.type == "driver"


def _alike(nodes: Iterable[GraphNode], by: dict[GraphNode, tuple[str, str]]) -> list[list[GraphNode]]:
    groups: dict[tuple[str, str], list[GraphNode]] = {}
    for node in nodes:
        groups.setdefault(by[node], []).append(node)
    return list(groups.values())


def _colours(nodes: Sequence[GraphNode]) -> dict[GraphNode, int]:
    """Return equal numbers for nodes that are alike.

    Nodes are alike if they look the same, and wait for nodes that are alike, down to _ROUNDS levels. Cycles are no
    obstacle.
    """
    known = set(nodes)
    kinds: dict[object, int] = {}
    colours = {node: kinds.setdefault(_look(node), len(kinds)) for node in nodes}
    for _ in range(_ROUNDS):
        kinds = {}
        renewed = {}
        for node in nodes:
            edges = {(edge.kind, edge.certain, colours[edge.target]) for edge in node.edges if edge.target in known}
            renewed[node] = kinds.setdefault((colours[node], frozenset(edges)), len(kinds))
        if len(kinds) == len(set(colours.values())):
            break
        colours = renewed
    return colours


def _look(node: GraphNode) -> tuple[str, ...]:
    entry = None if node.member is None else node.member
    whose = "" if entry is None else f"{entry.job} {entry.actor or entry.label}"
    return whose, node.label, node.state, node.text, "" if entry is None else entry.type
