"""Numbers in the `repr()` of a worker's values. Text that only resembles a number does not fail a request."""

import math

import pytest

from raydap.presentation.numbers import counted, digits, natural_order, number

NUMBERS = {"0.5": 0.5, "np.float32(0.5)": 0.5, "tensor(2., device='cuda:0')": 2.0, "-1e3": -1000.0, "1_000": 1000.0}

NONE = ["1__0", "1_", "1_.5", "tensor(1__0)", "1e", "", "x", "0x10", "1 2", "9" * 5000]


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number(text: str) -> None:
    assert number(text, "float") == NUMBERS[text]


@pytest.mark.parametrize("text", NONE)
def test_no_number(text: str) -> None:
    assert number(text, "Mine") is None


def test_a_number_that_is_too_large_for_a_float_is_infinite() -> None:
    assert number("9" * 400, "int") == math.inf


def test_numbers_in_names_are_in_their_order_however_long_they_are() -> None:
    names = ["worker_2", "worker_10", "worker_1" + "0" * 5000, "worker_x", "worker_007"]
    assert sorted(names, key=natural_order) == ["worker_2", "worker_007", "worker_10", names[2], "worker_x"]


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (3.0, "3"), (0.25, "0.25"), (1 / 3, "0.3333"), (1e20, "1e+20")])
def test_a_number_has_all_digits_of_an_integer_and_four_of_others(value: float, text: str) -> None:
    """A decoded number can be an int."""
    assert digits(value) == text


def test_a_count_has_its_noun() -> None:
    assert [counted(each, "hit") for each in (0, 1, 12_034)] == ["0 hits", "1 hit", "12,034 hits"]
    assert [counted(each, "process") for each in (1, 2)] == ["1 process", "2 processes"]
