"""raydap/compare compares the values of many threads."""

from typing import Any

import pytest

from raydap.core.effects import Log
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

ARRAY: dict[str, Any] = {
    "shape": [2],
    "dtype": "int8",
    "device": "cpu",
    "min": 1,
    "max": 2,
    "mean": 1.5,
    "std": 0.5,
    "nan": 0,
    "inf": 0,
}


def stopped(play: Play, client: FakeClient, *keys: str) -> list[FakeWorker]:
    workers = play.attached(*keys)
    for worker in workers:
        worker.stop()
        client.stop()
    return workers


def number(text: str) -> dict[str, Any]:
    return {"type": "float", "text": text, "hash": text, "places": text, "whole": True}


def test_equal_values_are_groups(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2", "w3")
    for worker, text in zip(workers, ("0.5", "1.5", "0.5"), strict=True):
        worker.values["loss"] = number(text)
    answer = client.request("raydap/compare", expression="loss")
    assert [(each["value"], len(each["members"])) for each in answer["groups"]] == [("1.5", 1), ("0.5", 2)]
    assert answer["statistics"]["max"] == answer["histogram"]["high"] == 1.5
    assert answer["histogram"]["lowest"]["members"] == answer["groups"][1]["members"]
    assert answer["silent"] == []
    assert "change" not in answer
    assert len(client.request("raydap/compare", expression="loss", select="pid:101")["groups"]) == 1


def test_arrays_are_described_by_their_numbers(play: Play) -> None:
    client = play.session()
    (worker,) = stopped(play, client, "w1")
    worker.values["x"] = {"type": "Tensor", "array": {**ARRAY, "sampled": 1.0, "hash": "h", "places": ""}}
    answer = client.request("raydap/compare", expression="x")
    (group,) = answer["groups"]
    assert group["array"]["shape"] == [2]
    assert group["value"] == "int8[2] on cpu, min 1, max 2, mean 1.5, std 0.5"
    assert "statistics" not in answer


def test_values_are_kept_for_later(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2")
    for worker in workers:
        worker.values["loss"] = number("1.0")
    client.request("raydap/compare", expression="loss", keep="before")
    workers[0].values["loss"] = number("3.0")
    change = client.request("raydap/compare", expression="loss", baseline="before")["change"]
    assert len(change["changed"]["members"]) == len(change["unchanged"]["members"]) == 1
    assert change["statistics"]["max"] == 2.0
    # A name can be reused, even by a request that compares with its old value.
    client.request("raydap/compare", expression="loss", baseline="before", keep="before")
    change = client.request("raydap/compare", expression="loss", baseline="before")["change"]
    assert len(change["unchanged"]["members"]) == 2


def test_errors_are_groups_and_silent_threads_are_named(play: Play) -> None:
    client = play.session()
    first, second, third = stopped(play, client, "w1", "w2", "w3")
    second.values["x"] = {"type": 3}
    third.hold = {"evaluate"}
    request = client.send("raydap/compare", expression="x", timeout=2.0)
    play.tick(3)
    assert "Expected `str`" in play.take(Log).text
    answer = client.answer(request)
    assert len(answer["silent"]) == 1
    assert {each.get("error") or each["value"] for each in answer["groups"]} == {
        "The worker's answer cannot be decoded; see the log.",
        f"'x of {first.key}'",
    }


def test_a_worker_that_dies_during_the_comparison_is_a_group_of_its_own(play: Play) -> None:
    client = play.session()
    workers = stopped(play, client, "w1", "w2")
    workers[0].hold = {"evaluate"}
    request = client.send("raydap/compare", expression="x", keep="before")
    workers[0].die()
    client.told(Code.WORKER_GONE)
    groups = client.answer(request)["groups"]
    client.event("thread")
    assert sorted("error" in each for each in groups) == [False, True]
    assert client.request("raydap/compare", expression="x", baseline="before")["change"]["changed"]["members"] == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"expression": " "}, "is empty"),
        ({"expression": "x", "timeout": 0}, "must be above 0"),
        ({"expression": "x", "keep": "a b"}, "letters, digits, - and _ only"),
        ({"expression": "x", "baseline": "b"}, 'No values are kept as "b" (there are before)'),
        ({"expression": "x", "select": "actr:A"}, "did you mean actor"),
    ],
)
def test_wrong_arguments_are_named(play: Play, arguments: dict[str, Any], expected: str) -> None:
    client = play.session()
    stopped(play, client, "w1")
    client.request("raydap/compare", expression="x", keep="before")
    assert expected in client.refused(Code.BAD_ARGUMENT, "raydap/compare", **arguments)


def test_values_are_kept_under_twenty_names(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1")
    for name in range(20):
        client.request("raydap/compare", expression="x", keep=f"n{name}")
    assert "20 names" in client.refused(Code.BAD_ARGUMENT, "raydap/compare", expression="x", keep="another")
    client.request("raydap/compare", expression="x", keep="n3")
