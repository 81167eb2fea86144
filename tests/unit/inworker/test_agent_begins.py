"""The start of an agent when its process starts (inworker/agent.py)."""

import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from raydap.inworker import agent
from raydap.inworker.agent import Agent
from raydap.inworker.agent_session import AgentSession
from raydap.inworker.agent_socket import AgentSocket

WAIT = 30.0


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the raydaps that the agent has called."""
    made: list[str] = []
    monkeypatch.setattr(agent, "call_raydaps", lambda call, folder, raydap, wait: made.append(raydap))
    return made


def test_a_raydap_that_finds_the_socket_at_once_gets_its_path(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Agent(str(tmp_path), {"worker_id": "w1"}, "")
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(Agent, "_serve", lambda self, path: told.append((path, self.identity["socket"])))
    started.begin("/raydap")
    ((path, said),) = told
    assert path == said
    assert calls == ["/raydap"]


class Waited(threading.Event):
    """An event that sets `waits` when a thread waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.set()
        return super().wait(timeout)


def test_the_process_waits_for_the_breakpoints_of_a_raydap_that_has_found_it(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Agent(str(tmp_path), {"worker_id": "w1"}, "")
    configured = Waited()
    with closing(AgentSocket()) as connection:
        session = AgentSession(connection, "raydap", "w1", configured)
        monkeypatch.setattr(Agent, "_serve", lambda self, path: setattr(self, "session", session))
        beginning = threading.Thread(target=started.begin, args=["/raydap"])
        beginning.start()
        assert configured.waits.wait(WAIT)
        assert beginning.is_alive()
        configured.set()
        beginning.join(WAIT)
        assert not beginning.is_alive()
    assert calls == []


def test_a_breakpoint_stops_as_soon_as_configuration_done_is_answered() -> None:
    with closing(AgentSocket()) as connection:
        session = AgentSession(connection, "raydap", "w1", threading.Event())
        assert session.debugger is None
        session.started = SimpleNamespace(_on_configuration_done_event=threading.Event())
        assert session.debugger is None
        session.started._on_configuration_done_event.set()
        assert session.debugger is session.started
        session.has_ended = True
        assert session.debugger is None
