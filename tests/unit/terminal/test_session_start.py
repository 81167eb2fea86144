"""The start of a `raydap debug` that the user has given a set."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from raydap.client import pdb_connection
from raydap.client.joining import SessionTarget
from raydap.client.pdb_connection import NotReached
from raydap.protocol.raydap_messages import SelectedWorkers
from raydap.terminal.debugger import interactive, old_debugger
from raydap.terminal.debugger.interactive import Interactive
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import FakeListing, entry, waiting


class StartingLive(ScriptedLive):
    """A session that `Interactive` begins itself."""

    async def find(self, target: SessionTarget, kept: bool = False) -> None:
        pass

    async def begin(
        self, command: str, arguments: Mapping[str, Any], configure: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        pass


class FollowedListing(FakeListing):
    """A listing with one breakpoint from the start."""

    def __init__(self) -> None:
        super().__init__(waiting("a"))
        self.on_look = print
        self.problem = ""

    def follow(self, live: object) -> None:
        pass


class EmptyInput:
    """A standard input that has ended."""

    async def read_line(self) -> None:
        return None


async def fail(found: object, relay: object) -> object:
    raise NotReached("nothing listens there")


async def run(monkeypatch: pytest.MonkeyPatch) -> int:
    live = StartingLive(
        entry("a"), raydap__attach=None, raydap__select=SelectedWorkers(workers=("a",)), disconnect=None
    )
    monkeypatch.setattr(interactive, "LiveSession", lambda: live)
    monkeypatch.setattr(interactive, "StandardInput", EmptyInput)
    monkeypatch.setattr(old_debugger, "LegacyListing", FollowedListing)
    monkeypatch.setattr(pdb_connection, "dial", fail)
    return await Interactive(SessionTarget(), "collect", None).run()


def test_a_pdb_that_cannot_be_joined_is_reported_as_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asyncio.run(run(monkeypatch)) == 0
    assert "*** collect 4711 cannot be joined: nothing listens there.\n" in capsys.readouterr().out
