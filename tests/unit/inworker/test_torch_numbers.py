"""Descriptions of torch tensors in this process, and the limits of what is done to the tensors."""

import math
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from support.arrays import WORKER, library, numbers, some, summary

FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
WHOLE = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")


@pytest.fixture(scope="module")
def torch() -> Any:
    return library("torch")


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE, "complex32", "complex64", "complex128"])
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_kinds_of_elements(torch: Any, dtype: str) -> None:
    tensor, turned = ((torch.arange(*each) % 7).float().to(getattr(torch, dtype)) for each in ((2000,), (1, 2001)))
    found = summary(tensor)
    parts = [each % 7 for each in range(2000)] + ([0] * 2000 if dtype.startswith("complex") else [])
    mean = sum(parts) / len(parts)
    std = math.sqrt(sum((each - mean) ** 2 for each in parts) / len(parts))
    assert numbers(found) == (0, 6, pytest.approx(mean), pytest.approx(std), 0, 0)
    assert (found["dtype"], found["device"], found["sampled"]) == (dtype, "cpu", 1.0)
    assert summary(tensor.clone())["hash"] == found["hash"] != summary(turned)["hash"]


def test_numbers_are_those_of_numpy(torch: Any) -> None:
    numpy = library("numpy")
    array = some(numpy)
    tensor = torch.from_numpy(array)
    found = summary(tensor)
    assert numbers(found) == pytest.approx(numbers(summary(array)))
    assert numbers(summary(torch.tensor([True, False])))[:3] == (0, 1, 0.5)
    assert numbers(summary(torch.full((9,), math.nan))) == (None, None, None, None, 9, 0)
    assert numbers(summary(torch.full((2,), 3e38)))[:2] == (pytest.approx(3e38), pytest.approx(3e38))
    assert summary(torch.zeros(0, 3))["shape"] == [0, 3]
    part = summary(tensor.repeat(4, 1), seconds=0)
    assert (0 < part["sampled"] < 1, part["hash"], part["places"]) == (True, "", summary(tensor.repeat(4, 1))["places"])


def test_the_hash_is_that_of_the_elements_in_their_places(torch: Any) -> None:
    tensor = torch.from_numpy(some(library("numpy")))
    found = summary(tensor)
    turned = summary(tensor.t())
    assert summary(tensor.t().contiguous())["hash"] == turned["hash"] != found["hash"]
    assert summary(tensor.clone().requires_grad_())["hash"] == found["hash"]
    # The same values at another address.
    for dtype, skipped in ((torch.float32, 1), (torch.uint8, 3), (torch.bfloat16, 1), (torch.bool, 1)):
        moved = torch.zeros(tensor.numel() + skipped, dtype=dtype)[skipped:]
        moved.copy_(tensor.view(-1).nan_to_num(0.0, 0.0, 0.0))
        assert summary(moved)["hash"] == summary(moved.clone())["hash"]
    assert summary(torch.tensor([1, 0, 0, 1]))["hash"] != summary(torch.tensor([0, 1, 1, 0]))["hash"]
    turned = torch.tensor([1 + 3j, 2 - 1j] * 700).conj()
    assert summary(turned)["hash"] == summary(turned.resolve_conj())["hash"]
    assert summary(turned.imag)["hash"] == summary(turned.imag.clone())["hash"]


@pytest.mark.parametrize("shape", [(3, 1_500_000), (7, 1000, 700), (2, 2, 1_200_000), (5_000_000,)])
def test_parts_of_what_does_not_lie_in_a_row(torch: Any, shape: tuple[int, ...]) -> None:
    tensor = (
        torch.arange(math.prod(shape), dtype=torch.int32)
        .reshape(*reversed(shape))
        .permute(*reversed(range(len(shape))))
    )
    plain = tensor.contiguous().view(-1)
    for start, end in ((0, 1000), (1_000_000, 2_000_000), (1_499_999, 1_500_001), (plain.numel() - 5, plain.numel())):
        assert torch.equal(WORKER.torch_part(torch, tensor, start, end), plain[start:end])


def test_a_part_of_an_expanded_tensor_is_no_copy_of_all_of_it(torch: Any) -> None:
    # A copy would take 24 TB.
    found = summary(torch.ones(1, 1).expand(3, 2 * 10**12), seconds=0)
    assert (found["min"], found["max"], found["hash"]) == (1, 1, "")


