"""The ways to start an agent in a running worker, their order, and the message when none works."""

import asyncio
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.agent_injection import AgentInjection
from raydap.cluster.injection import gdb_injection, injection_script, remote_exec
from raydap.cluster.injection.gdb_injection import InjectionFailed
from raydap.core.effects import InjectAgent
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey


class Ways:
    """Stands in for all ways. `fails` maps the ways that do not work to their reasons."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **fails: str) -> None:
        self.tried: list[str] = []
        self.fails = fails
        self.new_python = False
        monkeypatch.setattr(gdb_injection, "run_in_process", lambda *_: self._go("gdb"))
        monkeypatch.setattr(remote_exec, "run_in_process", lambda *_: self._go("remote_exec"))
        monkeypatch.setattr(remote_exec, "can_run", lambda _: self.new_python)

    def _go(self, name: str) -> None:
        self.tried.append(name)
        if name in self.fails:
            raise InjectionFailed(self.fails[name])

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        way = "relay_" + target["way"]
        self.tried.append(way)
        if way in self.fails:
            raise OSError(self.fails[way])
        ours, theirs = socket.socketpair()
        theirs.close()
        return ours

    def start(self, actor: bool, local: bool, relay: bool = True) -> str:
        it = AgentInjection(self if relay else None)  # type: ignore[arg-type]
        row = ProcessInfo(WorkerKey("w1"), "127.0.0.1" if local else "192.0.2.1", 0, 7, "10.0.0.1", "n1")
        return asyncio.run(it.start(InjectAgent(row, actor, True)))


@pytest.mark.parametrize(
    ("actor", "local", "new_python", "order"),
    [
        (True, True, False, ["relay_actor", "gdb"]),
        (True, True, True, ["relay_actor", "remote_exec", "gdb"]),
        (False, True, False, ["gdb"]),
        (True, False, True, ["relay_actor", "relay_gdb"]),
        (False, False, False, ["relay_gdb"]),
    ],
)
def test_the_order_and_all_reasons(
    monkeypatch: pytest.MonkeyPatch, actor: bool, local: bool, new_python: bool, order: list[str]
) -> None:
    ways = Ways(monkeypatch, **{name: f"no {name}" for name in ("relay_actor", "gdb", "relay_gdb", "remote_exec")})
    ways.new_python = new_python
    assert ways.start(actor, local) == "; ".join(f"no {name}" for name in order)
    assert ways.tried == order


def test_the_first_way_that_works_is_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(monkeypatch)
    assert ways.start(actor=True, local=True) == ""
    assert ways.tried == ["relay_actor"]


def test_without_any_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not a node of its cluster" in Ways(monkeypatch).start(actor=True, local=False, relay=False)


def test_the_text_that_travels_is_a_program() -> None:
    text = injection_script.agent_source("0123", children=False)
    names: dict[str, Any] = {}
    # This process is not a worker, so no agent starts here.
    exec(compile(text, "<test>", "exec"), names)
    assert names["problem"]
    assert "'CHILDREN': False" in text


def test_older_pythons_have_no_remote_exec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text("7f0 r-xp /usr/lib/libpython3.14.so.1.0\n")
    monkeypatch.delattr("sys.remote_exec", raising=False)
    assert not remote_exec.can_run(1, str(maps))
    monkeypatch.setattr("sys.remote_exec", lambda *_: None, raising=False)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert remote_exec.can_run(1, str(maps))
    maps.write_text("7f0 r-xp /usr/lib/libpython3.13.so.1.0\n")
    assert not remote_exec.can_run(1, str(maps))
    assert not remote_exec.can_run(1, str(tmp_path / "none"))


def test_code_that_runs_late_does_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(remote_exec, "RUN_TIMEOUT_S", 0.05)
    sent: list[Path] = []
    monkeypatch.setattr("sys.remote_exec", lambda pid, path: sent.append(Path(path)), raising=False)
    with pytest.raises(InjectionFailed, match="main thread is not running Python code"):
        remote_exec.run_in_process(7, "raise SystemExit")
    exec(sent[0].read_text(), {})
    assert not sent[0].exists()

    def at_once(pid: int, path: str) -> None:
        exec(Path(path).read_text(), {})

    monkeypatch.setattr("sys.remote_exec", at_once, raising=False)
    remote_exec.run_in_process(7, f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    assert (tmp_path / "ran").exists()
    assert list(tmp_path.glob("raydap-*")) == []
