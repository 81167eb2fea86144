"""A debug session in this process, for a program that finds none to join."""

import asyncio
import socket
from collections.abc import Callable

from raydap.runtime import session_socket
from raydap.runtime.engine import Engine
from raydap.runtime.session_socket import SessionSocket
from raydap.transport import tcp
from raydap.transport.peer import Peer


class OwnSession:
    """An engine whose client is this program. Must be closed."""

    def __init__(self) -> None:
        self._engine = Engine()
        self._others: SessionSocket | None = None

    async def connect(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
        """Connect to the session. See `Connect` in dap_connection.py."""
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self._engine.clients.connect(Peer), sock=theirs)
        return await tcp.adopt(ours, on_message, on_gone)

    async def share(self, pattern: str = session_socket.EDITORS) -> bool:
        """Let other programs of the user join. Return False if the system does not allow it.

        `pattern` decides which: session_socket.EDITORS or KEPT.
        """
        self._others = await SessionSocket.serve(self._engine.clients, pattern=pattern)
        return self._others is not None

    @property
    def joined(self) -> int:
        """The number of other programs that have joined so far."""
        return 0 if self._others is None else self._others.joined

    @property
    def guests(self) -> int:
        """The number of other programs that take part now."""
        return self._engine.clients.guests

    async def close(self) -> None:
        """Detach from every worker, and end the session."""
        if self._others is not None:
            self._others.close()
        await self._engine.close()
