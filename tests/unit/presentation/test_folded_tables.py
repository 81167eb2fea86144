"""Trees and groups as text with aligned columns."""

from raydap.presentation.folded_tables import of_comparison, of_evaluations, of_stacks
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, MissingMembers, StackNode
from raydap.protocol.value_messages import (
    Change,
    Comparison,
    ComparisonGroup,
    EvaluationGroup,
    Evaluations,
    Histogram,
    Share,
    Statistics,
)


def node(line: int, count: int, label: str, *children: StackNode) -> StackNode:
    frame = CodeLocation(name=f"f{line}", path="C:\\app\\train.py", line=line)
    return StackNode(frame=frame, count=count, members=(), running=(), label=label, children=children)


def test_a_line_is_indented_where_stacks_part() -> None:
    save = node(7, 1, "Trainer 3", node(8, 1, "Trainer 3"))
    forward = node(42, 5, "Trainer{0-2,4-5}", node(43, 3, "Trainer{0-2}"))
    children = (node(1, 6, "Trainer{0-5}", save, forward),)
    root = StackNode(frame=None, count=6, members=(), running=(), label="Trainer{0-5}", children=children)
    place = CodeLocation(name="f42", path="/app/train.py", line=42)
    missing = MissingMembers(frame=place, count=5, of=6, members=(), running=(), label="Trainer 3")
    assert of_stacks(MergedStacks(root=root, missing=(missing,), silent=(1, 2), unread=("w9",))).splitlines() == [
        "6 stopped                Trainer{0-5}",
        "  6 f1 (train.py:1)",
        "    1 f7 (train.py:7)    Trainer 3",
        "    1 f8 (train.py:8)",
        "    5 f42 (train.py:42)  Trainer{0-2,4-5}",
        "    3 f43 (train.py:43)  Trainer{0-2}",
        "Trainer 3 missing in f42 (train.py:42), where 5 of 6 are",
        "3 did not answer",
    ]


def chain(count: int, label: str, *lines: int) -> StackNode:
    found = node(lines[-1], count, label)
    for line in lines[-2::-1]:
        found = node(line, count, label, found)
    return found


def test_recursion_is_one_line_with_a_count() -> None:
    """Functions that call each other in turn have a line each."""
    recursion = chain(2, "Trainer{0-1}", 1, *[2] * 180, 3, *[4, 5] * 9, 4, 6, 6, 6)
    root = StackNode(frame=None, count=2, members=(), running=(), label="Trainer{0-1}", children=(recursion,))
    assert of_stacks(MergedStacks(root=root, missing=(), silent=(), unread=())).splitlines() == [
        "2 stopped  Trainer{0-1}",
        "  2 f1 (train.py:1)",
        "  2 f2 (train.py:2) (180 times)",
        "  2 f3 (train.py:3)",
        "  2 f4 (train.py:4) (9 times)",
        "  2 f5 (train.py:5) (9 times)",
        "  2 f4 (train.py:4)",
        "  2 f6 (train.py:6)",
        "  2 f6 (train.py:6)",
        "  2 f6 (train.py:6)",
    ]


def test_groups_statistics_and_changes() -> None:
    groups = (
        ComparisonGroup(members=(3,), label="Trainer 3", error="NameError: name 'x'\nis not defined"),
        ComparisonGroup(members=(4,), label="Trainer 4", value="[1]", type="list", difference="[0] is 1 instead of 2"),
        ComparisonGroup(members=(1, 2), label="Trainer{1-2}", value="'" + "a" * 99 + "'", type="str", partial=True),
    )
    statistics = Statistics(min=None, max=None, mean=None, std=None, nan=0, inf=2)
    some, nobody = Share(members=(1, 2), label="Trainer{1-2}"), Share(members=(), label="")
    change = Change(unchanged=some, changed=nobody, unknown=some, statistics=statistics)
    histogram = Histogram(low=0.5, high=2.5, counts=(1, 0, 8), lowest=some, highest=some)
    answer = Comparison(groups=groups, silent=(), statistics=statistics, histogram=histogram, change=change)
    assert of_comparison(answer).splitlines() == [
        f"NameError: name 'x' is not defined{' ' * 26}  1  Trainer 3",
        f"[1]{' ' * 57}  1  Trainer 4     [0] is 1 instead of 2",
        f"'{'a' * 58}…  2  Trainer{{1-2}}  only partly compared",
        "2 inf",
        "0.5 Trainer{1-2}  ▁ █  2.5 Trainer{1-2}",
        "unchanged  2  Trainer{1-2}",
        "unknown    2  Trainer{1-2}",
        "change: 2 inf",
    ]
    assert of_comparison(Comparison(groups=(), silent=(1,))) == "1 did not answer"


def test_text_of_a_worker_makes_no_row_and_moves_no_cursor() -> None:
    """Programs choose the names of actors, functions and files."""
    odd = "Trainer\n9 stopped\x1b[2J\u202e\u2028"
    frame = CodeLocation(name=f"f{odd}", path=f"/app/{odd}.py", line=1)
    child = StackNode(frame=frame, count=1, members=(), running=(), label=odd, children=())
    root = StackNode(frame=None, count=1, members=(), running=(), label=odd, children=(child,))
    missing = MissingMembers(frame=frame, count=1, of=2, members=(), running=(), label=odd)
    stacks = of_stacks(MergedStacks(root=root, missing=(missing,), silent=(), unread=()))
    assert len(stacks.splitlines()) == 3
    share = Share(members=(1,), label=odd)
    comparison = of_comparison(
        Comparison(
            groups=(ComparisonGroup(members=(1,), label=odd, value=odd, type="str", difference=odd),),
            silent=(),
            histogram=Histogram(low=0, high=1, counts=(1,) * 10, lowest=share, highest=share),
        )
    )
    group = EvaluationGroup(members=(1,), label=odd, value=odd)
    evaluations = of_evaluations(Evaluations(groups=(group,), silent=(), results=()))
    assert (len(comparison.splitlines()), len(evaluations.splitlines())) == (2, 1)
    assert all(each.isprintable() for text in (stacks, comparison, evaluations) for each in text.splitlines())
