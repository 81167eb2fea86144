"""Summaries of values of this process, made by the code that runs in workers."""

import json
import math
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import calls
from support.installed import enter_here, installed

WORKER = SimpleNamespace()
"""The functions about arrays, as they are in a worker."""
for module in vars(installed("array_libraries")).values():
    if isinstance(module, ModuleType):
        vars(WORKER).update(vars(module))


def summary(value: object, seconds: float = 60.0) -> dict[str, Any]:
    """Return the summary that a worker would send of a value; for an array, its numbers."""
    enter_here()
    told = eval(calls.summary("value", seconds), {"value": value})
    assert len(told) < 1100
    found: dict[str, Any] = json.loads(told)
    return found.get("array") or found


def library(name: str) -> Any:
    """Import torch or jax; skip the test where the library is not installed, because both are large."""
    return pytest.importorskip(name, reason=f"{name} is not installed here")


def numbers(found: dict[str, Any]) -> tuple[object, ...]:
    return tuple(found[name] for name in ("min", "max", "mean", "std", "nan", "inf"))


def some(numpy: Any, rows: int = 1500, columns: int = 1000) -> Any:
    """Return an array of floats, three of which are not finite."""
    array = numpy.random.default_rng(0).normal(5.0, 2.0, (rows, columns)).astype("f4")
    array[0, 0], array[1, 1], array[2, 2] = math.nan, math.inf, -math.inf
    return array
