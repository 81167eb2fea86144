"""Descriptions of numpy, pandas and pyarrow arrays in this process. tests/inworker gets them from workers."""

import math
import subprocess
import sys

import pytest

from raydap.inworker import calls
from support.arrays import library, numbers, some, summary


def test_numpy() -> None:
    numpy = library("numpy")
    array = some(numpy)
    finite = array[numpy.isfinite(array)].astype("f8")
    found = summary(array)
    assert (found["shape"], found["dtype"], found["sampled"]) == ([1500, 1000], "float32", 1.0)
    assert numbers(found) == (
        finite.min(),
        finite.max(),
        pytest.approx(finite.mean()),
        pytest.approx(finite.std()),
        1,
        2,
    )
    assert summary(numpy.asfortranarray(array)) == found
    for place in ((0, 1), (1499, 999)):
        other = array.copy()
        other[place] += 1
        assert summary(other)["hash"] != found["hash"]
    swapped = array.copy()
    swapped[[5, 6]] = swapped[[6, 5]]
    assert summary(swapped)["hash"] != found["hash"]


def test_places_count() -> None:
    numpy = library("numpy")
    for kind in ("f8", "f4", "u1", "?"):
        one, other = (numpy.array(each, kind) for each in ([1, 0, 0, 1], [0, 1, 1, 0]))
        assert summary(one)["hash"] != summary(other)["hash"]
    # Each array has two negative elements, at other places.
    signs = [numpy.ones(5000, "f4") for _ in range(4)]
    for number, each in enumerate(signs):
        each[[number, 4000 + number]] = -1
    assert len({summary(each)["hash"] for each in signs}) == 4


def test_long_texts_are_looked_at_a_few_at_a_time() -> None:
    numpy = library("numpy")
    texts = numpy.full(6000, "x", "U1000")
    found = summary(texts)
    assert (found["sampled"], found["places"] != "") == (1.0, True)
    texts[4321] = "y"
    assert summary(texts)["hash"] != found["hash"]


def test_an_array_that_takes_too_long_is_looked_at_in_part() -> None:
    numpy = library("numpy")
    array = some(numpy, 4000)
    found = summary(array, seconds=0)
    assert 0 < found["sampled"] < 1
    assert found["hash"] == ""
    assert found["places"] == summary(array)["places"] != ""
    # The last element is one of the compared places.
    array[3999, 999] += 1
    assert summary(array, seconds=0)["places"] != found["places"]


def test_large_numbers_lose_no_digits() -> None:
    numpy = library("numpy")
    array = 1e9 + numpy.random.default_rng(0).random(2_500_000)
    assert summary(array)["std"] == pytest.approx(array.std(), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy.arange(5)", (0, 4, 2, math.sqrt(2), 0, 0)),
        ("numpy.array([True, False])", (0, 1, 0.5, 0.5, 0, 0)),
        ("numpy.array([1 + 3j])", (1, 3, 2, 1, 0, 0)),
        ("numpy.ones(3, 'f2')", (1, 1, 1, 0, 0, 0)),
        ("numpy.array([numpy.nan])", (None, None, None, None, 1, 0)),
        ("numpy.zeros((0, 3))", (None, None, None, None, 0, 0)),
        ("numpy.array(['a', 'bcd'])", (None, None, None, None, 0, 0)),
        ("numpy.array(['a', {}], object)", (None, None, None, None, 0, 0)),
        ("numpy.array(['', ''])", (None, None, None, None, 0, 0)),
        ("numpy.zeros(3, 'V5')", (None, None, None, None, 0, 0)),
        ("numpy.array([[1, 2], [3, 4]]).view(numpy.matrix)", (1, 4, 2.5, math.sqrt(1.25), 0, 0)),
        ("numpy.ma.array([1, 2], mask=[True, False])", (1, 2, 1.5, 0.5, 0, 0)),
        ("numpy.array(['2026-01-01'], 'M8[D]')", (None, None, None, None, 0, 0)),
        ("numpy.zeros(2, [('a', 'i4'), ('b', 'f8')])", (None, None, None, None, 0, 0)),
        ("numpy.full(2, 1.7e308)", (1.7e308, 1.7e308, None, None, 0, 0)),
    ],
)
def test_kinds_of_elements(text: str, expected: tuple[object, ...]) -> None:
    numpy = library("numpy")
    found = summary(eval(text, {"numpy": numpy}))
    assert numbers(found) == pytest.approx(expected)
    assert found["sampled"] == 1.0


