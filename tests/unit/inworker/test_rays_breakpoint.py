"""The two overrides of the function that Ray's breakpoint() calls first, over many sessions, without Ray."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker.breakpoint_hooks import override_rays_breakpoint
from raydap.inworker.forked_children import stop_in_forked_children
from raydap.inworker.replaced_functions import DETACHED, restore


@pytest.mark.parametrize("overrides", [(0, 1), (1, 0)], ids=["agent first", "adapter first"])
def test_sessions_do_not_pile_up_overrides(overrides: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise each breakpoint() would call all of them, and each would keep the functions of its session."""
    ray_debugpy: Any = ModuleType("ray.util.debugpy")
    ray_debugpy._try_import_debugpy = lambda: "Ray's"
    ray: Any = ModuleType("ray")
    ray._private = SimpleNamespace(worker=SimpleNamespace(global_worker=SimpleNamespace(core_worker=None)))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.util.debugpy", ray_debugpy)
    begin = (lambda: override_rays_breakpoint(lambda: None), stop_in_forked_children)
    rays = ray_debugpy._try_import_debugpy
    for _ in range(3):
        for number in overrides:
            begin[number]()
            assert ray_debugpy._try_import_debugpy.__wrapped__ is rays
            assert ray_debugpy._try_import_debugpy() == "Ray's"
    restore(None, DETACHED)
    assert ray_debugpy._try_import_debugpy is rays
