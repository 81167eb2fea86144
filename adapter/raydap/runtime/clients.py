"""The clients of one bridge: makes clients of connections, and events for the core of their messages."""

import asyncio
from collections.abc import Callable

from raydap.core import events as ev
from raydap.protocol.types import ClientId
from raydap.transport.peer import Peer


class Clients:
    """All clients by their ids. `handle` receives the events.

    A guest does not keep the process alive: `wait_left` does not wait for it. Three kinds of clients are guests: child
    sessions, which connect to a port of their own (core/workers/child_sessions.py), programs that join the session of
    an editor, and clients that have left over a connection that stays open until the process ends.
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
        """Add a client and return its connection.

        `open_peer` makes the connection from the two callbacks of transport.peer.Peer. With `kept`, the connection
        stays open until the process ends, even if the client leaves. `child_session` and `admitted` are as in
        ClientConnected.
        """
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
        """Add a client that has not sent the token yet, and return its connection.

        `open_peer` gets a third callback, which it calls when the client has sent the right token.
        """
        client = ClientId(self._count + 1)
        return self.connect(
            lambda on_message, on_gone: open_peer(on_message, on_gone, lambda: self._handle(ev.ClientAdmitted(client))),
            admitted=False,
        )

    def send(self, client: ClientId, data: bytes) -> None:
        """Send a message to a client. Does nothing if the client is gone."""
        peer = self._peers.get(client)
        if peer is not None:
            peer.send(data)

    def drop(self, client: ClientId) -> Peer | None:
        """Remove a client that has left, and return its connection for the caller to close.

        The core gets ClientGone. Return None if the client is already gone, or if its connection is kept: then the
        client becomes a guest.
        """
        if client in self._kept:
            self._guests.add(client)
            self._check_left()
            return None
        peer = self._peers.get(client)
        self._gone(client, "left")
        return peer

    def remove_all(self, and_kept: bool = False) -> list[Peer]:
        """Remove clients, and return their connections for the caller to close.

        The core gets ClientGone for each. Kept connections whose clients have left remain, unless `and_kept` is true.
        """
        remaining = set() if and_kept else self._kept & self._guests
        clients = [client for client in self._peers if client not in remaining]
        peers = [self._peers[client] for client in clients]
        for client in clients:
            self._gone(client, "raydap is shutting down")
        return peers

    @property
    def guests(self) -> int:
        """The number of guests that are connected."""
        return len(self._guests)

    async def wait_left(self) -> None:
        """Wait until the last client has left. Guests do not count."""
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
