"""The socket through which other programs of the user join the session of an editor, or a kept session.

It is in the folder that only the user can enter, and its name contains the process id of the session.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from raydap.private_listener import SameUserListener
from raydap.tasks import Tasks
from raydap.transport import runtime_folder
from raydap.transport.peer import Peer

if TYPE_CHECKING:
    from raydap.runtime.clients import Clients

log = logging.getLogger(__name__)

EDITORS = "session-*.sock"
"""The names of the sockets of editors' sessions. The star stands for the process id."""

KEPT = "kept-*.sock"
"""The names of the sockets of sessions of `raydap session`, which only commands that stop no worker join."""


class SessionSocket:
    """A listening socket. Its clients are guests: they do not keep the process alive."""

    def __init__(self, path: Path, clients: Clients) -> None:
        self._clients = clients
        self._tasks = Tasks()
        self.joined = 0
        """The number of clients that have joined so far."""
        self._listener = SameUserListener(str(path), self._take)

    @classmethod
    async def serve(
        cls, clients: Clients, environ: Mapping[str, str] = os.environ, pattern: str = EDITORS
    ) -> SessionSocket | None:
        """Listen, and return the socket; None if the system does not allow it. `pattern` is EDITORS or KEPT.

        An editor's session works without the socket, so a failure is only logged.
        """
        try:
            return cls(runtime_folder.directory(environ) / pattern.replace("*", str(os.getpid())), clients)
        except OSError as error:
            log.warning("no other program can join this session: %s", error)
            return None

    def _take(self, connection: socket.socket) -> None:
        self.joined += 1
        self._tasks.spawn(self._connect(connection))

    async def _connect(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: self._clients.connect(Peer, guest=True), connection)

    def close(self) -> None:
        """Stop listening. Clients that have joined stay connected."""
        self._listener.close()
        self._tasks.cancel()


def find(environ: Mapping[str, str] = os.environ, pattern: str = EDITORS) -> list[Path]:
    """Return the sockets of all sessions, including some that have ended. Raises OSError.

    `pattern` is EDITORS or KEPT.
    """
    return sorted(runtime_folder.directory(environ).glob(pattern))


def process_of(path: str) -> int:
    """Return the process id of the session with this socket."""
    return int(os.path.basename(path).partition("-")[2].removesuffix(".sock"))