def test_what_has_no_numbers_says_why(torch: Any) -> None:
    def reason(tensor: Any) -> object:
        found = summary(tensor)
        assert (found["sampled"], found["hash"], found["min"]) == (0, "", None)
        return found["reason"]

    freed = torch.ones(2000)
    freed.untyped_storage().resize_(0)
    with library("torch._subclasses.fake_tensor").FakeTensorMode():
        fake = torch.ones(2000)
    assert reason(freed) == "its memory was freed"
    assert reason(fake) == "a FakeTensor"
    assert reason(torch.ones(2, device="meta")) == reason(torch.ones((), device="meta")) == "meta"
    assert reason(torch.ones(2, 2).to_sparse()) == "sparse_coo"
    jagged = torch.nested.nested_tensor([torch.ones(3, 2), torch.ones(1, 2)], layout=torch.jagged)
    assert summary(jagged)["text"].startswith("NestedTensor(size=(2, j")
    assert summary(torch.nn.LazyLinear(3).weight)["text"] == "<UninitializedParameter>"


@pytest.mark.filterwarnings("ignore:.*quantize")
def test_a_quantized_tensor_has_no_numbers(torch: Any) -> None:
    assert summary(torch.quantize_per_tensor(torch.ones(9), 0.1, 0, torch.qint8))["reason"] == "quantized"


def test_numbers_and_parts_of_modules(torch: Any) -> None:
    assert summary(torch.tensor(0.5))["text"] == summary(torch.nn.Parameter(torch.tensor(0.5)))["text"] == "0.5"
    assert summary(torch.tensor(2**60 + 1))["text"] == str(2**60 + 1)
    linear = torch.nn.Linear(2, 2)
    assert summary(linear.state_dict())["text"].startswith("{'bias': <float32[2] #")
    assert summary(linear)["text"] == "Linear(in_features=2, out_features=2, bias=True)"
    assert summary(linear.weight)["hash"] == summary(linear.weight.detach())["hash"]


def test_a_tensor_of_several_processes_counts_with_its_part_in_this_one(torch: Any, tmp_path: Any) -> None:
    distributed, dtensor = library("torch.distributed"), library("torch.distributed.tensor")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        mesh = distributed.init_device_mesh("cpu", (1,))
        plain = torch.arange(3000.0)
        shared = dtensor.distribute_tensor(plain, mesh, [dtensor.Shard(0)])
        for each in (shared, torch.nn.Parameter(shared)):
            assert summary(each)["hash"] == summary(plain)["hash"]
        assert summary(dtensor.distribute_tensor(torch.tensor(0.5), mesh))["text"] == "0.5"
        waiting = distributed._functional_collectives.AsyncCollectiveTensor(plain)
        assert summary(waiting)["reason"] == "a AsyncCollectiveTensor"
        assert not waiting.completed
    finally:
        distributed.destroy_process_group()


