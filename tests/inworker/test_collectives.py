"""The report of a real worker about the library that it uses for collectives."""

from collections.abc import Callable

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

TORCH = """\
import sys, types
torch = sys.modules["torch.distributed"] = types.SimpleNamespace(is_available=lambda: True)
torch.is_initialized = lambda: {initialized}
torch.get_world_size = lambda: {size}
breakpoint()
print("went on")
"""
"""A replacement for torch, which is too large for the tests. It has the functions that raydap calls."""

RAY = """\
import ray.util.collective.collective as collective
collective._group_mgr._name_group_map.update({groups})
breakpoint()
print("went on")
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("breakpoint()\nprint()", ""),
        (TORCH.format(initialized=True, size=2), "torch.distributed"),
        (TORCH.format(initialized=True, size=1), ""),
        (TORCH.format(initialized=False, size=2), ""),
        (RAY.format(groups={"default": 1}), "ray.util.collective"),
        (RAY.format(groups={}), ""),
    ],
)
def test_the_library_of_a_group_is_named(start: Start, source: str, expected: str) -> None:
    worker, debuggee = start(source)
    worker.stop()
    assert worker.query(calls.collectives()) == expected
    worker.client.request("disconnect")
    assert debuggee.child.wait() == 0
