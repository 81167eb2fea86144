"""Made-up workers, and made-up breakpoints of Ray's old debugger."""

import asyncio
import time
from typing import Any

from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.protocol.raydap_messages import WorkerEntry, WorkerState
from raydap.protocol.stack_messages import Places
from raydap.protocol.types import WorkerKey
from raydap.terminal.live_session import LiveSession


def entry(key: str, state: WorkerState = "alive", task: str = "collect", node: str = "n1") -> WorkerEntry:
    return WorkerEntry(
        key=key,
        name=key,
        title=f"{task} 4711",
        label=task,
        where="",
        state=state,
        age=3.0,
        type="worker",
        pid=4711,
        node="10.0.0.7",
        node_id=node,
        job="01",
        submission="",
        actor="",
        actor_name="",
        task=task,
        agent=False,
        threads=(),
        problem="",
    )


def waiting(worker: str, number: int = 1, **changes: Any) -> LegacyBreakpoint:
    fields: dict[str, Any] = {
        "key": f"RAY_PDB_{number}",
        "worker": WorkerKey(worker),
        "name": "collect",
        "job": "01",
        "node_id": "n1",
        "node": "10.0.0.7",
        "pid": 4711,
        "task_id": "",
        "actor_id": "",
        "path": "/p/collect.py",
        "line": 7,
        "traceback": "",
        "since": time.time() - 60,
        "host": "127.0.0.1",
        "port": 5,
        "external": False,
    }
    return LegacyBreakpoint(**{**fields, **changes})


class FakeLive(LiveSession):
    """A session with these workers, whose places are unknown."""

    def __init__(self, *entries: WorkerEntry) -> None:
        super().__init__()
        self.workers = {one.key: one for one in entries}
        self.listed.set()

    async def ask(self, command: str, arguments: object, answer: Any) -> Any:
        return Places(places=(), unread=())


class FakeListing:
    """A listing of these breakpoints."""

    def __init__(self, *breakpoints: LegacyBreakpoint) -> None:
        self.breakpoints = list(breakpoints)
        self.looked = asyncio.Event()
        self.looked.set()

    def drop(self, key: str) -> None:
        self.breakpoints = [one for one in self.breakpoints if one.key != key]

    async def close(self) -> None:
        pass
