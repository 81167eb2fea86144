"""When a driver continues after `ray.init`, if its cluster has other nodes."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from raydap.inworker import agent, driver_agent

WAIT = 30.0


class Raydap:
    """A raydap that listens in the folder of sockets."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = str(folder / name)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.settimeout(WAIT)
        self.connections: list[socket.socket] = []

    def take(self) -> tuple[dict[str, object], socket.socket]:
        """Return a driver's message, and the connection to the driver."""
        connection, _ = self.listener.accept()
        connection.settimeout(WAIT)
        self.connections.append(connection)
        with connection.makefile("rb") as reading:
            return json.loads(reading.readline()), connection


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """Return a stand-in for `ray` in the driver. The folder of sockets is in `tmp_path`."""
    # Only a test that sets a timeout itself may run into it.
    for name in ("TAKEN_TIMEOUT_S", "NODES_TIMEOUT_S"):
        monkeypatch.setattr(driver_agent, name, 10 * WAIT)
    (tmp_path / "sockets").mkdir()
    node = SimpleNamespace(get_session_dir_path=lambda: str(tmp_path), webui_url="127.0.0.1:8265")
    worker = SimpleNamespace(mode=0, node=node, gcs_client=SimpleNamespace(address="127.0.0.1:6379"))
    alive = [{"Alive": True}, {"Alive": True}, {"Alive": False}]
    private = SimpleNamespace(worker=SimpleNamespace(global_worker=worker))
    ray = SimpleNamespace(SCRIPT_MODE=0, nodes=lambda: alive, _private=private)
    monkeypatch.setitem(sys.modules, "ray", ray)
    return ray


@pytest.fixture
def raydaps(tmp_path: Path, driver: SimpleNamespace) -> Iterator[list[Raydap]]:
    listening = [Raydap(tmp_path / "sockets", f"raydap-call-{number}-1") for number in range(2)]
    yield listening
    for raydap in listening:
        for each in (raydap.listener, *raydap.connections):
            each.close()


def start(raydap: str = "") -> threading.Thread:
    waiting = threading.Thread(target=driver_agent.report_cluster, args=(raydap,), daemon=True)
    waiting.start()
    return waiting


def goes_on(waiting: threading.Thread) -> bool:
    waiting.join(WAIT)
    return not waiting.is_alive()


def test_it_waits_until_all_raydaps_listen_on_all_nodes(raydaps: list[Raydap]) -> None:
    waiting = start()
    taken = [raydap.take() for raydap in raydaps]
    for said, connection in taken:
        assert (said["raydap"], said["nodes"], said["calls"]) == (agent.VERSION, 2, "")
        assert said["cluster"] == "http://127.0.0.1:8265"
        connection.send(b"\n")
    for _, connection in taken:
        assert waiting.is_alive()
        connection.close()
    assert goes_on(waiting)


def test_a_driver_that_has_its_raydap_calls_no_other(raydaps: list[Raydap]) -> None:
    """A raydap that has nothing to do closes the connection at once."""
    waiting = start(raydaps[0].path)
    said, connection = raydaps[0].take()
    assert said["calls"] == "raydap-call-0-1"
    connection.close()
    assert goes_on(waiting)
    raydaps[1].listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        raydaps[1].take()


def test_a_raydap_that_hangs_is_not_waited_for(raydaps: list[Raydap], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_agent, "TAKEN_TIMEOUT_S", 0.01)
    assert goes_on(start())


def test_a_dead_raydap_does_not_keep_the_driver_from_the_others(raydaps: list[Raydap]) -> None:
    raydaps[0].listener.close()
    waiting = start()
    raydaps[1].take()[1].close()
    assert goes_on(waiting)


def test_it_does_not_wait_forever(raydaps: list[Raydap], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_agent, "NODES_TIMEOUT_S", 0.01)
    waiting = start()
    for raydap in raydaps:
        raydap.take()[1].send(b"\n")
    assert goes_on(waiting)


@pytest.mark.parametrize("path", ["", "/nowhere/raydap"])
def test_without_a_raydap_it_continues(driver: SimpleNamespace, path: str) -> None:
    assert goes_on(start(path))


@pytest.mark.parametrize(
    ("dashboard", "cluster"),
    [("127.0.0.1:8265", "http://127.0.0.1:8265"), (None, "127.0.0.1:6379"), ("", "127.0.0.1:6379")],
)
def test_on_one_node_a_launched_driver_reports_its_cluster_and_does_not_wait(
    driver: SimpleNamespace, raydaps: list[Raydap], dashboard: str | None, cluster: str
) -> None:
    driver.nodes = lambda: [{"Alive": True}]
    driver._private.worker.global_worker.node.webui_url = dashboard
    assert goes_on(start(raydaps[0].path))
    said, _ = raydaps[0].take()
    assert (said["nodes"], said["cluster"]) == (1, cluster)


def test_on_one_node_no_raydap_is_asked(driver: SimpleNamespace, raydaps: list[Raydap]) -> None:
    driver.nodes = lambda: [{"Alive": True}, {"Alive": False}]
    assert goes_on(start())
    raydaps[0].listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        raydaps[0].take()
