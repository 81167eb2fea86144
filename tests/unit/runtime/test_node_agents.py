"""Agents on other nodes, with a stand-in for the relay."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.relay.relay_client import RelayFailed
from raydap.core.events import AgentCalled, AgentFound, AgentsExpected, AgentsSearched, Event
from raydap.inworker.raydap_calls import raydaps_in
from raydap.protocol.types import WorkerKey
from raydap.runtime import node_agents
from raydap.runtime.agent_connections import own_name
from raydap.runtime.agents import Agents

WAIT = 10.0
FAR, NEAR = {"n1": "192.0.2.7"}, {"n0": "127.0.0.1"}
HELLO: dict[str, Any] = {"raydap": 1, "pid": 42, "socket": "/s/raydap-42", "worker_id": "w1", "node_id": "n1"}


class FakeRelay:
    """A relay that puts each target into `opened`, with the other end of the connection."""

    def __init__(self) -> None:
        self.opened: asyncio.Queue[tuple[str, Mapping[str, Any], socket.socket]] = asyncio.Queue()
        self.failing = 0

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        if self.failing:
            self.failing -= 1
            raise RelayFailed("no node here")
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.settimeout(WAIT)
        self.opened.put_nowait((node_id, target, theirs))
        return ours


class Play:
    """Agents with a stand-in for their WorkerDialer and relay."""

    def __init__(self, mode: str) -> None:
        self.mode: Any = mode
        self.relay: Any = FakeRelay()
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        dialer: Any = self
        self.joined: list[str] = []
        self.agents = Agents(self.events.put_nowait, dialer=dialer, on_joined=self.joined.append)
        self.ends: list[socket.socket] = []

    async def asked(self) -> tuple[str, Mapping[str, Any], socket.socket]:
        node_id, target, end = await asyncio.wait_for(self.relay.opened.get(), WAIT)
        self.ends.append(end)
        return node_id, target, end

    async def event(self) -> Event:
        return await asyncio.wait_for(self.events.get(), WAIT)


def run(script: Callable[[Play], Awaitable[None]], mode: str = "auto") -> None:
    async def main() -> None:
        play = Play(mode)
        try:
            await script(play)
        finally:
            await play.agents.close()
            for end in play.ends:
                end.close()

    asyncio.run(main())


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_agents, "RETRY_S", 0.01)


def line(**said: Any) -> bytes:
    return json.dumps(said).encode() + b"\n"


def hello(**changes: Any) -> str:
    return json.dumps({**HELLO, **changes})


def test_agents_there_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Malformed reports, and agents that this raydap already debugs, are ignored."""

    async def script(play: Play) -> None:
        play.agents.reach_nodes(FAR)
        node_id, target, end = await play.asked()
        assert (node_id, list(target)) == ("n1", ["listen"])
        for said in ("nonsense", hello(raydap=2), hello(holder=own_name()), hello()):
            end.sendall(line(found=said))
        event = await play.event()
        assert isinstance(event, AgentFound)
        assert (event.worker.key, event.worker.agent, event.worker.over_relay) == ("w1", "/s/raydap-42", True)
        assert play.events.empty()
        end.sendall(line(searched=True))
        assert await play.event() == AgentsSearched()

    run(script)


def test_the_search_is_over_when_all_nodes_have_answered_or_cannot_be_reached(tmp_path: Path) -> None:
    async def script(play: Play) -> None:
        play.relay.failing = 1
        play.agents.reach_nodes(FAR)
        assert await play.event() == AgentsSearched()
        _, _, first = await play.asked()
        first.sendall(line(searched=True))
        play.agents.reach_nodes({**FAR, "n2": "192.0.2.9"})
        _, _, second = await play.asked()
        play.agents.reach(str(tmp_path))
        second.sendall(line(found=hello()))
        second.sendall(line(searched=True))
        told = [await play.event() for _ in range(2)]
        while told[-1] != AgentsSearched():
            told.append(await play.event())
        assert sum(isinstance(each, AgentFound) for each in told) == 1
        # The search does not wait for a node that has gone.
        play.agents.reach_nodes({"n3": "192.0.2.10"})
        play.agents.reach_nodes({})
        assert await play.event() == AgentsSearched()

    run(script)


def test_a_call_from_there_waits_for_its_answer() -> None:
    async def script(play: Play) -> None:
        play.agents.reach_nodes(FAR)
        _, _, watch = await play.asked()
        watch.sendall(line(call=5))
        node_id, target, end = await play.asked()
        assert (node_id, target) == ("n1", {"call": 5})
        end.sendall(hello().encode() + b"\n")
        event = await play.event()
        assert isinstance(event, AgentCalled)
        assert event.worker.over_relay
        play.agents.release(WorkerKey("w1"))
        assert await asyncio.to_thread(end.recv, 1) == b""

    run(script)


def test_processes_of_other_nodes_are_not_taken_for_ours() -> None:
    """Processes on two nodes can have the same pid, and a child has no id from Ray."""

    async def script(play: Play) -> None:
        play.agents.reach_nodes(FAR)
        _, _, watch = await play.asked()
        watch.sendall(line(found=hello(worker_id="", worker_type="CHILD", parent="pid-7")))
        watch.sendall(line(found=hello(worker_id="", worker_type="CHILD", parent="w7")))
        keys = []
        for _ in range(2):
            event = await play.event()
            assert isinstance(event, AgentFound)
            keys.append((event.worker.key, event.worker.parent))
        assert keys == [("pid-42 on n1", "pid-7 on n1"), ("pid-42 on n1", "w7")]

    run(script)