def modes(torch: Any) -> Iterator[Any]:
    class Dispatch(library("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, *_: Any) -> Any:
            raise AssertionError("it sees an operation")

    class Function(library("torch.overrides").TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, *_: Any) -> Any:
            raise AssertionError("it sees a function")

    yield from (Dispatch(), Function(), torch.inference_mode(), torch.no_grad(), torch.enable_grad())
    yield from (torch.autocast("cpu"), torch.device("meta"), torch.autograd.set_detect_anomaly(True))


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_no_mode_of_the_users_counts_or_changes(torch: Any) -> None:
    with torch.inference_mode():
        tensors = [torch.arange(2000.0)]
    tensors += [torch.arange(2000.0), torch.arange(2000.0).requires_grad_(), torch.nn.Parameter(torch.arange(2000.0))]
    tensors.append(tensors[2] * 1)
    expected = summary(tensors[0])
    for mode in modes(torch):
        with mode:
            grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            assert [summary(each) for each in tensors] == [expected] * len(tensors)
            assert (grad, inference) == (torch.is_grad_enabled(), torch.is_inference_mode_enabled())


def test_a_class_of_the_users_is_not_asked(torch: Any) -> None:
    class Refusing(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, *_: Any) -> Any:
            raise AssertionError("it sees a function")

    with torch._C.DisableTorchFunction():
        refusing = torch.ones(2000).as_subclass(Refusing)
    assert summary(refusing)["hash"] == summary(torch.ones(2000))["hash"]


def test_inside_transforms(torch: Any) -> None:
    outer = torch.ones(2000)
    seen: list[Any] = []

    def function(inner: Any) -> Any:
        seen.extend([summary(inner), summary(outer)["hash"]])
        return inner.sum()

    torch.func.grad(function)(torch.ones(2000))
    torch.vmap(function)(torch.ones(3, 2000))
    expected = summary(outer)["hash"]
    assert [seen[0]["hash"], seen[1], seen[3]] == [expected] * 3
    assert seen[2]["reason"] != ""


def test_nothing_is_changed(torch: Any) -> None:
    tensor = torch.randn(50_000, requires_grad=True)
    (tensor * 2).sum().backward()
    with torch.no_grad():
        tensor.add_(1)
    states = torch.get_rng_state().clone(), tensor.grad.clone()
    kept = tensor._version, torch.get_num_threads(), torch.get_default_dtype(), torch.get_default_device()
    summary(tensor)
    summary(tensor.t())
    assert torch.equal(torch.get_rng_state(), states[0])
    assert torch.equal(tensor.grad, states[1])
    assert (tensor.requires_grad, tensor.is_leaf) == (True, True)
    assert kept == (tensor._version, torch.get_num_threads(), torch.get_default_dtype(), torch.get_default_device())


@pytest.mark.parametrize(("dtype", "most"), [("float32", 7.2), ("bfloat16", 12.4), ("int64", 12.2)])
def test_an_accelerator_reads_and_writes_few_bytes(torch: Any, dtype: str, most: float) -> None:
    """Bytes are counted per byte of the tensor, on the device `meta`, which computes nothing (docs/performance.md)."""
    tree_leaves = library("torch.utils._pytree").tree_leaves
    counted = operations = 0

    class Count(library("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal counted, operations
            found = function(*args, **(kwargs or {}))
            if not function.is_view and "detach" not in str(function):
                tensors = [each for each in tree_leaves((args, kwargs, found)) if isinstance(each, torch.Tensor)]
                operations += 1
                counted += sum(each.untyped_storage().nbytes() for each in tensors)
            return found

    size = WORKER.DEVICE_PART
    part = torch.empty(size, dtype=torch.uint8, device="meta").view(getattr(torch, dtype))
    keys = WORKER.torch_keys(torch, "meta")
    with Count():
        WORKER.torch_hashes(torch, part, keys)
        WORKER.add_torch_numbers(torch, part, WORKER.ArrayStatistics(), lambda _: [0.0] * 4)
    assert counted / size < most
    assert operations <= 8


class Device:
    """Stands in for torch on an accelerator whose kernels end after `busy` queries."""

    def __init__(self, busy: float = 0, capturing: bool = False) -> None:
        self.busy = busy
        self.asked = 0
        self.cuda = SimpleNamespace(
            current_stream=lambda _: SimpleNamespace(record_event=lambda: SimpleNamespace(query=self.query)),
            is_current_stream_capturing=lambda: capturing,
        )

    def query(self) -> bool:
        self.asked += 1
        return self.asked > self.busy

    def fetch(self, seconds: float) -> Any:
        return WORKER.torch_fetch(self, SimpleNamespace(type="cuda"), time.monotonic() + seconds)


VALUES = SimpleNamespace(tolist=lambda: [1.0])


def test_what_a_device_has_still_to_do_is_waited_for() -> None:
    device = Device(busy=3)
    fetch = device.fetch(60)
    assert device.asked == 4
    assert fetch(VALUES) == [1.0]
    assert device.asked == 5


def test_a_device_that_hangs_is_not_waited_for() -> None:
    with pytest.raises(TimeoutError, match="its device is busy"):
        Device(busy=math.inf).fetch(0)
    device = Device()
    fetch = device.fetch(0)
    device.busy = math.inf
    with pytest.raises(TimeoutError, match="its device is busy"):
        fetch(VALUES)


def test_a_graph_that_is_captured_is_left_alone() -> None:
    with pytest.raises(ValueError, match="a graph is being captured"):
        Device(capturing=True).fetch(0)


def test_a_large_tensor_has_a_histogram_of_some_elements(torch: Any) -> None:
    tensor = torch.arange(1_200_000) % 12
    found = summary(tensor)["histogram"]
    assert (found["low"], found["high"], len(found["counts"])) == (0, 11, 12)
    assert 4000 < sum(found["counts"]) <= 4096
    assert summary(tensor.to(torch.bfloat16))["histogram"] == found
    for none in (tensor[:50], torch.ones(1000), tensor.reshape(1200, 1000).T, torch.full((1000,), math.nan)):
        assert "histogram" not in summary(none), none
