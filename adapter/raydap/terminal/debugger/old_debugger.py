"""The breakpoints of Ray's old debugger in a debug session of the terminal, and the pdb that the user has joined."""

import asyncio
from collections.abc import Callable, Iterable

from raydap.client import pdb_connection
from raydap.client.pdb_connection import NotReached, PdbConnection
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.cluster.relay.relay_client import ClusterAccess, RelayClient, RelayFailed
from raydap.terminal.legacy_listing import LegacyListing


class OldDebugger:
    """The list of these breakpoints, and the pdb that the user has joined. Must be closed."""

    def __init__(self) -> None:
        self.listing = LegacyListing()
        self.joined: tuple[PdbConnection, LegacyBreakpoint] | None = None
        """The pdb that gets the user's lines, with its breakpoint."""
        self._relay = RelayClient(self._access)
        self._numbers: dict[tuple[str, float], int] = {}
        self._shown: set[int] = set()
        """The numbers of the breakpoints that the user has been shown."""
        self._joining: set[asyncio.Task[PdbConnection]] = set()

    def number(self, found: LegacyBreakpoint) -> int:
        """Return the number that the user types for a breakpoint. It stays the same, and is given only once."""
        return self._numbers.setdefault((found.key, found.since), len(self._numbers) + 1)

    def take_new(self) -> list[LegacyBreakpoint]:
        """Return the breakpoints that the user has not been shown yet, and mark them as shown."""
        new = [found for found in self.listing.breakpoints if self.number(found) not in self._shown]
        self.mark_shown(new)
        return new

    def mark_shown(self, breakpoints: Iterable[LegacyBreakpoint]) -> None:
        """Mark breakpoints as shown to the user."""
        self._shown.update(map(self.number, breakpoints))

    async def join(self, found: LegacyBreakpoint, on_text: Callable[[str], None]) -> PdbConnection:
        """Join a pdb, and return its connection. `on_text` gets the lines of its output. Raises NotReached.

        If this is cancelled, the joining continues in the background until pdb is safe to leave, and then leaves it: if
        the connection closed earlier, the task of the worker would end.
        """
        joining = asyncio.ensure_future(self._join(found, on_text))
        self._joining.add(joining)
        try:
            connection = await asyncio.shield(joining)
        except asyncio.CancelledError:
            leaving = asyncio.ensure_future(_leave(joining))
            leaving.add_done_callback(lambda _: self._joining.discard(joining))
            raise
        except BaseException:
            self._joining.discard(joining)
            raise
        self._joining.discard(joining)
        self.listing.drop(found.key)
        self.joined = connection, found
        return connection

    async def leave(self) -> None:
        """Leave the joined pdb, if there is one. Its task keeps running."""
        joined, self.joined = self.joined, None
        if joined is not None:
            await joined[0].leave()

    async def close(self) -> None:
        """Leave all pdbs, and close the relay and the list."""
        await self.leave()
        for joining in list(self._joining):
            await _leave(joining)
        await self._relay.close()
        await self.listing.close()

    async def _join(self, found: LegacyBreakpoint, on_text: Callable[[str], None]) -> PdbConnection:
        connection = PdbConnection(await pdb_connection.dial(found, self._relay), on_text)
        try:
            await connection.begin()
        except BaseException:
            await connection.leave()
            raise
        return connection

    async def _access(self) -> ClusterAccess:
        if self.listing.access is None:
            raise RelayFailed("the cluster is not known yet")
        return self.listing.access


async def _leave(joining: "asyncio.Task[PdbConnection]") -> None:
    try:
        connection = await joining
    except NotReached:
        return
    await connection.leave()
