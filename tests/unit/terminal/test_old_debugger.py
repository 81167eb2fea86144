"""Joining breakpoints of Ray's old debugger, and leaving them."""

import asyncio
from typing import cast

import pytest

from raydap.client import pdb_connection
from raydap.client.pdb_connection import NotReached
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.terminal.debugger import old_debugger
from raydap.terminal.debugger.old_debugger import OldDebugger
from raydap.terminal.legacy_listing import LegacyListing
from unit.terminal.made_up_pdbs import FakeListing, waiting


def debugger(*breakpoints: LegacyBreakpoint) -> OldDebugger:
    made = OldDebugger()
    made.listing = cast(LegacyListing, FakeListing(*breakpoints))
    return made


def test_a_number_stays_and_is_given_once() -> None:
    async def run() -> None:
        one, two, again = waiting("a", 1, since=1.0), waiting("b", 2, since=2.0), waiting("a", 1, since=3.0)
        old = debugger(one, two)
        assert [old.number(found) for found in old.take_new()] == [1, 2]
        assert old.take_new() == []
        # `remote` and `get` reuse a key.
        old.listing = cast(LegacyListing, FakeListing(two, again))
        assert [old.number(found) for found in old.take_new()] == [3]
        assert (old.number(two), old.number(one)) == (2, 1)

    asyncio.run(run())


class FakeConnection:
    """A connection that begins when `may_begin` is set."""

    made: list["FakeConnection"]
    begins: asyncio.Event
    may_begin: asyncio.Event

    def __init__(self, connection: object, on_text: object) -> None:
        self.is_safe = False
        self.left = asyncio.Event()
        FakeConnection.made.append(self)

    async def begin(self) -> None:
        FakeConnection.begins.set()
        await FakeConnection.may_begin.wait()
        self.is_safe = True

    async def leave(self) -> None:
        assert self.is_safe
        self.left.set()

    @classmethod
    def reset(cls) -> None:
        cls.made, cls.begins, cls.may_begin = [], asyncio.Event(), asyncio.Event()


async def dial(found: object, relay: object) -> object:
    return object()


def test_a_user_who_gives_up_joining_leaves_when_that_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_debugger, "PdbConnection", FakeConnection)
    monkeypatch.setattr(pdb_connection, "dial", dial)

    async def run(waits: bool) -> None:
        FakeConnection.reset()
        one = waiting("a")
        old = debugger(one)
        joining = asyncio.ensure_future(old.join(one, print))
        await FakeConnection.begins.wait()
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining
        (made,) = FakeConnection.made
        assert (made.left.is_set(), old.joined) == (False, None)
        FakeConnection.may_begin.set()
        if waits:
            await made.left.wait()
        await old.close()
        assert made.left.is_set()

    asyncio.run(run(waits=True))
    asyncio.run(run(waits=False))


def test_what_is_joined_is_left_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_debugger, "PdbConnection", FakeConnection)
    monkeypatch.setattr(pdb_connection, "dial", dial)

    async def run() -> None:
        FakeConnection.reset()
        FakeConnection.may_begin.set()
        one = waiting("a")
        old = debugger(one)
        await old.join(one, print)
        assert old.listing.breakpoints == []
        assert old.joined is not None
        await old.close()
        assert FakeConnection.made[0].left.is_set()
        assert old.joined is None

    asyncio.run(run())


def test_a_pdb_that_is_not_reached_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(found: object, relay: object) -> object:
        raise NotReached("nothing listens there")

    monkeypatch.setattr(pdb_connection, "dial", fail)

    async def run() -> None:
        one = waiting("a")
        old = debugger(one)
        with pytest.raises(NotReached):
            await old.join(one, print)
        assert old.joined is None
        assert old.listing.breakpoints == [one]
        await old.close()

    asyncio.run(run())
