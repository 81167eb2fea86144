"""The agents on other nodes of the cluster, which the relay finds and whose calls it takes.

The design is in docs/design/agent-nodes.md.
"""

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Mapping

from raydap.cluster.relay.relay_client import RelayClient
from raydap.tasks import Tasks
from raydap.tcp_sockets import is_local_address

log = logging.getLogger("raydap")

RETRY_S = 1.0
"""Seconds until a node is tried again after its actor has died, or could not be reached."""

MAX_RETRY_S = 30.0
"""The longest time until a node is tried again. Each failure in a row doubles the time."""


class NodeAgents:
    """Watches nodes over the relay. Must be closed.

    raydap listens on each node under `name`. With `everywhere`, nodes on this machine are watched, too, although raydap
    can reach their agents itself. `on_found` gets the first line of each agent, and `on_call` the connection of each
    agent that calls; both also get the id of the node. `on_searched` gets the id of a node when all agents that already
    ran there have been found, or when the node cannot be reached.
    """

    def __init__(
        self,
        relay: RelayClient,
        name: str,
        everywhere: bool,
        on_found: Callable[[bytes, str], None],
        on_call: Callable[[socket.socket, str], None],
        on_searched: Callable[[str], None],
    ) -> None:
        self._relay = relay
        self._name = name
        self._everywhere = everywhere
        self._on_found = on_found
        self._on_call = on_call
        self._on_searched = on_searched
        self._tasks = Tasks()
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._known = 0
        self._silent: set[str] = set()
        self._changed = asyncio.Event()

    @property
    def watched(self) -> set[str]:
        """Return the ids of the nodes that are watched."""
        return set(self._watches)

    def reach(self, nodes: Mapping[str, str]) -> set[str]:
        """Watch these nodes and no others, and return the ids of those that were not watched before.

        `nodes` maps Ray's ids to addresses. Nodes on this machine are left out, unless `everywhere` is true.
        """
        before = self.watched
        self._known = len(nodes)
        for node_id in self._watches.keys() - nodes.keys():
            self._watches.pop(node_id).cancel()
            self._silent.discard(node_id)
        for node_id, address in nodes.items():
            if node_id not in self._watches and (self._everywhere or not is_local_address(address)):
                self._silent.add(node_id)
                self._watches[node_id] = self._tasks.spawn(self._watch(node_id))
        self._changed.set()
        return self.watched - before

    async def listening(self, nodes: int) -> None:
        """Wait until agents can call on all nodes, and there are at least this many nodes."""
        while self._known < nodes or self._silent:
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        """Stop watching all nodes."""
        self._tasks.cancel()
        await self._tasks.wait()

    async def _watch(self, node_id: str) -> None:
        """Watch a node until the task is cancelled, and start again whenever the node's actor ends."""
        delay = RETRY_S
        while True:
            try:
                connection = await self._relay.open(node_id, {"listen": self._name})
                log.info("connected to the agents on node %s over the relay", node_id)
                delay = RETRY_S
                self._silent.discard(node_id)
                self._changed.set()
                await self._read(node_id, connection)
                log.info("lost the connection to the agents on node %s; raydap retries", node_id)
            except OSError as error:
                log.info("cannot reach the agents on node %s: %s", node_id, error)
            self._on_searched(node_id)
            self._silent.add(node_id)
            await asyncio.sleep(delay)
            delay = min(delay * 2, MAX_RETRY_S)

    async def _read(self, node_id: str, connection: socket.socket) -> None:
        """Handle the lines of relay_actor.AgentWatch until the actor ends."""
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            while line := await reader.readline():
                message = json.loads(line)
                if "call" in message:
                    self._tasks.spawn(self._take_call(node_id, message["call"]))
                elif "searched" in message:
                    self._on_searched(node_id)
                else:
                    self._on_found(message["found"].encode(), node_id)
        except ValueError as error:
            raise OSError(f"the relay sent a malformed line ({error})") from None
        finally:
            writer.close()

    async def _take_call(self, node_id: str, number: int) -> None:
        try:
            self._on_call(await self._relay.open(node_id, {"call": number}), node_id)
        except OSError as error:
            log.info("a process on node %s called raydap, but raydap cannot connect to it: %s", node_id, error)
