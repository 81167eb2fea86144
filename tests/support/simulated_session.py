"""A session of the real core with many made-up workers, which `raydap mcp` joins like an editor's session.

The core gets the messages of the tools, and its fake workers answer. Its clock runs with the event loop's.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from raydap.client import joining
from raydap.client.joining import JoinedSession, SessionTarget
from raydap.core.effects import WatchAlive
from raydap.core.events import ClientConnected, ClientGone, ClientMessage
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_calls import ToolCalls
from raydap.protocol.types import ClientId
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.waiting_workers import label, stacks, thread

OnEvent = Callable[[str, Any], None]
OnGone = Callable[[str], None]

TICK_S = 0.02
"""Seconds between two ticks of the core's clock."""


class SimulatedClient:
    """A client of the play, and its connection (transport.peer.Peer) at once."""

    def __init__(self, play: Play, on_message: Callable[[bytes], None]) -> None:
        self.play = play
        self.id = ClientId(len(play.clients) + 1)
        self.open: dict[int, str] = {}
        self.left = False
        self.dropped = False
        self._on_message = on_message
        play.clients[self.id] = self  # type: ignore[assignment]
        play.feed(ClientConnected(self.id, admitted=True))

    def send(self, data: bytes) -> None:
        self.play.feed(ClientMessage(self.id, data))
        if self.play.take_all(WatchAlive):
            self.play.alive(*self.play.workers.values())

    def received(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(self._on_message, data)

    def close(self) -> None:
        self.hang_up()

    async def wait_closed(self) -> None:
        pass

    def nothing(self) -> None:
        pass

    def hang_up(self, reason: str = "closed") -> None:
        if not self.left:
            self.left = True
            self.play.feed(ClientGone(self.id, reason))


class Trainers:
    """An editor's session with a driver and `count` trainers, all of which are attached and run."""

    def __init__(self, count: int) -> None:
        self.play = Play()
        self.editor = self.play.session()
        self.trainers: list[FakeWorker] = []
        for number in range(count):
            worker = self.play.worker(f"w{number}", label("Trainer.step"))
            worker.blocked = stacks(thread("step", 14, "all_reduce"))
            self.trainers.append(worker)
        self.play.paused(*self.trainers)
        self.editor.inbox.clear()

    async def session(self, on_event: Callable[[str, Any], None], on_gone: Callable[[str], None]) -> JoinedSession:
        """Return the session as `joining.find` does."""
        joined = JoinedSession("editor", "the editor's session", on_event, on_gone)

        async def connect(on_message: Callable[[bytes], None], on_end: Callable[[str], None]) -> Any:
            return SimulatedClient(self.play, on_message)

        await joined.connection.open(connect)
        await joined.initialize()
        return joined

    async def tick(self, until: Callable[[], bool] = lambda: False) -> None:
        """Let the core's clock run until `until` returns True, or until cancelled."""
        while not until():
            await asyncio.sleep(TICK_S)
            self.play.tick(TICK_S)

    def ask(self, work: Callable[[ToolCalls], Any]) -> Any:
        """Return the result of `work`, a coroutine function that gets the tools of a model that has joined."""

        async def run() -> Any:
            calls = ToolCalls(SessionTarget(), McpOptions())
            ticking = asyncio.ensure_future(self.tick())
            try:
                return await work(calls)
            finally:
                await calls.close()
                ticking.cancel()

        return asyncio.run(run())


@contextmanager
def simulated(count: int) -> Iterator[Trainers]:
    """Yield a session of `count` trainers that `raydap mcp` in this process joins."""
    trainers = Trainers(count)
    with pytest.MonkeyPatch.context() as patch:

        async def find(target: SessionTarget, on_event: OnEvent, on_gone: OnGone, **_: object) -> JoinedSession:
            return await trainers.session(on_event, on_gone)

        patch.setattr(joining, "find", find)
        yield trainers
    trainers.editor.inbox.clear()
    trainers.play._effects.clear()
    trainers.play.leave()
