"""When a driver goes on after `ray.init`, if its cluster has other nodes."""

import json
import socket
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from raydap.inworker import agent, driver_agent

WAIT = 30.0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What `ray` is in it; the files of an agent are one module there."""
    for name in ("CALL_TIMEOUT_S", "VERSION", "write_line"):
        monkeypatch.setattr(driver_agent, name, getattr(agent, name), raising=False)
    worker = SimpleNamespace(global_worker=SimpleNamespace(mode=0))
    alive = [{"Alive": True}, {"Alive": True}, {"Alive": False}]
    ray = SimpleNamespace(SCRIPT_MODE=0, nodes=lambda: alive, _private=SimpleNamespace(worker=worker))
    monkeypatch.setitem(sys.modules, "ray", ray)
    return ray


@pytest.fixture
def raydap(tmp_path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "raydap"))
    listener.listen()
    listener.settimeout(WAIT)
    return listener


def test_it_waits_until_raydap_listens_on_all_nodes(driver: SimpleNamespace, raydap: socket.socket) -> None:
    waiting = threading.Thread(target=driver_agent.wait_for_nodes, args=(raydap.getsockname(),))
    waiting.start()
    with raydap:
        connection, _ = raydap.accept()
    with connection:
        connection.settimeout(WAIT)
        said = json.loads(connection.makefile("rb").readline())
        assert (said["raydap"], said["nodes"]) == (agent.VERSION, 2)
        assert waiting.is_alive()
    waiting.join(WAIT)
    assert not waiting.is_alive()


def test_it_does_not_wait_for_ever(
    driver: SimpleNamespace, raydap: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_agent, "NODES_TIMEOUT_S", 0.01)
    with raydap:
        driver_agent.wait_for_nodes(raydap.getsockname())


@pytest.mark.parametrize("path", ["", "/nowhere/raydap"])
def test_without_a_raydap_it_goes_on(driver: SimpleNamespace, path: str) -> None:
    driver_agent.wait_for_nodes(path)


def test_on_one_node_nobody_is_asked(driver: SimpleNamespace, raydap: socket.socket) -> None:
    driver.nodes = lambda: [{"Alive": True}, {"Alive": False}]
    raydap.setblocking(False)
    with raydap:
        driver_agent.wait_for_nodes(raydap.getsockname())
        with pytest.raises(BlockingIOError):
            raydap.accept()
