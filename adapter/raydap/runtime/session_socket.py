"""The socket through which other programs of the user join the session of an editor.

It is in the folder that only the user can enter, and its name contains the process id of the adapter.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from raydap.private_listener import SameUserListener
from raydap.runtime.clients import Clients
from raydap.tasks import Tasks
from raydap.transport import runtime_folder
from raydap.transport.peer import Peer

log = logging.getLogger(__name__)

_PATTERN = "session-*.sock"


class SessionSocket:
    """A listening socket. Its clients are guests: they do not keep the process alive."""

    def __init__(self, path: Path, clients: Clients) -> None:
        self._clients = clients
        self._tasks = Tasks()
        self._listener = SameUserListener(str(path), self._take)

    @classmethod
    async def serve(cls, clients: Clients, environ: Mapping[str, str] = os.environ) -> "SessionSocket | None":
        """Listen, and return the socket; None if the system does not allow it.

        The session works without the socket, so a failure is only logged.
        """
        try:
            return cls(runtime_folder.directory(environ) / _PATTERN.replace("*", str(os.getpid())), clients)
        except OSError as error:
            log.warning("no other program can join this session: %s", error)
            return None

    def _take(self, connection: socket.socket) -> None:
        self._tasks.spawn(self._connect(connection))

    async def _connect(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: self._clients.connect(Peer, guest=True), connection)

    def close(self) -> None:
        """Stop listening. Clients that have joined stay connected."""
        self._listener.close()
        self._tasks.cancel()


def find(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the sockets of all sessions, including some that have ended. Raises OSError."""
    return sorted(runtime_folder.directory(environ).glob(_PATTERN))
