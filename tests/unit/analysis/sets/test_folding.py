"""Groups of equal answers, and short texts for their members."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from raydap.analysis.sets.folding import Answer, Holder, group_name, groups, statistics
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.value_messages import Statistics

FAILED = Answer(UNSET, UNSET, "NameError: x")


def entry(key: str, label: str = "", actor: str = "", rank: int | None = None) -> WorkerEntry:
    known: dict[str, Any] = {"name": "", "where": "", "state": "stopped", "age": 0.0, "type": "worker", "node": "n"}
    known |= {"node_id": "", "job": "1", "submission": "", "task": "", "agent": True, "threads": (), "problem": ""}
    known |= {"actor_name": "", "pid": 7, "title": f"{actor} {rank}" if actor else f"{label or key} 7"}
    rank_or_unset = UNSET if rank is None else rank
    return WorkerEntry(key=key, actor=actor, label=label or key, rank=rank_or_unset, **known)


def trainers(*ranks: int) -> list[WorkerEntry]:
    return [entry(f"t{rank}", actor="Trainer", rank=rank) for rank in ranks]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (trainers(7, 0, 1, 2, 3, 5), "Trainer{0-3,5,7}"),
        (trainers(6), "Trainer 6"),
        ([entry("a", "prepare"), *trainers(0)], "Trainer 0, prepare 7"),
        ([entry(key, "prepare") for key in ("a", "b", "b")], "prepare (2)"),
        ([entry(key, actor="Trainer") for key in "abc"], "Trainer (3)"),
        ([entry(key) for key in "abcdefg"], "a 7, b 7, c 7, d 7, e 7, and 2 more"),
    ],
)
def test_members_in_few_words(members: list[WorkerEntry], expected: str) -> None:
    assert group_name(members) == expected


def answers(*texts: str, kind: str = "float") -> list[Answer]:
    return [Answer(text, kind, UNSET) for text in texts]


def test_the_largest_group_is_the_last() -> None:
    found = answers("0.31", "nan", "0.31")
    threads = (0, 1, 2, 9, None)
    holders = [Holder(thread, member) for thread, member in zip(threads, trainers(0, 6, 1, 4, 5), strict=True)]
    told = groups(zip([*found, FAILED, FAILED], holders, strict=True))
    assert [(group.value, group.error, group.members, group.running, group.label) for group in told] == [
        ("nan", UNSET, (1,), UNSET, "Trainer 6"),
        ("0.31", UNSET, (0, 2), UNSET, "Trainer{0-1}"),
        (UNSET, "NameError: x", (9,), ("t5",), "Trainer{4-5}"),
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (answers("1", "2", "3", "6"), Statistics(min=1, max=6, mean=3, std=3.5**0.5, nan=0, inf=0)),
        (answers("0.5", "nan", "-inf"), Statistics(min=0.5, max=0.5, mean=0.5, std=0, nan=1, inf=1)),
        (answers("nan"), Statistics(min=None, max=None, mean=None, std=None, nan=1, inf=0)),
        (answers("1e308", "-1e308"), Statistics(min=-1e308, max=1e308, mean=0, std=1e308, nan=0, inf=0)),
        (answers("0", "0"), Statistics(min=0, max=0, mean=0, std=0, nan=0, inf=0)),
        ([*answers("2"), FAILED], Statistics(min=2, max=2, mean=2, std=0, nan=0, inf=0)),
        ([FAILED], None),
        (answers("1", "'x'", kind="str"), None),
        (answers("1", "[2]"), None),
        ([], None),
    ],
)
def test_statistics_of_numbers(found: list[Answer], expected: Statistics | None) -> None:
    told = statistics(found)
    assert (told is None) == (expected is None)
    if told is not None and expected is not None:
        assert msgspec.structs.asdict(told) == pytest.approx(msgspec.structs.asdict(expected))
