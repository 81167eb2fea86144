"""Descriptions of values in a worker that are not arrays."""

import json
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from raydap.inworker import calls
from support.installed import enter_here


def summary(value: object) -> dict[str, Any]:
    enter_here()
    found: dict[str, Any] = json.loads(eval(calls.summary("value", 1.0), {"value": value}))
    return found


class Plain:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.me = self


@dataclass
class Config:
    rate: float
    names: list[str]


class Slotted:
    __slots__ = ("rate",)


class Written:
    def __repr__(self) -> str:
        return f"<Written at {id(self):#x}>"


class Color(Enum):
    RED = 1


class Names(list[str]):
    def __repr__(self) -> str:
        return "names"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ({"b": 1, "a": [(1,), ()]}, "{'a': [(1,), ()], 'b': 1}"),
        ({2: 1, 1: {3, 1, 2}}, "{2: 1, 1: {1, 2, 3}}"),
        (OrderedDict(b=1, a=2), "{'a': 2, 'b': 1}"),
        (defaultdict(int, x=1), "{'x': 1}"),
        (Plain(0.5), "Plain(me=..., rate=0.5)"),
        (Config(0.5, ["a"]), "Config(names=['a'], rate=0.5)"),
        (Slotted(), "<test_value_summary.Slotted object>"),
        (Written(), "<Written>"),
        (Color.RED, "<Color.RED: 1>"),
        (Names("ab"), "names"),
        ("x" * 1000, "'" + "x" * 596 + "..."),
    ],
)
def test_a_value_is_written_the_same_in_each_process(value: object, text: str) -> None:
    assert summary(value)["text"].replace("inworker.", "").replace("unit.", "").replace("tests.", "") == text


def test_what_comes_after_the_text_counts() -> None:
    long = list(range(10_000))
    other = [*long[:-1], 0]
    assert summary(long)["text"] == summary(other)["text"]
    assert summary(long)["hash"] != summary(other)["hash"]
    assert summary(long)["whole"]
    assert not summary(list(range(200_000)))["whole"]


def test_a_value_that_is_deep_or_contains_itself_has_an_end() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert "..." in summary(deep)["text"]
    own: list[Any] = []
    own.append(own)
    assert summary(own)["text"] == "[...]"


def test_sets_are_ordered_whatever_is_in_them() -> None:
    assert summary({1, "a", None})["text"] == "{'a', 1, None}"


def test_what_the_class_raises_is_the_error_of_the_evaluate() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError("no text")

    with pytest.raises(ValueError, match="no text"):
        summary(Broken())
