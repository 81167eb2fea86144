"""Workers with an agent, and a client whose program starts them, for scripts of sessions."""

from typing import Any

from raydap.core.effects import StartDebuggee, StartDiscovery
from raydap.core.events import AgentCalled, DebuggeeStarted
from raydap.core.process_info import RayFacts
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

LINES = {"source": {"path": "/app/train.py"}, "breakpoints": [{"line": 7}]}
NO_LINES = {"source": {"path": "/app/train.py"}, "breakpoints": []}


def launched(play: Play, breakpoints: dict[str, Any] = NO_LINES, **arguments: Any) -> FakeClient:
    """Return a client whose launched program is running."""
    client = play.client()
    seq = client.send("launch", program="train.py", **arguments)
    client.event("capabilities")
    client.event("initialized")
    client.request("setBreakpoints", **breakpoints)
    client.request("setExceptionBreakpoints", filters=["uncaught"])
    client.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(seq)
    client.event("process")
    return client


def prepared(play: Play, key: str, facts: RayFacts | None = None, **row: Any) -> FakeWorker:
    return play.worker(key, facts, port=0, agent=f"/sockets/{key}", **row)


def call(play: Play, *workers: FakeWorker) -> None:
    for worker in workers:
        play.feed(AgentCalled(worker.row))
