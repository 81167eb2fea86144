"""The current workers of a session, updated by its events."""

import asyncio
import sys
import time
from typing import Any

import msgspec
import pytest

from raydap.client import joining
from raydap.client.dap_connection import ConnectionEnded, SessionError
from raydap.client.joining import JoinedSession, Kind, SessionTarget
from raydap.protocol.raydap_messages import WorkerEntry, WorkerList
from raydap.terminal import live_session
from raydap.terminal.live_session import LiveSession, answering, looking
from support.scripted_session import ScriptedConnection, ScriptedLive
from unit.terminal.made_up_pdbs import entry


def told(*workers: WorkerEntry, outage: str = "", complete: Any = msgspec.UNSET) -> Any:
    return msgspec.to_builtins(WorkerList(workers=workers, outage=outage, complete=complete))


def test_the_list_follows_the_events() -> None:
    live, events = LiveSession(), []
    live.on_event = lambda name, body: events.append((name, list(live.workers)))
    live._take_event("raydap/workersChanged", told(entry("a"), entry("b")))
    assert (live.listed.is_set(), live.changed.is_set()) == (False, True)
    live._take_event("raydap/workersChanged", told(entry("a", "gone"), entry("c", "detached"), complete=True))
    assert list(live.workers) == ["b"]
    assert live.listed.is_set()
    live._take_event("raydap/workersChanged", told(outage="The dashboard does not answer."))
    assert live.outage == "The dashboard does not answer."
    # Each event is forwarded after it has taken effect here.
    assert events == [("raydap/workersChanged", names) for names in (["a", "b"], ["b"], ["b"])]


def test_the_end_of_a_session_is_no_loss_of_the_connection() -> None:
    live = LiveSession()
    live._take_event("terminated", {})
    live._gone("closed")
    assert (live.ended.is_set(), live.lost) == (True, "")
    lost = LiveSession()
    lost._gone("connection reset")
    assert (lost.ended.is_set(), lost.changed.is_set(), lost.lost) == (True, True, "connection reset")


def test_waiting_for_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        live = LiveSession()
        asyncio.get_running_loop().call_soon(live.listed.set)
        assert await live.wait_listed()
        ended = LiveSession()
        asyncio.get_running_loop().call_soon(ended._gone, "closed")
        with pytest.raises(ConnectionEnded, match="start the command again"):
            await ended.wait_listed()
        monkeypatch.setattr(live_session, "LIST_TIMEOUT_S", 0.001)
        assert not await LiveSession().wait_listed()

    asyncio.run(run())


class FakeSession(JoinedSession):
    """A session that begins, or raises `refusal`."""

    def __init__(self, kind: Kind, is_active: bool, refusal: SessionError | None = None) -> None:
        super().__init__(kind, "a session", lambda name, body: None, lambda reason: None)
        self.is_active = is_active
        self.connection = ScriptedConnection({"raydap/workers": told(entry("a"))})
        self.begun: list[tuple[str, Any]] = []
        self.has_left = False
        self._refusal = refusal

    async def begin(self, command: str, arguments: Any, configure: Any = None) -> None:
        self.begun.append((command, arguments))
        if self._refusal is not None:
            raise self._refusal

    async def leave(self) -> None:
        self.has_left = True


def look(monkeypatch: pytest.MonkeyPatch, session: FakeSession, dashboard: str | None = "http://h:8265") -> None:
    async def find(target: SessionTarget, on_event: Any, on_gone: Any, kept: bool) -> FakeSession:
        assert kept, "these commands join the session of `raydap session`, too"
        return session

    monkeypatch.setattr(joining, "find", find)

    async def run() -> None:
        async with looking(SessionTarget(dashboard=dashboard)) as live:
            assert list(live.workers) == ["a"]
            assert not session.has_left

    asyncio.run(run())


def test_a_look_attaches_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    own = FakeSession("own", is_active=False)
    look(monkeypatch, own)
    assert own.begun == [("attach", {"dashboard": "http://h:8265", "autoAttach": False})]
    assert own.has_left
    joined = FakeSession("hub", is_active=True)
    look(monkeypatch, joined)
    assert joined.begun == [("attach", {"join": True})]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("10.0.0.1:6379", "Cluster: http://c:1 (RAY_ADDRESS)\n"),
        ("auto", "Cluster: http://c:1 (found on this machine)\n"),
        ("", "Cluster: http://c:1 (found on this machine)\n"),
    ],
)
def test_a_look_at_a_cluster_that_was_not_named_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str, sentence: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.delenv("RAY_API_SERVER_ADDRESS", raising=False)
    session = FakeSession("own", is_active=False)
    session.connection = ScriptedConnection({"raydap/workers": {**told(entry("a")), "cluster": "http://c:1"}})
    look(monkeypatch, session, dashboard=None)
    assert sentence in capsys.readouterr().err
    session = FakeSession("own", is_active=False)
    session.connection = ScriptedConnection({"raydap/workers": {**told(entry("a")), "cluster": "http://c:1"}})
    look(monkeypatch, session)
    assert capsys.readouterr().err == "", "the command names the cluster"


def test_a_session_that_cannot_begin_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession("own", is_active=False, refusal=SessionError("no cluster"))
    with pytest.raises(SessionError, match="no cluster"):
        look(monkeypatch, session)
    assert session.has_left


def test_the_age_of_a_state_grows_after_the_session_has_sent_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    live = LiveSession()
    live._take_event("raydap/workersChanged", told(msgspec.structs.replace(entry("a"), age=2.0)))
    now[0] += 5
    assert live.age(live.workers["a"]) == 7.0


def test_a_session_of_our_own_has_not_seen_the_states_begin_that_it_finds() -> None:
    live = ScriptedLive()
    live.listed.clear()
    live._is_own = True
    live._take_event("raydap/workersChanged", told(entry("a", "paused"), entry("b"), complete=True))
    live._take_event("raydap/workersChanged", told(entry("a", "paused"), entry("b", "running"), entry("c")))
    assert [each.key for each in live.workers.values() if live.age(each) is None] == ["a"]


def test_workers_that_run_something() -> None:
    live = LiveSession()
    kept = msgspec.structs.replace(entry("kept"), task="", actor="", state="alive", type="worker")
    driver = msgspec.structs.replace(kept, key="driver", type="driver")
    actor = msgspec.structs.replace(kept, key="actor", actor="Trainer")
    live._take_event("raydap/workersChanged", told(kept, driver, actor))
    assert [each.key for each in live.busy] == ["driver", "actor"]
    assert live.debugged == []
    live._take_event("raydap/workersChanged", told(entry("a", "running"), entry("b", "paused")))
    assert [each.key for each in live.debugged] == ["a", "b"]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_an_answer_that_a_program_reads_has_the_state_before_it_and_a_next_command_after_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_terminal: bool
) -> None:
    session = FakeSession("own", is_active=False)
    listed = told(entry("a", "stopped"), entry("b", "running"), entry("c", "held"))
    session.connection = ScriptedConnection({"raydap/workers": {**listed, "complete": True}})

    async def find(target: SessionTarget, on_event: Any, on_gone: Any, kept: bool) -> FakeSession:
        return session

    async def run() -> None:
        async with answering(SessionTarget(dashboard="http://h:8265"), "raydap stacks"):
            sys.stderr.write("the answer\n")

    monkeypatch.setattr(joining, "find", find)
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    asyncio.run(run())
    whole = ["1 stopped, 1 held at a barrier, 1 running", "the answer", "Next: raydap stacks"]
    assert capsys.readouterr().err.splitlines() == (whole[1:2] if is_terminal else whole)
