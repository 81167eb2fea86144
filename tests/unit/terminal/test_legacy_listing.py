"""When and how Ray is asked for tasks that wait in its old debugger."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.ray_process.gcs_keys import KeysUnknown
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.inworker import raylets
from raydap.terminal import legacy_listing
from raydap.terminal.legacy_listing import LegacyListing
from raydap.terminal.live_session import LiveSession
from unit.terminal.made_up_pdbs import FakeLive, entry, waiting


class FakeWatch:
    """A watch that returns these looks in turn, and then fails."""

    looks: list[dict[str, str] | Exception]
    environs: list[str]

    async def start(self, address: str, environ: Any) -> None:
        FakeWatch.environs.append(environ.get("RAY_AUTH_MODE", ""))

    async def entries(self) -> dict[str, str]:
        look = FakeWatch.looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return look

    async def close(self) -> None:
        pass


class FakeKeys:
    answers: list[bool | Exception]
    tokens: list[str | None]

    def __init__(self, address: str, find_token: Callable[[], str | None]) -> None:
        assert address == "10.0.0.1:6379"
        FakeKeys.tokens.append(find_token())

    async def has_legacy(self) -> bool:
        answer = FakeKeys.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        pass


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy_listing, "PAUSE_S", 0.0)
    monkeypatch.setattr(legacy_listing, "LegacyWatch", FakeWatch)
    monkeypatch.setattr(legacy_listing, "GcsKeys", FakeKeys)
    where = "session_1", "10.0.0.1:6379"
    monkeypatch.setattr(raylets, "cluster_of", lambda nodes: where if "n1" in nodes else None)
    monkeypatch.setattr(legacy_breakpoints, "read", lambda key, text, workers: waiting(text, int(key)))
    FakeWatch.looks, FakeWatch.environs, FakeKeys.answers, FakeKeys.tokens = [], [], [True], []


def looks(live: LiveSession, **environ: str) -> tuple[LegacyListing, list[list[str]]]:
    """Return the listing, and what each of its looks has found, until there are no more looks."""
    found: list[list[str]] = []

    async def run() -> LegacyListing:
        listing = LegacyListing(environ)
        listing.on_look = lambda: found.append([one.key for one in listing.breakpoints])
        listing.follow(live)
        assert listing._running is not None
        await listing._running
        assert listing.looked.is_set()
        await listing.close()
        return listing

    return asyncio.run(run()), found


@pytest.mark.usefixtures("cluster")
def test_ray_is_asked_as_soon_as_there_is_something_to_see() -> None:
    FakeKeys.answers = [False, False, True]
    FakeWatch.looks = [{"1": "a"}, {"1": "a", "2": "a"}, QueryFailed("Ray's client has ended")]
    listing, found = looks(FakeLive(entry("a")))
    one, two = "RAY_PDB_1", "RAY_PDB_2"
    assert found == [[], [], [one], [one, two], []]
    assert listing.problem == "Ray's client has ended"
    assert listing.access is not None
    assert listing.access.session == "session_1"


@pytest.mark.usefixtures("cluster")
def test_it_is_asked_too_if_the_short_way_fails() -> None:
    FakeKeys.answers = [KeysUnknown()]
    FakeWatch.looks = [{"1": "a"}, QueryFailed("over")]
    assert looks(FakeLive(entry("a")))[1] == [["RAY_PDB_1"], []]


@pytest.mark.usefixtures("cluster")
def test_a_cluster_that_wants_its_token_gets_it() -> None:
    FakeWatch.looks = [QueryFailed("AuthenticationError: no token"), {"1": "a"}, QueryFailed("over")]
    listing, _ = looks(FakeLive(entry("a")), RAY_AUTH_TOKEN="secret")
    assert FakeWatch.environs == ["", "token"]
    assert FakeKeys.tokens == ["secret"]
    assert listing.access is not None
    assert listing.access.environ["RAY_AUTH_MODE"] == "token"


@pytest.mark.usefixtures("cluster")
def test_without_a_token_it_stays_unknown(tmp_path: Path) -> None:
    FakeWatch.looks = [QueryFailed("AuthenticationError: no token")]
    assert "AuthenticationError" in looks(FakeLive(entry("a")), HOME=str(tmp_path))[0].problem


@pytest.mark.usefixtures("cluster")
def test_a_cluster_elsewhere_is_not_asked() -> None:
    listing, found = looks(FakeLive(entry("a", node="elsewhere")))
    assert listing.problem.startswith("no worker of this cluster runs on this machine")
    assert found == [[]]
