"""Groups of equal values, their distribution, and the members that have changed."""

from typing import Any

import pytest
from msgspec import UNSET, structs

from raydap.analysis.sets.compared_value import ArrayNumbers, Summary
from raydap.analysis.sets.comparing import Compared, change, groups, histogram
from raydap.analysis.sets.folding import Holder
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.types import Handle
from raydap.protocol.value_messages import ComparisonGroup


def answer(rank: int, summary: Summary) -> Compared:
    known: dict[str, Any] = {"name": "", "where": "", "state": "stopped", "age": 0.0, "type": "worker", "node": "n"}
    known |= {"node_id": "", "job": "1", "submission": "", "task": "", "agent": True, "threads": (), "problem": ""}
    entry = WorkerEntry(
        key=f"t{rank}", actor="Trainer", actor_name="", pid=rank, title=f"Trainer {rank}", label="", rank=rank, **known
    )
    return Compared(Holder(100 + rank, entry), summary)


def of(*summaries: Summary) -> list[Compared]:
    return [answer(rank, summary) for rank, summary in enumerate(summaries)]


def plain(text: str, kind: str = "float", **other: Any) -> Summary:
    return Summary(type=kind, text=text, hash=f"h{text}", places=f"p{text}", **other)


def array(**other: Any) -> Summary:
    known: dict[str, Any] = {"shape": (2, 3), "dtype": "float32", "device": "cpu", "min": -1.0, "max": 1.0, "mean": 0.5}
    known |= {"std": 0.25, "nan": 0, "inf": 0, "sampled": 1.0, "hash": "h", "places": "p"}
    return Summary(type="Tensor", array=ArrayNumbers(**{**known, **other}))


def shown(found: tuple[ComparisonGroup, ...]) -> list[tuple[object, ...]]:
    return [(each.label, each.error if each.value is UNSET else each.value, each.difference or "") for each in found]


def test_the_largest_group_is_the_last_and_the_others_differ_from_it() -> None:
    same = "{'lr': 0.1, 'n': 1}"
    found = groups(of(plain(same), plain("{'lr': 0.3, 'n': 1}"), Summary(error="NameError: x"), plain(same)))
    assert shown(found) == [
        ("Trainer 1", "{'lr': 0.3, 'n': 1}", "['lr'] is 0.3 instead of 0.1"),
        ("Trainer 2", "NameError: x", ""),
        ("Trainer{0,3}", same, ""),
    ]
    assert found[-1].members == (100, 103)


def test_values_are_equal_by_their_hash_and_type() -> None:
    cut = plain("[1, 2, ...")
    assert len(groups(of(cut, structs.replace(cut, hash="other")))) == 2
    assert len(groups(of(plain("1", "int"), plain("1", "str")))) == 2
    (group,) = groups(of(structs.replace(cut, whole=False)))
    assert group.partial


def test_arrays_on_several_devices_are_one_group() -> None:
    found = groups(of(*(array(device=f"cuda:{rank}") for rank in range(6))))
    (group,) = found
    assert group.value == (
        "float32[2,3] on cuda:0, cuda:1, cuda:2, cuda:3, and 2 more, min -1, max 1, mean 0.5, std 0.25"
    )
    assert not group.partial


def test_arrays_that_differ() -> None:
    found = groups(of(array(), array(), array(shape=(3, 2)), array(dtype="int8"), array(hash="o", nan=2, inf=1)))
    assert [each.difference or "" for each in found] == [
        "the shape is [3,2] instead of [2,3]",
        "the dtype is int8 instead of float32",
        "",
        "",
    ]
    assert str(found[2].value).endswith("std 0.25, 2 nan, 1 inf")


def test_arrays_of_which_one_was_not_wholly_looked_at_are_compared_at_the_same_places() -> None:
    found = groups(of(array(), array(hash="", sampled=0.25), array(hash="o"), array(hash="o", places="o")))
    assert [each.label for each in found] == ["Trainer 3", "Trainer{0-2}"]
    assert str(found[1].value).endswith(", from 25% of the elements")


def test_an_array_without_numbers_says_why_and_does_not_change_how_the_others_are_compared() -> None:
    busy = array(min=None, max=None, mean=None, std=None, sampled=0.0, hash="", places="", reason="its device is busy")
    answers = of(array(), array(hash="o"), array(), busy)
    found = groups(answers)
    assert [each.label for each in found] == ["Trainer 1", "Trainer 3", "Trainer{0,2}"]
    assert found[1].value == "float32[2,3] on cpu, no numbers (its device is busy)"
    before = {Handle(100 + rank): summary for rank, summary in enumerate((array(), busy, array(), busy))}
    changed = change(answers, before)
    assert (changed.unchanged.label, changed.unknown.label) == ("Trainer{0,2}", "Trainer{1,3}")


def test_a_histogram_names_who_is_at_the_ends() -> None:
    found = histogram(of(*(plain(str(each)) for each in (0.0, 0.0, 5.0, 9.9, 10.0)), plain("nan")))
    assert found is not None
    assert (found.low, found.high, found.counts) == (0.0, 10.0, (2, 0, 0, 0, 0, 1, 0, 0, 0, 2))
    assert (found.lowest.label, found.highest.label) == ("Trainer{0-1}", "Trainer 4")


@pytest.mark.parametrize("texts", [(), ("1", "1"), ("nan", "inf")])
def test_equal_numbers_have_no_histogram(texts: tuple[str, ...]) -> None:
    assert histogram(of(*map(plain, texts))) is None


@pytest.mark.parametrize("texts", [("1e308", "-1e308"), ("0.0", "5e-324"), ("1.0", "1.0000000000000002")])
def test_the_largest_and_the_nearest_numbers_have_a_histogram(texts: tuple[str, ...]) -> None:
    found = histogram(of(*map(plain, texts)))
    assert found is not None
    assert found.counts == (1, 0, 0, 0, 0, 0, 0, 0, 0, 1)


def test_changed_members() -> None:
    now = of(plain("1.0"), plain("2.0"), plain("3.5"), plain("4.0"), Summary(error="gone"))
    before = {
        Handle(100 + rank): each.summary for rank, each in enumerate(of(plain("1.0"), plain("1.0"), plain("3.0")))
    }
    found = change(now, before)
    assert (found.unchanged.label, found.changed.label) == ("Trainer 0", "Trainer{1-2}")
    assert found.unknown.label == "Trainer{3-4}"
    assert found.statistics
    assert (found.statistics.min, found.statistics.max, found.statistics.mean) == (0.0, 1.0, 0.5)


def test_arrays_have_changed_where_both_were_looked_at() -> None:
    now = of(array(), array(), array(hash="", places="o"))
    before = {Handle(100 + rank): each.summary for rank, each in enumerate(of(array(), array(hash="o"), array()))}
    found = change(now, before)
    assert (found.unchanged.label, found.changed.label) == ("Trainer 0", "Trainer{1-2}")
    assert found.statistics is UNSET
