"""The agents on other nodes of the cluster: the relay finds them there, and takes their calls."""

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Mapping

from raydap.cluster.relay.relay_client import Relay
from raydap.tasks import Tasks
from raydap.tcp_sockets import is_local_address

log = logging.getLogger("raydap")

RETRY_S = 1.0
"""Seconds until a node is tried again whose actor has died, or that could not be reached."""

MAX_RETRY_S = 30.0
"""Doubled for each failure in a row, up to this."""


class NodeAgents:
    """Watches nodes over the relay. Must be closed.

    `name` is under what raydap listens there. `everywhere`: also on nodes of this machine, whose agents raydap can
    reach by itself. `on_found` gets the first line of each agent, and `on_call` the connection of each that begins, and
    both the id of the node. `on_searched` gets the id when all agents that were there have been found, or when the node
    cannot be reached.
    """

    def __init__(
        self,
        relay: Relay,
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
        return set(self._watches)

    def reach(self, nodes: Mapping[str, str]) -> set[str]:
        """Watches those that are not of this machine, and no others. Ray's ids, and addresses. Returns the ids of those
        that were not watched before."""
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
        """Returns when agents on all nodes can call, and these are at least so many nodes."""
        while self._known < nodes or self._silent:
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        self._tasks.cancel()
        await self._tasks.wait()

    async def _watch(self, node_id: str) -> None:
        """Until it is cancelled; through all ends of the node's actor."""
        delay = RETRY_S
        while True:
            try:
                connection = await self._relay.open(node_id, {"listen": self._name})
                log.info("agents on node %s are reached over the relay", node_id)
                delay = RETRY_S
                self._silent.discard(node_id)
                self._changed.set()
                await self._read(node_id, connection)
                log.info("agents on node %s are not reached any more; raydap tries again", node_id)
            except OSError as error:
                log.info("agents on node %s are not reached: %s", node_id, error)
            self._on_searched(node_id)
            self._silent.add(node_id)
            await asyncio.sleep(delay)
            delay = min(delay * 2, MAX_RETRY_S)

    async def _read(self, node_id: str, connection: socket.socket) -> None:
        """Until the actor ends. Its lines are those of relay_actor.AgentWatch."""
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            while line := await reader.readline():
                said = json.loads(line)
                if "call" in said:
                    self._tasks.spawn(self._take_call(node_id, said["call"]))
                elif "searched" in said:
                    self._on_searched(node_id)
                else:
                    self._on_found(said["found"].encode(), node_id)
        except ValueError as error:
            raise OSError(f"the relay said what is no answer ({error})") from None
        finally:
            writer.close()

    async def _take_call(self, node_id: str, number: int) -> None:
        try:
            self._on_call(await self._relay.open(node_id, {"call": number}), node_id)
        except OSError as error:
            log.info("a process on node %s called, and cannot be reached: %s", node_id, error)