def test_an_array_that_is_one_number() -> None:
    numpy = library("numpy")
    assert summary(numpy.float32(0.5))["text"] in ("np.float32(0.5)", "0.5")
    assert summary(numpy.array(0.5))["text"] == "0.5"


def test_arrays_in_containers_count() -> None:
    numpy = library("numpy")
    state = {"b": numpy.zeros(3), "a": [numpy.ones((2, 2), "i1")]}
    found = summary(state)
    assert found["text"].startswith("{'a': [<int8[2,2] #")
    assert summary(dict(reversed(state.items()))) == found
    state["b"][1] = 1
    assert summary(state)["hash"] != found["hash"]
    large = {"w": some(numpy, 4000)}
    assert summary(large, seconds=0)["hash"] == ""
    assert summary(large, seconds=0)["places"] == summary(large)["places"]


def test_pandas() -> None:
    pandas = library("pandas")
    table = pandas.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", None]})
    found = summary(table)
    assert found["shape"] == [3, 2]
    assert numbers(found) == (1, 3, 2, 1, 2, 0)
    assert summary(table.copy()) == found
    table.loc[1, "y"] = "c"
    assert summary(table)["hash"] != found["hash"]
    assert numbers(summary(table.x)) == (1, 3, 2, 1, 1, 0)
    for kind in ("Int64", "Float64"):
        assert numbers(summary(pandas.Series(pandas.array([1, None, 3], dtype=kind)))) == (1, 3, 2, 1, 1, 0)
    assert summary(pandas.Series([[1], {}]))["type"] == "Series"  # pandas itself cannot compare these values.
    assert summary(pandas.DataFrame())["shape"] == [0, 0]
    large = pandas.DataFrame({"x": range(2_000_000), "y": 0.5})
    found = summary(large)
    # The numbers are those of all rows, but only some rows are compared.
    assert (found["max"], found["sampled"], found["hash"], len(found["places"])) == (1_999_999, 1.0, "", 16)
    assert 0 < summary(large, seconds=0)["sampled"] < 1


def test_pyarrow() -> None:
    arrow = library("pyarrow")
    table = arrow.table({"x": [1, None, 3], "y": ["a", "b", "c"]})
    found = summary(table)
    assert (found["shape"], found["dtype"]) == ([3, 2], "int64, string")
    assert numbers(found) == (1, 3, 2, 1, 1, 0)
    assert numbers(summary(arrow.array([1, 2, 3])))[:3] == (1, 3, 2)
    assert numbers(summary(table.column("x")))[:3] == (1, 3, 2)
    assert summary(arrow.table({"x": [1, None, 3], "y": ["a", "b", "d"]}))["hash"] != found["hash"]
    assert summary(arrow.table({}))["shape"] == [0, 0]
    for kind in (arrow.float16(), arrow.bool_(), arrow.list_(arrow.int8()), arrow.timestamp("ns"), arrow.null()):
        assert summary(arrow.nulls(3, kind))["nan"] == 3
    large = arrow.chunked_array([arrow.array(range(700_000))] * 2)
    found = summary(large)
    assert (found["max"], found["mean"], found["sampled"], found["hash"]) == (699_999, 349_999.5, 1.0, "")
    assert 0 < summary(large, seconds=0)["sampled"] < 1


def test_no_library_is_imported() -> None:
    program = f"value = 3\n{calls._entered()}\n{calls.summary('value', 1.0)}\nimport sys\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_large_array_has_a_histogram_of_some_elements() -> None:
    numpy = library("numpy")
    found = summary(numpy.arange(1_200_000, dtype="f4") % 12)["histogram"]
    assert (found["low"], found["high"], len(found["counts"])) == (0, 11, 12)
    assert 4000 < sum(found["counts"]) <= 4096
    assert max(found["counts"]) - min(found["counts"]) < 10
    few = numpy.array([math.nan, math.inf, *range(120)])
    assert summary(few)["histogram"] == {"low": 0, "high": 119, "counts": [10] * 12}
    assert summary(numpy.asfortranarray(few.reshape(2, -1)))["histogram"]["high"] == 119
    for none in (
        few[:50],
        numpy.ones(1000),
        numpy.array(["a"] * 1000),
        numpy.full(1000, math.nan),
        numpy.ones(1000) * 1j,
    ):
        assert "histogram" not in summary(none), none
