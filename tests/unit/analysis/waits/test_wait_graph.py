"""The nodes that can never proceed in a graph of waits."""

import itertools
import random
from collections.abc import Iterable

import pytest

from raydap.analysis.waits.wait_graph import GraphNode, cycle, deadlocks, reachable, stuck


def graph(text: str) -> dict[str, GraphNode]:
    """Return nodes from a text with one letter for each.

    a:bc       a waits for both
    a:1/bc     a waits for one of them
    a:1+1/bc   the same, and one more target has already ended
    a          a is not blocked
    a:b?       the wait is not certain
    a:b!       a may proceed in any case
    """
    nodes: dict[str, GraphNode] = {}
    parts = [each.partition(":") for each in text.split()]
    for name in [name for name, _, _ in parts] + [
        letter for _, _, rest in parts for letter in rest if letter.isalpha()
    ]:
        nodes.setdefault(name, GraphNode(name, name, "blocked", name))
    for name, _, rest in parts:
        count, slash, targets = rest.rpartition("/")
        needed, _, ready = count.partition("+")
        node = nodes[name]
        letters = [nodes[each] for each in targets if each.isalpha()]
        node.waits_for(letters, "task", int(needed) if slash else 0, certain="?" not in rest)
        node.ready = int(ready or 0)
        node.can_continue = node.can_continue or "!" in rest
    return nodes


def names(nodes: Iterable[GraphNode]) -> str:
    return "".join(sorted(str(node.key) for node in nodes))


@pytest.mark.parametrize(
    ("text", "never", "groups"),
    [
        ("a", "", []),
        ("a:b b", "", []),
        ("a:a", "a", ["a"]),
        ("a:b b:a", "ab", ["ab"]),
        ("z:a a:b b:c c:a", "abcz", ["abc"]),
        ("a:b b:a c:d d:c", "abcd", ["ab", "cd"]),
        ("a:bc b:a c", "ab", ["ab"]),
        ("a:1/bc b:a c", "", []),
        ("a:1/bc b:a c:a", "abc", ["abc"]),
        ("a:2/bcd b:a c d", "", []),
        ("a:2/bcd b:a c:a d", "abc", ["abc"]),
        ("a:2+1/bcd b:a c:a d", "", []),
        ("a:b b:a!", "", []),
        ("a:b b:cd c:b d:a", "abcd", ["abcd"]),
    ],
)
def test_nodes_that_can_never_proceed(text: str, never: str, groups: list[str]) -> None:
    nodes = list(graph(text).values())
    assert names(stuck(nodes)) == never
    assert sorted(names(group) for group in deadlocks(nodes)) == groups


def test_the_shortest_and_most_certain_cycle_is_chosen() -> None:
    nodes = graph("a:b b:cd c:a? d:e e:a")
    (group,) = deadlocks(list(nodes.values()))
    assert {edge.target.key for edge in cycle(group)} == {"a", "b", "d", "e"}
    nodes = graph("a:bc b:a c:d d:a")
    (group,) = deadlocks(list(nodes.values()))
    assert {edge.target.key for edge in cycle(group)} == {"a", "b"}


def test_a_chain_may_be_long() -> None:
    nodes = [GraphNode(number, "", "blocked", "") for number in range(20_000)]
    for node, next_ in itertools.pairwise([*nodes, nodes[0]]):
        node.waits_for([next_], "task")
    assert [len(group) for group in deadlocks(nodes)] == [20_000]
    assert len(reachable(nodes[:1])) == 20_000


def _slowly(nodes: list[GraphNode]) -> set[GraphNode]:
    """Return what `stuck` should return, computed by its definition."""
    never = set(nodes)
    while True:
        going = {
            node
            for node in never
            if node.can_continue
            or sum(edge.target not in never for edge in node.edges)
            >= (node.needed - node.ready if node.needed else len(node.edges))
        }
        if not going:
            return never
        never -= going


def test_any_graph_says_what_its_definition_says() -> None:
    chance = random.Random(7)
    for _ in range(500):
        nodes = [GraphNode(number, "", "blocked", "") for number in range(chance.randint(1, 9))]
        for node in nodes:
            targets = chance.sample(nodes, chance.randint(0, min(3, len(nodes))))
            node.waits_for(targets, "task", needed=chance.randint(0, len(targets)))
            node.ready = chance.randint(0, 1)
        never = _slowly(nodes)
        assert stuck(nodes) == never
        for group in deadlocks(nodes):
            assert set(group) <= never
            path = cycle(group)
            assert all(edge.target in group for edge in path)
