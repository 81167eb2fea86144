"""The clients of one bridge: makes them of connections, and hands their messages to the core as events."""

import asyncio
from collections.abc import Callable

from raydap.core import events as ev
from raydap.protocol.types import ClientId
from raydap.transport.peer import Peer


class Clients:
    """All clients by their ids. `handle` takes the events.

    A guest keeps nothing alive: `wait_left` does not wait for it. It came by the port for child sessions
    (core/workers/child_sessions.py), or to join the session of an editor; or it has left, over a connection that is
    kept to the end of the process.
    """

    def __init__(self, handle: Callable[[ev.Event], None]) -> None:
        self._handle = handle
        self._peers: dict[ClientId, Peer] = {}
        self._guests: set[ClientId] = set()
        self._kept: set[ClientId] = set()
        self._count = 0
        self._left = asyncio.Event()

    def connect(
        self,
        open_peer: Callable[[Callable[[bytes], None], Callable[[str], None]], Peer],
        child_session: bool = False,
        admitted: bool = True,
        guest: bool = False,
        kept: bool = False,
    ) -> Peer:
        """Takes a new client. `open_peer` makes its connection from the two callbacks of transport.Peer. `kept`: only
        the end of the process ends the connection."""
        self._count += 1
        client = ClientId(self._count)
        peer = open_peer(
            lambda data: self._handle(ev.ClientMessage(client, data)), lambda reason: self._gone(client, reason)
        )
        self._peers[client] = peer
        if child_session or guest:
            self._guests.add(client)
        if kept:
            self._kept.add(client)
        self._handle(ev.ClientConnected(client, child_session, admitted))
        return peer

    def connect_unauthenticated(
        self, open_peer: Callable[[Callable[[bytes], None], Callable[[str], None], Callable[[], None]], Peer]
    ) -> Peer:
        """Takes a client that has not shown the token yet. It has when it calls the third callback of `open_peer`."""
        client = ClientId(self._count + 1)
        return self.connect(
            lambda on_message, on_gone: open_peer(on_message, on_gone, lambda: self._handle(ev.ClientAdmitted(client))),
            admitted=False,
        )

    def send(self, client: ClientId, data: bytes) -> None:
        """Does nothing for a client that is gone."""
        peer = self._peers.get(client)
        if peer is not None:
            peer.send(data)

    def drop(self, client: ClientId) -> Peer | None:
        """The client has left. Returns its connection, which the caller closes, and the core gets ClientGone; None if
        the connection is kept, or gone already."""
        if client in self._kept:
            self._guests.add(client)
            self._check_left()
            return None
        peer = self._peers.get(client)
        self._gone(client, "left")
        return peer

    def remove_all(self, and_kept: bool = False) -> list[Peer]:
        """The core gets ClientGone for each; the caller closes the connections. Without `and_kept` those remain that
        are kept although their clients have left."""
        remaining = set() if and_kept else self._kept & self._guests
        clients = [client for client in self._peers if client not in remaining]
        peers = [self._peers[client] for client in clients]
        for client in clients:
            self._gone(client, "raydap ends")
        return peers

    async def wait_left(self) -> None:
        """Returns when the last client has left; guests do not count."""
        await self._left.wait()

    def _gone(self, client: ClientId, reason: str) -> None:
        if self._peers.pop(client, None) is not None:
            self._guests.discard(client)
            self._kept.discard(client)
            self._check_left()
            self._handle(ev.ClientGone(client, reason))

    def _check_left(self) -> None:
        if not self._peers.keys() - self._guests:
            self._left.set()
