"""Talking to a stand-in for a pdb of Ray's old debugger. tests/ray/test_legacy_breakpoints.py has real ones."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.client import pdb_connection
from raydap.client.pdb_connection import NotReached, PdbConnection
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.relay.relay_client import RelayClient, RelayFailed
from raydap.inworker import safe_pdb
from raydap.protocol.types import WorkerKey

BANNER = "> /p/collect.py(8)collect()\r\n-> total += 1\r\n(Pdb) "

Work = Callable[[PdbConnection], Awaitable[None]]


class FakePdb:
    """Stands in for a pdb: sends the banner, takes the line that makes it safe, then one line for each of `replies`.

    After the last reply it ends.
    """

    def __init__(self, *replies: str, banner: str = BANNER, safe: str = "(Pdb) ") -> None:
        self._replies = [safe, *replies]
        self._banner = banner
        self.lines: list[str] = []

    async def play(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        writer.write(self._banner.encode())
        for reply in self._replies:
            self.lines.append((await reader.readline()).decode())
            writer.write(reply.encode())
        writer.close()
        await writer.wait_closed()

    def talk(self, work: Work) -> list[str]:
        """Run `work`, and return what its user reads."""
        shown: list[str] = []

        async def run() -> None:
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            playing = asyncio.ensure_future(self.play(theirs))
            connection = PdbConnection(ours, shown.append)
            try:
                await work(connection)
            finally:
                await connection.leave()
                await playing

        asyncio.run(run())
        return shown


def test_a_joined_pdb_shows_where_it_stands_and_answers() -> None:
    async def work(pdb: PdbConnection) -> None:
        await pdb.begin()
        prompts = [pdb.prompt]
        assert pdb.is_safe
        for line in ("p total", "p é", "commands 1", "end", "debug f()", "for x in y:"):
            await pdb.ask(line)
            prompts.append(pdb.prompt)
        assert prompts == ["(Pdb)", "(Pdb)", "(Pdb)", "(com)", "(Pdb)", "((Pdb))", "..."]
        await pdb.ask("c")
        assert (pdb.has_ended, pdb.has_died, pdb.prompt) == (True, False, "")

    fake = FakePdb(
        "no end of line(Pdb) ",
        "'é'\r\n\r\nafter an empty line\r\n(Pdb) ",
        "(com) ",
        "(Pdb) ",
        "ENTERING RECURSIVE DEBUGGER\r\n((Pdb)) ",
        "...   ",
        f"{safe_pdb.CONTINUES}\r\n",
    )
    shown = fake.talk(work)
    assert shown[:2] == ["> /p/collect.py(8)collect()", "-> total += 1"]
    assert shown[2:6] == ["no end of line", "'é'", "", "after an empty line"]
    assert shown[6:] == ["ENTERING RECURSIVE DEBUGGER", safe_pdb.CONTINUES]
    assert fake.lines[0].startswith("!(lambda names: exec(")
    assert fake.lines[1:3] == ["p total\n", "p é\n"]


@pytest.mark.parametrize("end", [*safe_pdb.ENDS, "", "half a li"])
def test_an_end_without_a_message_is_the_death_of_the_process(end: str) -> None:
    async def work(pdb: PdbConnection) -> None:
        await pdb.begin()
        await pdb.ask("n")
        assert (pdb.has_ended, pdb.has_died) == (True, end not in safe_pdb.ENDS)
        # A further command has no effect.
        await pdb.ask("n")
        assert pdb.has_ended

    FakePdb(end).talk(work)


def test_a_pdb_that_cannot_be_made_safe_is_left_by_continue() -> None:
    async def work(pdb: PdbConnection) -> None:
        await pdb.begin()
        assert not pdb.is_safe

    fake = FakePdb("", safe="*** ImportError: no zlib\r\n(Pdb) ")
    assert fake.talk(work) == ["> /p/collect.py(8)collect()", "-> total += 1"]
    assert fake.lines[1] == "continue\n"


def test_leaving_a_safe_pdb_sends_nothing() -> None:
    async def work(pdb: PdbConnection) -> None:
        await pdb.begin()

    fake = FakePdb("")
    fake.talk(work)
    assert fake.lines[1] == ""


def test_another_client_has_joined_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdb_connection, "PROMPT_TIMEOUT_S", 0.05)

    async def work(pdb: PdbConnection) -> None:
        with pytest.raises(NotReached, match="another client may have joined it"):
            await pdb.begin()

    fake = FakePdb(banner="", safe="")
    fake.talk(work)
    # If the pdb was only late, its task continues.
    assert fake.lines == ["continue\n"]


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_whatever_comes_becomes_lines(parts: list[bytes]) -> None:
    shown: list[str] = []

    async def run() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        connection = PdbConnection(ours, shown.append)
        for part in parts:
            theirs.sendall(part)
        theirs.close()
        while not connection.has_ended:
            connection.prompt = ""
            await connection._wait_prompt()
        await connection.leave()

    asyncio.run(run())
    assert all("\n" not in line for line in shown)


class FakeRelay:
    """A relay that records what it should open, and fails if it has a `failure`."""

    def __init__(self, failure: OSError | None = None) -> None:
        self.opened: list[tuple[str, Mapping[str, Any]]] = []
        self._failure = failure

    async def open(self, node_id: str, target: Mapping[str, Any]) -> socket.socket:
        self.opened.append((node_id, target))
        if self._failure is not None:
            raise self._failure
        ours, theirs = socket.socketpair()
        theirs.close()
        return ours


def waiting(node: str, host: str, port: int, external: bool) -> LegacyBreakpoint:
    key, worker = "RAY_PDB_1", WorkerKey("w1")
    texts = ("collect", "01", "n1", node, 4711, "t1", "", "/p/collect.py", 7, "")
    return LegacyBreakpoint(key, worker, *texts, 0.0, host, port, external)


def dial(found: LegacyBreakpoint, relay: FakeRelay) -> None:
    async def run() -> None:
        (await pdb_connection.dial(found, cast(RelayClient, relay))).close()

    asyncio.run(run())


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(("node", "external"), [("127.0.0.1", False), ("127.0.0.1", True), ("203.0.113.7", True)])
def test_what_this_machine_reaches_is_connected_directly(port: int, node: str, external: bool) -> None:
    relay = FakeRelay()
    dial(waiting(node, "127.0.0.1", port, external), relay)
    assert relay.opened == []


def test_a_pdb_on_the_loopback_of_another_node_is_reached_over_the_relay() -> None:
    relay = FakeRelay()
    dial(waiting("203.0.113.7", "127.0.0.1", 5, external=False), relay)
    assert relay.opened == [("n1", {"host": "127.0.0.1", "port": 5})]


def test_so_is_one_behind_a_firewall() -> None:
    relay = FakeRelay()
    dial(waiting("203.0.113.7", "127.0.0.1", 1, external=True), relay)
    assert relay.opened == [("n1", {"host": "127.0.0.1", "port": 1})]


@pytest.mark.parametrize(
    ("node", "failure", "reason"),
    [
        ("127.0.0.1", None, r"nothing listens at 127.0.0.1:1 \(Connection refused\)"),
        ("203.0.113.7", RelayFailed("no node here"), "can be reached only over the relay, which failed: no node here"),
        ("203.0.113.7", ConnectionRefusedError("refused"), "nothing listens at port 1 of the node 203.0.113.7"),
    ],
)
def test_a_pdb_that_is_not_reached_is_reported_with_the_reason(node: str, failure: OSError | None, reason: str) -> None:
    with pytest.raises(NotReached, match=reason):
        dial(waiting(node, "127.0.0.1", 1, external=False), FakeRelay(failure))
