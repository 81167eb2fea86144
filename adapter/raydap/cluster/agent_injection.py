"""Starts an agent in a worker that was not prepared and runs already, in the cheapest way that works (WAYS)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from raydap.cluster.injection import agent_source, gdb_injection, remote_exec
from raydap.cluster.injection.gdb_injection import InjectionFailed
from raydap.cluster.injection.remote_exec import RemoteExecFailed
from raydap.cluster.relay.relay_client import Relay
from raydap.core.effects import InjectAgent

log = logging.getLogger("raydap")

AT_ONCE = 4
"""Workers at a time. Each gdb costs some tenths of a second of a processor."""


class Way(NamedTuple):
    """`applies` says whether it may work for a worker; `run` raises an exception whose text is for users."""

    name: str
    applies: "Callable[[AgentInjection, InjectAgent, bool], bool]"
    run: "Callable[[AgentInjection, InjectAgent], Awaitable[None]]"


class AgentInjection:
    """`relay` is the way through Ray, None if it must not be used. `is_local` says whether this machine has an
    address."""

    def __init__(self, relay: Relay | None, is_local: Callable[[str], bool]) -> None:
        self._relay = relay
        self._is_local = is_local
        self._room = asyncio.Semaphore(AT_ONCE)

    async def start(self, target: InjectAgent) -> str:
        """Returns "" when the agent is on its way, or why no way works, for users."""
        reasons: dict[str, None] = {}
        async with self._room:
            is_local = self._is_local(target.worker.host)
            for way in WAYS:
                if not way.applies(self, target, is_local):
                    continue
                try:
                    await way.run(self, target)
                    log.info("agent of %s: by %s", target.worker.key, way.name)
                    return ""
                except (OSError, InjectionFailed, RemoteExecFailed) as error:
                    log.info("no agent for %s by %s: %s", target.worker.key, way.name, error)
                    reasons[str(error)] = None
        return "; ".join(reasons) or "raydap's machine is not in its cluster"

    async def _over_relay(self, target: InjectAgent, way: str) -> None:
        assert self._relay is not None
        row = target.worker
        question = {"inject": row.key, "way": way, "pid": row.pid, "node": row.node, "children": target.children}
        (await self._relay.open(row.node_id, question)).close()

    async def _by_actor(self, target: InjectAgent) -> None:
        await self._over_relay(target, "actor")

    async def _by_remote_exec(self, target: InjectAgent) -> None:
        await asyncio.to_thread(remote_exec.run_in_process, target.worker.pid, _source(target))

    async def _by_gdb(self, target: InjectAgent) -> None:
        row = target.worker
        await asyncio.to_thread(gdb_injection.run_in_process, row.pid, row.key, _source(target), row.node)

    async def _by_gdb_on_its_node(self, target: InjectAgent) -> None:
        await self._over_relay(target, "gdb")

    def _has_relay(self, target: InjectAgent) -> bool:
        return self._relay is not None and target.worker.node_id != ""


WAYS = (
    Way("a call of its actor", lambda it, target, _: target.actor and it._has_relay(target), AgentInjection._by_actor),
    Way(
        "sys.remote_exec",
        lambda it, target, is_local: is_local and remote_exec.can_run(target.worker.pid),
        AgentInjection._by_remote_exec,
    ),
    Way("gdb", lambda it, target, is_local: is_local, AgentInjection._by_gdb),
    Way(
        "gdb on its node",
        lambda it, target, is_local: not is_local and it._has_relay(target),
        AgentInjection._by_gdb_on_its_node,
    ),
)
"""In the order in which they are tried, cheapest first."""


def _source(target: InjectAgent) -> str:
    return agent_source.injected(target.worker.key, target.children)
