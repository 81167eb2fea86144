"""Descriptions of jax arrays, in a process with four devices."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.arrays import WORKER, library, numbers, some, summary

DEVICES = """\
import json
import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from support.arrays import WORKER, summary

mesh = Mesh(numpy.array(jax.devices()).reshape(2, 2), ("a", "b"))
array = numpy.arange(4_000_000, dtype="f4").reshape(2000, 2000)
found = []
for spec in (PartitionSpec("a", "b"), PartitionSpec(None, "b"), PartitionSpec()):
    shared = jax.device_put(array, NamedSharding(mesh, spec))
    pieces = list({str(each.index): each.data for each in shared.addressable_shards}.values())
    found += [summary(shared), WORKER.compiled_numbers(jax, pieces, float("inf"))]
partly = WORKER.compiled_numbers(jax, pieces[:1] + [pieces[0] + 1], 0)
print(json.dumps([*found, partly, summary(array)]))
"""


@pytest.fixture(scope="module")
def jax() -> Any:
    return library("jax")


def test_numbers_are_those_of_numpy(jax: Any) -> None:
    array = some(library("numpy"))
    found = summary(jax.numpy.asarray(array))
    assert numbers(found) == pytest.approx(numbers(summary(array)))
    assert summary(jax.numpy.asarray(array))["hash"] == found["hash"]
    array[7, 7] += 1
    assert summary(jax.numpy.asarray(array))["hash"] != found["hash"]
    assert 0 < summary(jax.numpy.zeros((4000, 1000)), seconds=0)["sampled"] < 1
    assert summary(jax.numpy.zeros((0, 3)))["shape"] == [0, 3]
    assert summary(jax.numpy.float32(0.5))["text"] == "0.5"


@pytest.mark.parametrize(
    "dtype",
    ["float16", "bfloat16", "float32", "int4", "int8", "uint8", "int32", "bool", "complex64", "float8_e4m3fn"],
)
def test_kinds_of_elements(jax: Any, dtype: str) -> None:
    array = (jax.numpy.arange(2000) % 2).astype(dtype)
    mean, std = (0.25, pytest.approx(0.4330127)) if dtype == "complex64" else (0.5, 0.5)
    assert numbers(summary(array)) == (0, 1, mean, std, 0, 0)
    if dtype != "int4":  # An int4 has no bits of its own that could be read as another type.
        found = WORKER.compiled_numbers(jax, [array], float("inf"))
        assert numbers(found) == (0, 1, mean, std, 0, 0)
        turned = WORKER.compiled_numbers(jax, [array[::-1]], float("inf"))
        assert found["hash"] != turned["hash"]


def test_a_cpu_copies_nothing(jax: Any) -> None:
    array = jax.numpy.arange(3000.0)
    (piece,) = array.addressable_shards
    assert library("numpy").asarray(piece.data).ctypes.data == array.unsafe_buffer_pointer()


def test_what_has_no_numbers_says_why(jax: Any) -> None:
    deleted, number = jax.numpy.ones(2000), jax.numpy.ones(())
    deleted.delete()
    number.delete()
    donated = jax.numpy.ones(2000)
    jax.jit(lambda array: array + 1, donate_argnums=0)(donated)
    for each in (deleted, number, donated):
        assert (summary(each)["reason"], summary(each)["hash"]) == ("it was deleted", "")
    key, keys = jax.random.key(0), jax.random.split(jax.random.key(0), 2000)
    assert summary(key)["hash"] == summary(jax.random.key(0))["hash"] != summary(jax.random.key(1))["hash"]
    assert (summary(keys)["dtype"], summary(keys)["min"], summary(keys)["sampled"]) == ("key<fry>", None, 1.0)
    # The text of such an array leaves out its middle.
    assert summary(keys)["hash"] != summary(keys.at[1000].set(keys[0]))["hash"]


def test_an_array_that_is_not_computed_yet_is_not_waited_for_long() -> None:
    class Pending:
        def is_deleted(self) -> bool:
            return False

        def is_ready(self) -> bool:
            return False

    with pytest.raises(TimeoutError, match="its device is busy"):
        WORKER.check_jax(Pending(), 0.0)


def test_a_traced_function_is_unchanged(jax: Any) -> None:
    outer, key = jax.numpy.arange(6000.0), jax.random.key(0)
    seen: list[Any] = []

    def plain(inner: Any) -> Any:
        return inner + 1

    def stopped(inner: Any) -> Any:
        seen.extend([summary(outer), summary(inner)["text"], summary(key)])
        return plain(inner)

    traced = [str(jax.make_jaxpr(each)(outer)) for each in (plain, stopped)]
    jax.vmap(stopped)(outer)
    jax.grad(lambda array: stopped(array).sum())(outer)
    assert traced[0] == traced[1]
    assert seen[::3] == [summary(outer)] * 3
    assert "float32[6000]" in seen[1]
    assert seen[2::3] == [summary(key)] * 3


def test_settings_of_the_users_do_not_matter(jax: Any) -> None:
    outer = jax.numpy.arange(3000)
    expected = summary(outer)
    compiled = WORKER.compiled_numbers(jax, [outer], float("inf"))
    for setting in (
        jax.numpy_dtype_promotion("strict"),
        jax.transfer_guard("disallow"),
        jax.debug_nans(True),
        jax.disable_jit(),
        jax.checking_leaks(),
    ):
        with setting:
            assert summary(outer) == expected
            with WORKER.without_jax_modes():
                assert WORKER.compiled_numbers(jax, [outer], float("inf")) == compiled


def test_an_array_on_several_devices_is_looked_at_where_it_lies(jax: Any) -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", DEVICES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    *found, partly, expected = json.loads(done.stdout.splitlines()[-1])
    for each in found:
        assert numbers(each) == pytest.approx(numbers(expected), rel=1e-5)
        assert (each["sampled"], len(each["hash"])) == (1.0, 16)
    assert found[0]["device"].count(",") == 3
    # Equal pieces count once.
    assert found[4]["shape"] == [2000, 2000]
    assert (partly["sampled"], partly["hash"], len(partly["places"])) == (0.5, "", 16)