def test_a_launched_program_is_debugged_alone() -> None:
    async def script(play: Play) -> None:
        environment = json.loads(play.agents.environment({})["RAYDAP_AGENT"])
        play.agents.reach_nodes(FAR)
        _, target, watch = await play.asked()
        name = target["listen"]
        assert environment["raydap"].endswith(f"/{name}"), "its workers know the name of their raydap"
        watch.sendall(line(found=hello(worker_id="w2")) + line(found=hello(calls=name)))
        event = await play.event()
        assert isinstance(event, AgentFound)
        assert event.worker.key == "w1"
        watch.sendall(line(call=1))
        _, _, end = await play.asked()
        end.sendall(hello(calls="raydap-call-another").encode() + b"\n")
        assert await asyncio.to_thread(end.recv, 1) == b""
        assert play.events.empty()

    run(script)


@pytest.mark.parametrize(
    ("mode", "nodes"), [("auto", ["n1"]), ("always", ["n0", "n1"]), ("never", [])], ids=["auto", "always", "never"]
)
def test_which_nodes_need_the_relay(mode: str, nodes: list[str]) -> None:
    async def script(play: Play) -> None:
        play.agents.reach_nodes({**NEAR, **FAR})
        asked = [(await play.asked())[0] for _ in nodes]
        assert sorted(asked) == nodes
        assert play.relay.opened.empty()

    run(script, mode)


def test_a_node_is_tried_until_it_is_gone() -> None:
    async def script(play: Play) -> None:
        play.relay.failing = 2
        play.agents.reach_nodes(FAR)
        _, _, first = await play.asked()
        first.close()
        _, _, second = await play.asked()
        second.sendall(b"nonsense\n")
        _, _, third = await play.asked()
        play.agents.reach_nodes({})
        assert await asyncio.to_thread(third.recv, 1) == b""
        assert play.relay.opened.empty()

    run(script)


async def driver(play: Play, path: str, nodes: int, **more: Any) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    play.ends.append(connection)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, path)
    await asyncio.get_running_loop().sock_sendall(connection, line(raydap=1, pid=1, nodes=nodes, **more))
    return connection


async def said(connection: socket.socket) -> bytes:
    return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(connection, 1), WAIT)


def test_a_driver_continues_when_raydap_listens_on_all_nodes() -> None:
    async def script(play: Play) -> None:
        loop = asyncio.get_running_loop()
        path = json.loads(play.agents.environment({})["RAYDAP_AGENT"])["raydap"]
        connection = await driver(play, path, 3)
        assert await said(connection) != b"", "raydap lives"
        assert await play.event() == AgentsExpected("driver 1 has joined the cluster")
        going_on = asyncio.ensure_future(loop.sock_recv(connection, 1))
        play.agents.reach_nodes({**NEAR, **FAR})
        await play.asked()
        await asyncio.sleep(0.05)
        assert not going_on.done(), "there are three"
        play.relay.failing = 3
        play.agents.reach_nodes({**NEAR, **FAR, "n2": "192.0.2.8"})
        assert await asyncio.wait_for(going_on, WAIT) == b""
        assert (await play.asked())[0] == "n2"
        assert play.relay.failing == 0
        assert play.events.empty()

    run(script)


def test_a_driver_continues_at_once_without_a_relay() -> None:
    async def script(play: Play) -> None:
        path = json.loads(play.agents.environment({})["RAYDAP_AGENT"])["raydap"]
        assert await said(await driver(play, path, 3)) == b""
        assert play.events.empty()

    run(script, "never")


def test_only_the_launched_program_reports_the_cluster_that_it_has_joined(tmp_path: Path) -> None:
    async def script(play: Play) -> None:
        launched = json.loads(play.agents.environment({})["RAYDAP_AGENT"])["raydap"]
        play.agents.reach(str(tmp_path))
        (shared,) = raydaps_in(str(tmp_path))
        assert await play.event() == AgentsSearched()
        calls = Path(launched).name
        assert await said(await driver(play, shared, 1, calls=calls, cluster="http://another:1")) == b""
        assert play.joined == []
        assert await said(await driver(play, launched, 1, calls=calls, cluster="http://its:1")) == b""
        assert play.joined == ["http://its:1"]
        assert play.events.empty(), "a cluster of one node has no others to listen on"

    run(script)


def test_a_driver_without_a_raydap_calls_each_that_listens(tmp_path: Path) -> None:
    """A raydap that has launched a program debugs nothing else, so it does not reach nodes for other drivers."""

    async def script(play: Play) -> None:
        play.agents.reach(str(tmp_path))
        (path,) = map(Path, raydaps_in(str(tmp_path)))
        assert await play.event() == AgentsSearched()
        connection = await driver(play, str(path), 2)
        assert await said(connection) != b""
        assert await play.event() == AgentsExpected("driver 1 has joined the cluster")
        play.agents.environment({})
        assert await said(await driver(play, str(path), 2)) == b""
        assert await said(await driver(play, str(path), 2, calls="raydap-call-another")) == b""
        assert await said(await driver(play, str(path), 2, calls=path.name)) != b""

    run(script)
