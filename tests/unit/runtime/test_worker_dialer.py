"""The choice between a direct connection to a worker and one over the relay."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from raydap.cluster.machine import outside_looks
from raydap.cluster.relay.relay_client import RelayFailed
from raydap.cluster.survey import py_spy
from raydap.core.effects import DialWorker, FindForkedWaits
from raydap.core.process_info import ForkedWaits, ProcessInfo
from raydap.protocol.types import WorkerKey
from raydap.runtime import worker_dialer
from raydap.runtime.worker_dialer import DIRECT_BEFORE_RELAY_TIMEOUT_S, DIRECT_TIMEOUT_S, WorkerDialer
from raydap.transport import tcp
from raydap.transport.peer import Peer

FAR, NEAR = "192.0.2.7", "127.0.0.1"
SILENCE = TimeoutError("no connection within 3 s")
REFUSAL = ConnectionRefusedError(111, "Connection refused")


class Ways:
    """Stands in for both ways. Each has an error to raise, or None, and `went` lists the tried ways.

    If `says` is set, the relay sends it and then ends its connections.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.direct: OSError | None = None
        self.relay: OSError | None = None
        self.went: list[str] = []
        self.patience = 0.0
        self.says = b""
        self.closed = 0
        self.ends: list[socket.socket] = []
        monkeypatch.setattr(tcp, "dial", self._dial)
        monkeypatch.setattr(worker_dialer, "RelayClient", lambda cluster_access: self)

    async def _dial(self, host: str, port: int, on_message: Any, on_gone: Any, timeout: float) -> Peer:
        self.went.append("direct")
        self.patience = timeout
        if self.direct is not None:
            raise self.direct
        return Peer(on_message, on_gone)

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        self.went.append("relay")
        if self.relay is not None:
            raise self.relay
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.ends.append(theirs)
        if self.says:
            theirs.sendall(self.says)
            theirs.shutdown(socket.SHUT_WR)
        return ours

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ways]:
    both = Ways(monkeypatch)
    yield both
    for end in both.ends:
        end.close()


async def unknown() -> None:
    return None


async def hang_up(peer: Peer) -> None:
    peer.close()
    # A few turns of the event loop close a relayed connection. The stand-in for a direct one needs none.
    for _ in range(5):
        await asyncio.sleep(0)


def dial(mode: Any, *targets: DialWorker) -> None:
    async def main() -> None:
        it = WorkerDialer(mode, unknown)
        for target in targets:
            await hang_up(await it.dial(target, lambda message: None, print))
        await it.close()

    asyncio.run(main())


def to(host: str, node: str = "n1") -> DialWorker:
    return DialWorker(WorkerKey("w"), host, 5, node)


def test_what_is_reached_directly_needs_no_relay(ways: Ways) -> None:
    dial("auto", to(FAR), to(FAR))
    assert ways.went == ["direct", "direct"]
    assert ways.patience == DIRECT_BEFORE_RELAY_TIMEOUT_S
    assert ways.closed == 1


def test_a_firewalled_node_costs_its_timeout_once(ways: Ways, caplog: pytest.LogCaptureFixture) -> None:
    ways.direct = SILENCE
    with caplog.at_level("INFO", "raydap"):
        dial("auto", to(FAR), to(FAR), to(FAR, "n2"), to(FAR))
    assert ways.went == ["direct", "relay", "relay", "direct", "relay", "relay"]
    reached = [line.partition(": ")[0] for line in caplog.messages]
    assert reached == ["using the relay for node n1", "using the relay for node n2"]


def test_a_debugger_bound_to_the_node_alone(ways: Ways) -> None:
    ways.direct = REFUSAL
    dial("auto", to(FAR))
    assert ways.went == ["direct", "relay"]


def test_a_port_of_this_machine_that_refuses_is_refused(ways: Ways) -> None:
    ways.direct = REFUSAL
    with pytest.raises(ConnectionRefusedError):
        dial("auto", to(NEAR))
    assert ways.went == ["direct"]


@pytest.mark.parametrize(("mode", "node"), [("never", "n1"), ("auto", ""), ("always", "")])
def test_there_is_only_the_direct_way(ways: Ways, mode: str, node: str) -> None:
    ways.direct = SILENCE
    with pytest.raises(TimeoutError):
        dial(mode, to(FAR, node))
    assert ways.went == ["direct"]
    assert ways.patience == DIRECT_TIMEOUT_S


def test_always(ways: Ways) -> None:
    dial("always", to(NEAR), to(FAR))
    assert ways.went == ["relay", "relay"]


