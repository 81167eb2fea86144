"""The values of large arrays of torch and jax in real workers, tested where the libraries are installed."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.variables import Variables

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

TORCH = """\
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

class Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise RuntimeError("an operation")

class Function(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        raise RuntimeError("a function")

def step(mode):
    large = torch.arange(50_000.0).reshape(25_000, 2)
    learned = torch.nn.Parameter(large.clone())
    halves = large.to(torch.bfloat16).t()
    freed = torch.ones(5_000)
    freed.untyped_storage().resize_(0)
    sparse = torch.eye(60).to_sparse()
    meta = torch.ones(5_000, device="meta")
    state = torch.get_rng_state().sum().item()
    with mode():
        breakpoint()
    assert state == torch.get_rng_state().sum().item()
    assert (large._version, learned._version, learned.grad, learned.requires_grad) == (0, 0, None, True)

step(MODE)
"""

JAX = """\
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

large = jax.numpy.arange(50_000.0).reshape(25_000, 2)
mesh = Mesh(numpy.array(jax.devices()), "x")
arrays = {
    "large": large,
    "shared": jax.device_put(large, NamedSharding(mesh, PartitionSpec("x"))),
    "halves": large.astype("bfloat16"),
    "deleted": large + 1,
    "keys": jax.random.split(jax.random.key(0), 2000),
}
arrays["deleted"].delete()

def step(inner, large, shared, halves, deleted, keys):
    breakpoint()
    return inner + 1

if "WHERE" == "traced":
    expected = str(jax.make_jaxpr(lambda inner: inner + 1)(large))
    assert str(jax.make_jaxpr(lambda inner: step(inner, **arrays))(large)) == expected
else:
    step(1, **arrays)
"""


def stopped(start: Start, source: str) -> tuple[Variables, Debuggee]:
    worker, debuggee = start(source)
    _, _, thread = worker.stop()
    worker.client.request("evaluate", expression=calls.show_arrays(), context="clipboard")
    return Variables(worker, thread), debuggee


def texts(variables: Variables, *names: str) -> dict[str, str]:
    """Return the values of the variables, once the numbers of these arrays are known.

    Each listing takes at most a tenth of a second, so a busy machine may need several.
    """
    shown: dict[str, str] = {}
    while not all(", " in shown.get(name, "") for name in names):
        listed = {name: text for name, text in variables.texts().items() if name in names}
        shown.update((name, text) for name, text in listed.items() if ", " in text)
    return {**variables.texts(), **shown}


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
@pytest.mark.parametrize("mode", ["torch.enable_grad", "torch.inference_mode", "Dispatch", "Function"])
def test_tensors(start: Start, mode: str) -> None:
    variables, debuggee = stopped(start, TORCH.replace("MODE", mode))
    shown = texts(variables, "large", "learned", "halves", "freed", "sparse", "meta")
    numbers = "min 0, max 49999, mean 24999.5, std 14433.8"
    assert shown["large"] == shown["learned"] == f"float32[25000,2] on cpu, {numbers}"
    assert shown["halves"].startswith("bfloat16[2,25000] on cpu, min 0, max 49920, mean ")
    assert shown["freed"] == "float32[5000] on cpu, no numbers (its memory was freed)"
    assert shown["sparse"] == "float32[60,60] on cpu, no numbers (sparse_coo)"
    assert shown["meta"] == "float32[5000] on meta, no numbers (meta)"
    local = variables.locals()
    parts = variables.parts(local["learned"])
    assert (parts["requires_grad"]["value"], parts["grad"]["value"], parts["max"]["value"]) == (
        "True",
        "None",
        "49999.0",
    )
    assert variables.parts(local["freed"])["no numbers"]["value"] == "'its memory was freed'"
    rows = variables.parts(variables.parts(variables.parts(local["large"])["[20000:25000]"])["[24900:25000]"])
    assert (len(rows), list(rows)[-1]) == (100, "[24999]")
    if mode == "torch.enable_grad":  # The text of a small tensor comes from its class.
        assert rows["[24999]"]["value"] == "tensor([49998., 49999.])"
    variables.worker.client.request("disconnect")
    assert debuggee.child.wait() == 0


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed here")
@pytest.mark.parametrize("where", ["plain", "traced"])
def test_arrays_of_jax(start: Start, where: str) -> None:
    variables, debuggee = stopped(start, JAX.replace("WHERE", where))
    shown = texts(variables, "large", "shared", "halves", "deleted")
    numbers = "min 0, max 49999, mean 24999.5, std 14433.8"
    assert shown["large"] == f"float32[25000,2] on cpu:0, {numbers}"
    assert shown["shared"] == f"float32[25000,2] on cpu:0,cpu:1,cpu:2,cpu:3, {numbers}"
    assert shown["halves"].startswith("bfloat16[25000,2] on cpu:0, min 0, max 49920, mean ")
    assert shown["deleted"] == "float32[25000,2] on cpu:0, no numbers (it was deleted)"
    assert shown["keys"] == "key<fry>[2000] on cpu:0"
    local = variables.locals()
    assert variables.parts(local["deleted"])["no numbers"]["value"] == "'it was deleted'"
    for name in ("large", "shared"):
        parts = variables.parts(local[name])
        assert (parts["max"]["value"], parts["shape"]["value"]) == ("49999.0", "(25000, 2)")
        rows = variables.parts(variables.parts(parts["[20000:25000]"])["[24900:25000]"])
        assert (len(rows), rows["[24999]"]["value"]) == (100, "Array([49998., 49999.], dtype=float32)")
    assert "no numbers" not in variables.parts(local["keys"])
    variables.worker.client.request("disconnect")
    assert debuggee.child.wait() == 0
