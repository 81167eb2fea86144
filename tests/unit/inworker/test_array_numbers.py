"""What is said of arrays, in this process; tests/inworker asks for it in workers.

torch and jax are large, so they are tested where they are installed."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from raydap.inworker import calls

Summary = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def summary() -> Summary:
    """The functions as a worker gets them."""

    def summary(value: object, seconds: float = 60.0) -> dict[str, Any]:
        told = eval(calls.summary("value", seconds), {"value": value})
        assert len(told) < 1100
        found: dict[str, Any] = json.loads(told)
        return found.get("array") or found

    return summary


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed here")


def numbers(found: dict[str, Any]) -> tuple[object, ...]:
    return tuple(found[name] for name in ("min", "max", "mean", "std", "nan", "inf"))


def some(numpy: Any, rows: int = 1500, columns: int = 1000) -> Any:
    array = numpy.random.default_rng(0).normal(5.0, 2.0, (rows, columns)).astype("f4")
    array[0, 0], array[1, 1], array[2, 2] = math.nan, math.inf, -math.inf
    return array


def test_numpy(summary: Summary) -> None:
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


def test_an_array_that_takes_too_long_is_looked_at_in_part(summary: Summary) -> None:
    numpy = library("numpy")
    array = some(numpy, 4000)
    found = summary(array, seconds=0)
    assert 0 < found["sampled"] < 1
    assert found["hash"] == ""
    assert found["places"] == summary(array)["places"] != ""
    # The end is one of the places.
    array[3999, 999] += 1
    assert summary(array, seconds=0)["places"] != found["places"]


def test_large_numbers_lose_no_digits(summary: Summary) -> None:
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
        ("numpy.array(['2026-01-01'], 'M8[D]')", (None, None, None, None, 0, 0)),
        ("numpy.zeros(2, [('a', 'i4'), ('b', 'f8')])", (None, None, None, None, 0, 0)),
        ("numpy.full(2, 1.7e308)", (1.7e308, 1.7e308, None, None, 0, 0)),
    ],
)
def test_kinds_of_elements(summary: Summary, text: str, expected: tuple[object, ...]) -> None:
    numpy = library("numpy")
    found = summary(eval(text, {"numpy": numpy}))
    assert numbers(found) == pytest.approx(expected)
    assert found["sampled"] == 1.0


def test_an_array_that_is_one_number(summary: Summary) -> None:
    numpy = library("numpy")
    assert summary(numpy.float32(0.5))["text"] in ("np.float32(0.5)", "0.5")
    assert summary(numpy.array(0.5))["text"] == "0.5"


def test_arrays_in_containers_count(summary: Summary) -> None:
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


def test_pandas(summary: Summary) -> None:
    pandas = library("pandas")
    table = pandas.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", None]})
    found = summary(table)
    assert found["shape"] == [3, 2]
    assert numbers(found) == (1, 3, 2, 1, 2, 0)
    assert summary(table.copy()) == found
    table.loc[1, "y"] = "c"
    assert summary(table)["hash"] != found["hash"]
    assert numbers(summary(table.x)) == (1, 3, 2, 1, 1, 0)
    assert summary(pandas.DataFrame({"x": range(250_000)}))["sampled"] < 1
    assert summary(pandas.DataFrame())["shape"] == [0, 0]


def test_pyarrow(summary: Summary) -> None:
    arrow = library("pyarrow")
    table = arrow.table({"x": [1, None, 3], "y": ["a", "b", "c"]})
    found = summary(table)
    assert (found["shape"], found["dtype"]) == ([3, 2], "int64, string")
    assert numbers(found) == (1, 3, 2, 1, 1, 0)
    assert numbers(summary(arrow.array([1, 2, 3])))[:3] == (1, 3, 2)
    assert numbers(summary(table.column("x")))[:3] == (1, 3, 2)
    assert summary(arrow.table({"x": [1, None, 3], "y": ["a", "b", "d"]}))["hash"] != found["hash"]
    assert summary(arrow.table({}))["shape"] == [0, 0]


def test_torch(summary: Summary) -> None:
    torch, numpy = library("torch"), library("numpy")
    array = some(numpy)
    tensor = torch.from_numpy(array)
    found = summary(tensor)
    assert numbers(found) == pytest.approx(numbers(summary(array)), rel=1e-5)
    assert (found["dtype"], found["device"]) == ("float32", "cpu")
    assert summary(tensor.t())["hash"] == summary(tensor.t().contiguous())["hash"] != found["hash"]
    assert summary(tensor.clone().requires_grad_())["hash"] == found["hash"]
    assert summary(torch.tensor(0.5))["text"] == "0.5"
    assert numbers(summary(torch.ones(3, dtype=torch.bfloat16)))[:3] == (1, 1, 1)
    assert numbers(summary(torch.tensor([1 + 3j])))[:3] == (1, 3, 2)
    assert numbers(summary(torch.tensor([True, False])))[:3] == (0, 1, 0.5)
    for odd in (torch.ones(2, 2).to_sparse(), torch.ones(2, device="meta")):
        assert summary(odd)["sampled"] == 0
    assert summary(torch.nn.Linear(2, 2).state_dict())["text"].startswith("{'bias': <float32[2] #")
    assert summary(torch.nn.Linear(2, 2))["text"] == "Linear(in_features=2, out_features=2, bias=True)"


def test_jax(summary: Summary) -> None:
    jax, numpy = library("jax"), library("numpy")
    array = some(numpy)
    found = summary(jax.numpy.asarray(array))
    assert numbers(found) == pytest.approx(numbers(summary(array)), rel=1e-5)
    assert summary(jax.numpy.asarray(array))["hash"] == found["hash"]
    array[7, 7] += 1
    assert summary(jax.numpy.asarray(array))["hash"] != found["hash"]
    assert summary(jax.numpy.float32(0.5))["text"] == "0.5"
    assert numbers(summary(jax.numpy.arange(5)))[:3] == (0, 4, 2)
    assert summary(jax.numpy.zeros((0,)))["shape"] == [0]


def test_no_library_is_imported() -> None:
    program = f"value = 3\n{calls.summary('value', 1.0)}\nimport sys\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