def test_neither_way_leads_there(ways: Ways) -> None:
    ways.direct, ways.relay = SILENCE, RelayFailed("no node here")
    with pytest.raises(OSError, match=r"^no connection within 3 s; the relay cannot reach it either: no node here$"):
        dial("auto", to(FAR))
    ways.direct = REFUSAL
    with pytest.raises(ConnectionRefusedError):
        dial("auto", to(FAR))
    with pytest.raises(RelayFailed):
        dial("always", to(FAR))


def test_what_the_relay_finds_out_counts(ways: Ways) -> None:
    ways.direct, ways.relay = SILENCE, REFUSAL
    with pytest.raises(ConnectionRefusedError):
        dial("auto", to(FAR))


def test_a_relay_that_fails_later_is_not_kept(ways: Ways) -> None:
    async def main() -> None:
        it = WorkerDialer("auto", unknown)

        async def once() -> None:
            await hang_up(await it.dial(to(FAR), lambda message: None, print))

        ways.direct = SILENCE
        await once()
        ways.relay = RelayFailed("its node has left")
        with pytest.raises(RelayFailed):
            await once()
        ways.direct = None
        await once()

    asyncio.run(main())
    assert ways.went == ["direct", "relay", "relay", "direct"]


def test_a_cluster_that_is_not_known_has_no_relay() -> None:
    async def main() -> None:
        it = WorkerDialer("always", unknown)
        with pytest.raises(RelayFailed, match="does not report the cluster's session"):
            await it.dial(to(FAR), lambda message: None, print)
        await it.close()

    asyncio.run(main())


def test_messages_and_the_end_come_over_the_relay(ways: Ways) -> None:
    async def main() -> None:
        said: asyncio.Queue[object] = asyncio.Queue()
        peer = await WorkerDialer("always", unknown).dial(to(FAR), said.put_nowait, said.put_nowait)
        (end,) = ways.ends
        end.sendall(b"Content-Length: 2\r\n\r\n{}")
        assert await asyncio.wait_for(said.get(), 30) == b"{}"
        peer.send(b"[]")
        end.settimeout(30)
        assert await asyncio.to_thread(end.recv, 100) == b"Content-Length: 2\r\n\r\n[]"
        end.close()
        assert await asyncio.wait_for(said.get(), 30) == "closed over the relay"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("mode", "host", "node", "way"),
    [
        ("auto", NEAR, "n1", "here"),
        ("auto", NEAR, "", "here"),
        ("auto", FAR, "n1", "relay"),
        ("always", NEAR, "n1", "relay"),
        ("always", NEAR, "", "here"),
        ("never", NEAR, "n1", "here"),
        ("never", FAR, "n1", "another machine"),
        ("auto", FAR, "", "another machine"),
    ],
)
def test_stacks_are_read_from_outside_on_the_workers_node(
    ways: Ways, monkeypatch: pytest.MonkeyPatch, mode: Any, host: str, node: str, way: str
) -> None:
    async def output(worker: ProcessInfo) -> bytes:
        ways.went.append("here")
        return b"[]"

    def waits(pids: tuple[int, ...]) -> bytes:
        ways.went.append("here")
        return b"[]"

    async def look() -> list[str]:
        it = WorkerDialer(mode, unknown)
        stacks = await it.sample_stack(ProcessInfo(WorkerKey("w1"), host, 0, 7, node_id=node))
        return [stacks, await it.forked_waits(FindForkedWaits(1, host, node, (7,), may_relay=True))]

    monkeypatch.setattr(py_spy, "output", output)
    monkeypatch.setattr(outside_looks, "forked_waits_output", waits)
    ways.says = b"[]"
    if way == "another machine":
        with pytest.raises(py_spy.PySpyFailed, match=way):
            asyncio.run(look())
        assert ways.went == []
    else:
        stacks, found = asyncio.run(look())
        assert "threads" in stacks
        assert found == "[]"
        assert ways.went == [way, way]


@pytest.mark.parametrize(
    ("mode", "host", "node", "searched"),
    [
        ("auto", NEAR, "n1", True),
        ("auto", FAR, "n1", False),
        ("always", NEAR, "n1", False),
        ("never", FAR, "n1", False),
    ],
)
def test_without_the_relay_forked_children_are_searched_on_this_machine_only(
    ways: Ways, monkeypatch: pytest.MonkeyPatch, mode: Any, host: str, node: str, searched: bool
) -> None:
    def waits(pids: tuple[int, ...]) -> bytes:
        ways.went.append("here")
        return b"{}"

    monkeypatch.setattr(outside_looks, "forked_waits_output", waits)
    search = FindForkedWaits(1, host, node, (7,), may_relay=False)
    found = asyncio.run(WorkerDialer(mode, unknown).forked_waits(search))
    assert msgspec.json.decode(found, type=ForkedWaits) == ForkedWaits()
    assert ways.went == ["here"] * searched
