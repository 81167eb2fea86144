"""Whether Ray's breakpoint() has started an adapter. Ray's own function can end the process, so it is rarely called."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import agent
from raydap.inworker.agent import adapter_port


class Worker:
    """Ray's global worker. `asked` becomes True when its port is read."""

    def __init__(self, connected: bool) -> None:
        self.connected = connected
        self.asked = False

    @property
    def debugger_port(self) -> int:
        self.asked = True
        return 41234


@pytest.mark.parametrize(
    ("listens", "connected", "port"), [(True, True, 41234), (True, False, 0), (False, True, 0), (None, True, 0)]
)
@pytest.mark.parametrize("debugpy", ["newest", "1.8.0"])
def test_ray_is_asked_only_while_it_runs_and_debugpy_listens(
    monkeypatch: pytest.MonkeyPatch, listens: bool | None, connected: bool, port: int, debugpy: str
) -> None:
    worker = Worker(connected)
    ray: Any = SimpleNamespace(_private=SimpleNamespace(worker=SimpleNamespace(global_worker=worker)))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delitem(sys.modules, "debugpy.server.api", raising=False)
    debugger = object() if listens and debugpy == "1.8.0" else None
    monkeypatch.setattr(agent, "global_debugger", lambda: debugger)
    if listens is not None:
        listen = SimpleNamespace(called=listens) if debugpy == "newest" else None
        api: Any = SimpleNamespace(listen=listen)
        monkeypatch.setitem(sys.modules, "debugpy.server.api", api)
    assert adapter_port() == port
    assert worker.asked is (port != 0)
