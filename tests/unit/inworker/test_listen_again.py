"""A worker that has lost its debugger listens again, also if debugpy fails at first.

debugpy and pydevd are fakes: the real ones cannot be made to fail here. tests/inworker/test_relisten.py has real ones.
"""

import contextlib
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import relisten


class Lost:
    """A worker whose debugger is lost, and in which `debugpy.listen` fails for a number of times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
        self.failures = failures
        self.listened = 0
        self.ports: list[int] = []
        self.lock = threading.Lock()
        self.lock.acquire()
        self.debugger = SimpleNamespace(mtime=7, _on_configuration_done_event=threading.Event())
        self.new = SimpleNamespace(mtime=0, _on_configuration_done_event=threading.Event())
        debugpy, server, api, pydevd = (
            ModuleType(each) for each in ("debugpy", "debugpy.server", "debugpy.server.api", "pydevd")
        )
        vars(debugpy).update(listen=self.listen, server=server)
        vars(server).update(api=api)
        vars(api).update(listen=SimpleNamespace(called=True))
        vars(pydevd).update(
            SetupHolder=SimpleNamespace(setup={}),
            skip_subprocess_arg_patch=contextlib.nullcontext,
            get_global_debugger=lambda: self.new,
        )
        for module in (debugpy, server, api, pydevd):
            monkeypatch.setitem(sys.modules, module.__name__, module)

    def listen(self, address: Any) -> tuple[str, int]:
        self.listened += 1
        if self.listened <= self.failures:
            raise RuntimeError("timed out waiting for adapter to connect")
        return address[0], 4711

    def listen_again(self) -> None:
        worker = SimpleNamespace(node_ip_address="10.0.0.7", set_debugger_port=self.ports.append)
        relisten._listen_again(self.debugger, worker, self.lock)


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_it_reports_its_new_port_to_ray(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    lost = Lost(monkeypatch, failures)
    lost.listen_again()
    assert (lost.listened, lost.ports) == (failures + 1, [4711])
    assert lost.new.mtime == 8
    assert lost.new._on_configuration_done_event is lost.debugger._on_configuration_done_event
    assert not lost.debugger._on_configuration_done_event.is_set()
    assert not lost.lock.locked()


def test_its_threads_continue_if_it_can_never_listen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Lost(monkeypatch, relisten.LISTEN_TRIALS)
    with pytest.raises(RuntimeError, match="timed out"):
        lost.listen_again()
    assert (lost.listened, lost.ports) == (relisten.LISTEN_TRIALS, [])
    assert lost.debugger._on_configuration_done_event.is_set()
    assert not lost.lock.locked()
