"""Connects to a worker's debug port or agent: directly, or over the relay if only the worker's node can."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from raydap.cluster.machine import outside_looks
from raydap.cluster.machine.outside_looks import PY_SPY_TIMEOUT_S
from raydap.cluster.relay.relay_client import ClusterAccess, RelayClient, RelayFailed
from raydap.cluster.survey import py_spy
from raydap.core.effects import AskWaiting, DialWorker, FindForkedWaits
from raydap.core.process_info import ForkedWaits, ProcessInfo
from raydap.inworker import calls
from raydap.runtime import agent_connections, short_attach
from raydap.tcp_sockets import is_local_address
from raydap.transport import tcp, unix
from raydap.transport.peer import Peer

log = logging.getLogger("raydap")

QUICK_HELLO_TIMEOUT_S = 1.5
"""Seconds for the first line of an agent on this machine that gets a question. Its process is read from outside if the
agent does not answer."""

DIRECT_TIMEOUT_S = 10.0
"""Seconds for a direct connection if there is no other way."""

SHORT_ATTACHES = 24
"""The most short attaches that are under way at once."""

DIRECT_BEFORE_RELAY_TIMEOUT_S = 3.0
"""Seconds for a direct connection before the relay is tried. They are enough for one or two lost packets."""


class WorkerDialer:
    """Connects to workers, and remembers which nodes need the relay, so that a firewall costs its timeout only once.

    Must be closed. The mode "auto" uses the relay for debug ports that cannot be reached directly, and for the agents
    of other nodes. A worker without a Ray node is always dialled directly. Other parts of raydap may use `relay`, too.
    """

    def __init__(
        self, mode: Literal["auto", "always", "never"], cluster_access: Callable[[], Awaitable[ClusterAccess | None]]
    ) -> None:
        self.mode = mode
        self.relay = RelayClient(cluster_access)
        self._relay_nodes: set[str] = set()
        self._short_attaches = asyncio.Semaphore(SHORT_ATTACHES)

    async def dial(
        self,
        target: DialWorker,
        on_message: Callable[[bytes], None],
        on_gone: Callable[[str], None],
        waiting: socket.socket | None = None,
    ) -> Peer:
        """Connect to a worker, with the callbacks and the exceptions of transport.tcp.dial.

        The reason that `on_gone` gets mentions the relay if the connection used it. `waiting` is the connection of an
        agent that has called raydap.
        """
        if target.agent:
            connection = await agent_connections.connect(lambda: self._dial_agent(target), waiting)
            where = " over the relay" if target.over_relay else ""
            return await tcp.adopt(connection, on_message, lambda why: on_gone(why + where))
        if self.mode == "never" or not target.node_id:
            return await tcp.dial(target.host, target.port, on_message, on_gone, DIRECT_TIMEOUT_S)
        if self.mode == "always" or target.node_id in self._relay_nodes:
            return await self._over_relay(target, "--relay always requires it", on_message, on_gone)
        try:
            return await tcp.dial(target.host, target.port, on_message, on_gone, DIRECT_BEFORE_RELAY_TIMEOUT_S)
        except OSError as error:
            if isinstance(error, ConnectionRefusedError) and is_local_address(target.host):
                raise
            try:
                reason = f"a direct connection failed ({error.strerror or error})"
                return await self._over_relay(target, reason, on_message, on_gone)
            except RelayFailed as failure:
                log.info("the relay cannot reach node %s: %s", target.node_id, failure)
                if isinstance(error, ConnectionRefusedError):
                    raise error from None
                raise OSError(f"{error.strerror or error}; the relay cannot reach it either: {failure}") from None

    async def ask_agent(self, target: DialWorker, question: Mapping[str, Any], timeout_s: float) -> str:
        """Return an agent's answer to a question, as agent_connections.ask does."""
        hello_timeout_s = agent_connections.HELLO_TIMEOUT_S if target.over_relay else QUICK_HELLO_TIMEOUT_S
        return await agent_connections.ask(lambda: self._dial_agent(target), question, timeout_s, hello_timeout_s)

    async def ask_waiting(self, question: AskWaiting) -> str:
        """Return the result of an expression in a worker that waits. Raises OSError with a text for users.

        Only a few short attaches are under way at once, because each one starts a process.
        """
        async with self._short_attaches:
            dial = partial(self.dial, question.target)
            return await short_attach.ask(dial, question.expression, question.timeout_s)

    async def sample_stack(self, worker: ProcessInfo) -> str:
        """Return the stacks of all Python threads of a worker as JSON of `Stacks`.

        py-spy reads them on the worker's node. Raises OSError with a text for users.
        """
        target = {"py_spy": worker.pid}
        output = await self._look_outside(worker.host, worker.node_id, target, lambda: py_spy.output(worker))
        return msgspec.json.encode(py_spy.decode(output)).decode()

    async def forked_waits(self, search: FindForkedWaits) -> str:
        """Return the ForkedWaits of these processes as JSON. Raises OSError with a text for users.

        The result is empty if their node needs the relay and the search may not use it.
        """
        if not search.may_relay and not self._looks_itself(search.host, search.node_id):
            return msgspec.json.encode(ForkedWaits()).decode()
        look = partial(asyncio.to_thread, outside_looks.forked_waits_output, search.pids)
        return (await self._look_outside(search.host, search.node_id, {"forks": search.pids}, look)).decode()

    async def _look_outside(
        self, host: str, node_id: str, target: Mapping[str, Any], look: Callable[[], Awaitable[bytes]]
    ) -> bytes:
        """Return the result of `look` on this machine, or that of the relay's actor for `target` on another node."""
        if self._looks_itself(host, node_id):
            return await look()
        if self.mode == "never" or not node_id:
            raise py_spy.PySpyFailed("it runs on another machine than raydap, and the relay may not be used")
        with await self.relay.open(node_id, target) as connection:
            return await unix.read_to_end(connection, py_spy.MAX_OUTPUT, PY_SPY_TIMEOUT_S)

    def _looks_itself(self, host: str, node_id: str) -> bool:
        """Return whether raydap can read this node's processes from outside without the relay."""
        return is_local_address(host) and not (self.mode == "always" and node_id)

    async def close(self) -> None:
        """End the relay. The caller detaches from the workers first."""
        await self.relay.close()

    async def _dial_agent(self, target: DialWorker) -> socket.socket:
        if target.over_relay:
            return await self.relay.open(target.node_id, {"agent": target.agent})
        return await unix.dial(target.agent, DIRECT_TIMEOUT_S)

    async def _over_relay(
        self, target: DialWorker, reason: str, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]
    ) -> Peer:
        try:
            connection = await self.relay.open(target.node_id, {"host": target.host, "port": target.port})
        except RelayFailed:
            self._relay_nodes.discard(target.node_id)
            raise
        if target.node_id not in self._relay_nodes:
            self._relay_nodes.add(target.node_id)
            log.info("using the relay for node %s: %s", target.node_id, reason)
        return await tcp.adopt(connection, on_message, lambda why: on_gone(f"{why} over the relay"))


async def make_text(tune: bool) -> None:
    """Build the code that the core sends to each worker first, in a thread.

    This takes 60 ms, once. The first worker would have to wait for it otherwise.
    """
    await asyncio.to_thread(calls.enter, tune=tune)
