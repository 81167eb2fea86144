"""Connections become clients of the core."""

import asyncio
from collections.abc import Callable

from raydap.core import events as ev
from raydap.protocol.types import ClientId
from raydap.runtime.clients import Clients
from raydap.transport.peer import Peer

ONE, TWO = ClientId(1), ClientId(2)


class Connection(Peer):
    """A peer whose callbacks the test calls."""

    def __init__(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> None:
        super().__init__(on_message, on_gone)
        self.message, self.end = on_message, on_gone


def test_messages_and_the_end_of_a_connection_are_events() -> None:
    events: list[ev.Event] = []
    clients = Clients(events.append)
    connection = clients.connect(Connection)
    assert isinstance(connection, Connection)
    connection.message(b"{}")
    connection.end("closed")
    connection.end("closed")
    clients.send(ONE, b"to nobody")
    assert events == [ev.ClientConnected(ONE), ev.ClientMessage(ONE, b"{}"), ev.ClientGone(ONE, "closed")]


def test_a_client_without_the_token_is_admitted_later() -> None:
    events: list[ev.Event] = []
    admit: list[Callable[[], None]] = []
    clients = Clients(events.append)

    def open_peer(
        on_message: Callable[[bytes], None], on_gone: Callable[[str], None], on_admitted: Callable[[], None]
    ) -> Peer:
        admit.append(on_admitted)
        return Connection(on_message, on_gone)

    clients.connect(Connection)
    clients.connect_unauthenticated(open_peer)
    admit[0]()
    assert events[1:] == [ev.ClientConnected(TWO, admitted=False), ev.ClientAdmitted(TWO)]


def test_child_session_clients_keep_nothing_alive() -> None:
    async def main() -> None:
        events: list[ev.Event] = []
        clients = Clients(events.append)
        left = asyncio.ensure_future(clients.wait_left())
        parent = clients.connect(Connection)
        clients.connect(Connection, child_session=True)
        assert events == [ev.ClientConnected(ONE), ev.ClientConnected(TWO, True)]
        await asyncio.sleep(0)
        assert not left.done()
        assert clients.drop(ONE) is parent
        await left
        assert clients.drop(ONE) is None
        assert len(clients.remove_all()) == 1
        assert events[2:] == [ev.ClientGone(ONE, "left"), ev.ClientGone(TWO, "raydap is shutting down")]

    asyncio.run(main())


def test_a_connection_that_is_kept_outlives_its_client() -> None:
    async def main() -> None:
        events: list[ev.Event] = []
        clients = Clients(events.append)
        connection = clients.connect(Connection, kept=True)
        assert isinstance(connection, Connection)
        clients.connect(Connection, guest=True)
        assert clients.drop(ONE) is None
        await clients.wait_left()
        connection.message(b"{}")
        assert len(clients.remove_all()) == 1
        assert events[2:] == [ev.ClientMessage(ONE, b"{}"), ev.ClientGone(TWO, "raydap is shutting down")]
        assert clients.remove_all(and_kept=True) == [connection]
        assert events[4:] == [ev.ClientGone(ONE, "raydap is shutting down")]

    asyncio.run(main())


def test_a_child_session_that_ends_leaves_its_parent_there() -> None:
    async def main() -> None:
        clients = Clients(lambda event: None)
        left = asyncio.ensure_future(clients.wait_left())
        clients.connect(Connection)
        clients.connect(Connection, child_session=True)
        clients.drop(TWO)
        await asyncio.sleep(0)
        assert not left.done()
        left.cancel()

    asyncio.run(main())
