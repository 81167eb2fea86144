"""Starts an agent in a worker that was not prepared and already runs, in the cheapest way that works."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from raydap.cluster.injection import gdb_injection, remote_exec
from raydap.cluster.injection.gdb_injection import InjectionFailed
from raydap.cluster.injection.injection_script import agent_source
from raydap.cluster.relay.relay_client import RelayClient
from raydap.core.effects import InjectAgent
from raydap.tcp_sockets import is_local_address

log = logging.getLogger("raydap")

AT_ONCE = 4
"""The number of workers in which agents are started at a time. Each gdb needs some tenths of a second of a
processor."""

Way = Callable[[InjectAgent], Awaitable[None]]
"""Starts an agent, or raises an exception whose text is for users."""


class AgentInjection:
    """Starts agents in workers. `relay` is the way through Ray; None if raydap must not use it."""

    def __init__(self, relay: RelayClient | None) -> None:
        self._relay = relay
        self._room = asyncio.Semaphore(AT_ONCE)

    async def start(self, target: InjectAgent) -> str:
        """Start an agent in a worker. Return "" if it will call raydap, else why no way works, for users."""
        reasons: dict[str, None] = {}
        async with self._room:
            for name, way in self._ways(target):
                try:
                    await way(target)
                    log.info("started an agent in %s by %s", target.worker.key, name)
                    return ""
                except (OSError, InjectionFailed) as error:
                    log.info("could not start an agent in %s by %s: %s", target.worker.key, name, error)
                    reasons[str(error)] = None
        return "; ".join(reasons) or "raydap's machine is not a node of its cluster"

    def _ways(self, target: InjectAgent) -> Iterator[tuple[str, Way]]:
        """Yield the ways that may work for this worker, with their names, cheapest first."""
        is_local = is_local_address(target.worker.host)
        relay = self._relay if target.worker.node_id else None
        if target.actor and relay is not None:
            yield "a call of its actor", partial(_over_relay, relay, "actor")
        if is_local and remote_exec.can_run(target.worker.pid):
            yield "sys.remote_exec", _by_remote_exec
        if is_local:
            yield "gdb", _by_gdb
        elif relay is not None:
            yield "gdb on its node", partial(_over_relay, relay, "gdb")


async def _over_relay(relay: RelayClient, way: str, target: InjectAgent) -> None:
    row = target.worker
    question = {"inject": row.key, "way": way, "pid": row.pid, "node": row.node, "children": target.children}
    (await relay.open(row.node_id, question)).close()


async def _by_remote_exec(target: InjectAgent) -> None:
    row = target.worker
    await asyncio.to_thread(remote_exec.run_in_process, row.pid, agent_source(row.key, target.children))


async def _by_gdb(target: InjectAgent) -> None:
    row = target.worker
    source = agent_source(row.key, target.children)
    await asyncio.to_thread(gdb_injection.run_in_process, row.pid, row.key, source, row.node)
