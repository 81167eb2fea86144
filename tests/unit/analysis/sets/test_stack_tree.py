"""Many stacks as one tree."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from raydap.analysis.sets.folding import Holder
from raydap.analysis.sets.stack_tree import MAX_FRAMES, Place, StackTree
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import StackNode


def holder(number: int, actor: str = "Trainer") -> Holder:
    known: dict[str, Any] = {"name": "", "where": "", "state": "stopped", "age": 0.0, "type": "worker", "node": "n"}
    known |= {"node_id": "", "job": "1", "submission": "", "task": "", "agent": True, "threads": (), "problem": ""}
    rank: Any = number if actor else UNSET
    known |= {"actor": actor, "actor_name": "", "pid": number, "rank": rank, "label": "prepare"}
    known["title"] = f"{actor or 'prepare'} {number}"
    return Holder(1000 + number, WorkerEntry(key=f"w{number}", **known))


def stack(*lines: int) -> list[Place]:
    """Return the places of these lines, outermost first."""
    return [Place(f"f{line}", "/app/train.py", line) for line in lines]


def tree(*stacks: tuple[int, ...], actor: str = "Trainer") -> StackTree:
    made = StackTree()
    for number, lines in enumerate(stacks):
        made.add(stack(*lines), holder(number, actor))
    return made


def drawn(node: StackNode, depth: int = 0) -> list[str]:
    name = "all" if node.frame is None else node.frame.name
    lines = [f"{'  ' * depth}{name} {node.count} {node.label}"]
    return lines + [line for child in node.children for line in drawn(child, depth + 1)]


def test_what_few_do_comes_first() -> None:
    root = tree((1, 2), (1, 2), (1, 3), (1, 2)).root(100)
    assert drawn(root) == [
        "all 4 Trainer{0-3}",
        "  f1 4 Trainer{0-3}",
        "    f3 1 Trainer 2",
        "    f2 3 Trainer{0-1,3}",
    ]
    assert root.children[0].children[0].members == (1002,)


def test_a_node_names_so_many_members() -> None:
    root = tree(*[(1,)] * 5).root(2)
    assert (root.count, root.members, root.label) == (5, (1000, 1001), "Trainer{0-4}")


def test_a_deep_stack_is_shortened_in_the_middle() -> None:
    made = StackTree()
    made.add(stack(*range(1000)), holder(0))
    node, lines = made.root(1), []
    while node.children:
        (node,) = node.children
        assert node.frame is not None
        lines.append(node.frame.line)
    assert lines == [*range(MAX_FRAMES // 2), *range(1000 - MAX_FRAMES // 2, 1000)]
    assert msgspec.json.encode(made.root(1))


@pytest.mark.parametrize(
    ("stacks", "expected"),
    [
        ([(1, 2), (1, 2), (1, 3), (1, 2)], ["f2 3/4 Trainer 2"]),
        # One member has left a function that the others are still in.
        ([(1, 2, 4), (1, 2, 4), (1, 2, 4), (9,), (1, 2, 5)], ["f1 4/5 Trainer 3", "f4 3/5 Trainer 4"]),
        # If half of the members are on each side, none counts as missing.
        ([(1, 2), (1, 2), (1, 3), (1, 3)], []),
        ([(1, 2), (1, 3)], []),
        ([(1, 2), (1, 2), (1, 2)], []),
        # One member is deeper in the stack than the others.
        ([(1, 2), (1, 2), (1, 2, 3)], []),
        ([(1, 2, 3), (1, 2, 3), (1, 2)], ["f3 2/3 Trainer 2"]),
        ([], []),
    ],
)
def test_missing_members(stacks: list[tuple[int, ...]], expected: list[str]) -> None:
    told = [f"{each.frame.name} {each.count}/{each.of} {each.label}" for each in tree(*stacks).missing(100)]
    assert told == expected


def test_tasks_are_no_class() -> None:
    assert tree((1, 2), (1, 2), (1, 3), actor="").missing(100) == ()


@given(st.lists(st.lists(st.integers(1, 3), max_size=4).map(tuple), max_size=12))
def test_each_thread_is_once_in_each_level(stacks: list[tuple[int, ...]]) -> None:
    def check(node: StackNode) -> None:
        assert node.count == len(node.members) == len(set(node.members))
        below = [member for child in node.children for member in child.members]
        assert len(set(below)) == len(below)
        assert set(below) <= set(node.members)
        assert [child.count for child in node.children] == sorted(child.count for child in node.children)
        for child in node.children:
            check(child)

    made = tree(*stacks)
    assert made.root(100).count == len(stacks)
    check(made.root(100))
    for each in made.missing(100):
        assert 2 * each.count > each.of > each.count or each.of >= each.count + len(each.members)
