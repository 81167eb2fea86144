"""The comparison of watched values, and the lines of a function at which an expression is evaluated."""

import ast
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import watched_code, watched_values
from raydap.inworker.watched_places import variables_of
from raydap.inworker.watchpoints import is_wanted

NAN = float("nan")


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, True, False),
        (NAN, float("nan"), True),
        (1.0, NAN, False),
        ("a" * 20_000, "a" * 20_000, True),
        ("a" * 20_000, "a" * 19_999 + "b", False),
        ("\udc80" * 20_000, "\udc80" * 20_000, True),
        ([1, [2, NAN]], [1, [2, float("nan")]], True),
        ([1, [2, 3]], [1, [2, 4]], False),
        ([1], (1,), False),
        ({"a": {1, 2}}, {"a": {2, 1}}, True),
        ({"a": 1}, {"b": 1}, False),
        (bytearray(b"a"), bytearray(b"a"), True),
    ],
)
def test_equal_values_are_the_same(before: object, after: object, is_same: bool) -> None:
    assert watched_values.is_same(watched_values.mark_of(before), watched_values.mark_of(after)) is is_same


def test_a_large_list_is_compared_by_its_length() -> None:
    many = list(range(1000))
    before = watched_values.mark_of(many)
    many[0] = -1
    assert watched_values.is_same(before, watched_values.mark_of(many))
    many.append(1)
    assert not watched_values.is_same(before, watched_values.mark_of(many))
    assert "list of 1001 items is too large" in watched_values.uncompared(many)


def test_what_is_compared_needs_no_sentence() -> None:
    for value in (1, "a", None, [1, 2], {"a": (1,)}):
        assert watched_values.uncompared(value) == ""
    assert "has no content that can be compared" in watched_values.uncompared(SimpleNamespace())
    assert watched_values.text_of(watched_values.MISSING) == "no value"


def test_arrays_of_numpy_are_compared_by_their_content() -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.zeros(3)
    before = watched_values.mark_of(array)
    array[1] = 5
    assert not watched_values.is_same(before, watched_values.mark_of(array))
    assert watched_values.uncompared(array) == ""
    assert "too large" in watched_values.uncompared(numpy.zeros(100_000))
    assert watched_values.text_of(numpy.float64(0.5)) == "0.5"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", [1, 2, 3]),
        ("2", [2]),
        ("== 2", [2]),
        (">= 2", [2, 3]),
        ("> 2", [3]),
        ("<2", [1]),
        ("<= 2", [1, 2]),
        ("% 2", [2]),
        ("%0", []),
    ],
)
def test_hit_conditions(text: str, wanted: list[int]) -> None:
    assert [count for count in (1, 2, 3) if is_wanted(text, count)] == wanted


def loop(model: Any, count: int) -> float:
    loss, other = 1.0, 0.0  # 1
    for step in range(count):  # 2
        other = step * 2.0  # 3
        model.update(step)  # 4
        loss = other + 1  # 5
        other = 3.0  # 6
    return loss  # 7


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
@pytest.mark.parametrize(
    ("expression", "lines"), [("loss", {2, 6}), ("loss != loss", {2, 6}), ("other", {2, 4}), ("model.scale", {5})]
)
def test_an_expression_is_evaluated_after_the_lines_that_may_change_it(expression: str, lines: set[int]) -> None:
    tree = ast.parse(expression, mode="eval")
    uses, _ = watched_code.lines_to_check(loop.__code__, watched_code.roots_of(tree), watched_code.is_plain(tree))
    found = {line - loop.__code__.co_firstlineno for line, use in uses.items() if use.evaluates}
    assert found == lines


def test_a_function_is_known_by_a_line() -> None:
    code, first = loop.__code__, loop.__code__.co_firstlineno
    assert watched_code.contains(code, first + 3, "")
    assert watched_code.contains(code, first + 3, "loop")
    assert not watched_code.contains(code, first + 3, "other")
    assert not watched_code.contains(code, first + 30, "loop")


@pytest.mark.parametrize(
    ("text", "is_condition"), [("a != a", True), ("not a", True), ("a and b", True), ("a", False), ("f(a)", False)]
)
def test_conditions_are_comparisons(text: str, is_condition: bool) -> None:
    assert watched_code.is_condition(ast.parse(text, mode="eval")) is is_condition


def test_an_evaluation_sees_the_variables_and_the_globals() -> None:
    def function(value: int, other: int) -> Any:
        return sys._getframe()

    frame = function(3, 4)
    evaluate = watched_code.evaluator("[each * value for each in (other, len(NAMES))]", frame.f_code, None)
    assert evaluate(frame, variables_of(frame)) == [12, 3]
    plain = watched_code.evaluator("value > 2", frame.f_code, frozenset({int}))
    assert plain(frame, {"value": 3}) is True
    with pytest.raises(watched_code.NotPlainError):
        plain(frame, {"value": [3]})


NAMES = ["one"]
