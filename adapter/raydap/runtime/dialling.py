"""How a worker's debug port is reached: directly, or over the relay where only its own node reaches it."""

import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Literal

from raydap.core.events import DialWorker
from raydap.discovery.relay import Cluster, Relay, RelayFailed
from raydap.transport import tcp
from raydap.transport.peer import Peer

log = logging.getLogger("raydap")

PATIENCE = 10.0
"""Seconds for a direct connection, where there is no other way."""

SHORT_PATIENCE = 3.0
"""Seconds for a direct connection, where the relay may do better: enough for a lost packet or two."""


class Dialling:
    """Dials workers, and remembers which nodes need the relay: a firewall costs its timeout once. Must be closed.

    "auto" takes the relay for what cannot be reached directly; a worker without a Ray node is always dialled directly.
    """

    def __init__(
        self, mode: Literal["auto", "always", "never"], cluster: Callable[[], Awaitable[Cluster | None]]
    ) -> None:
        self._mode = mode
        self._cluster = cluster
        self._relay = Relay(self._joinable)
        self._relayed: set[str] = set()

    async def dial(
        self, target: DialWorker, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]
    ) -> Peer:
        """Like transport.tcp.dial, with the same errors. `on_gone` tells when the connection went over the relay."""
        if self._mode == "never" or not target.node_id:
            return await tcp.dial(target.host, target.port, on_message, on_gone, PATIENCE)
        if self._mode == "always" or target.node_id in self._relayed:
            return await self._over_relay(target, "it is what --relay always asks for", on_message, on_gone)
        try:
            return await tcp.dial(target.host, target.port, on_message, on_gone, SHORT_PATIENCE)
        except OSError as error:
            if isinstance(error, ConnectionRefusedError) and _is_ours(target.host):
                raise
            try:
                reason = f"a direct connection fails ({error.strerror or error})"
                return await self._over_relay(target, reason, on_message, on_gone)
            except RelayFailed as failure:
                log.info("no relay to node %s: %s", target.node_id, failure)
                if isinstance(error, ConnectionRefusedError):
                    raise error from None
                raise OSError(f"{error.strerror or error}; nor over the relay: {failure}") from None

    async def close(self) -> None:
        """Ends the relay; all workers have been let go."""
        await self._relay.close()

    async def _over_relay(
        self, target: DialWorker, reason: str, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]
    ) -> Peer:
        try:
            connection = await self._relay.open(target.node_id, target.host, target.port)
        except RelayFailed:
            self._relayed.discard(target.node_id)
            raise
        if target.node_id not in self._relayed:
            self._relayed.add(target.node_id)
            log.info("node %s is reached over the relay: %s", target.node_id, reason)
        return await tcp.adopt(connection, on_message, lambda why: on_gone(f"{why} over the relay"))

    async def _joinable(self) -> Cluster:
        cluster = await self._cluster()
        if cluster is None:
            raise RelayFailed("the dashboard does not say which cluster this is")
        return cluster


def _is_ours(host: str) -> bool:
    """Whether this is an address of this machine: a port that refuses us there, nobody reaches."""
    try:
        place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(place[0], place[1]) as probe:
            probe.bind(place[4])
    except OSError:
        return False
    return True
