"""The socket by which other programs of the user join the session of an editor.

It is in the folder that only the user can enter, and its name has the process id of the adapter.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from raydap.runtime.clients import Clients
from raydap.transport import runtime_folder, unix
from raydap.transport.peer import Peer

log = logging.getLogger(__name__)

_PATTERN = "session-*.sock"


class SessionSocket:
    """Accepts clients as guests, which keep nothing alive."""

    def __init__(self, path: Path, server: asyncio.AbstractServer) -> None:
        self._path = path
        self._server = server

    @classmethod
    async def serve(cls, clients: Clients, environ: Mapping[str, str] = os.environ) -> "SessionSocket | None":
        """None, and a line in the log, where there can be no such socket: the session goes on without it."""
        try:
            path = runtime_folder.directory(environ) / _PATTERN.replace("*", str(os.getpid()))
            listening = unix.listen(str(path))
        except OSError as error:
            log.warning("no other program can join this session: %s", error)
            return None
        server = await asyncio.get_running_loop().create_unix_server(
            lambda: clients.connect(Peer, guest=True), sock=listening
        )
        return cls(path, server)

    def close(self) -> None:
        self._server.close()
        with suppress(OSError):
            self._path.unlink()


def find(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The sockets of all sessions, also of some that have ended. Raises OSError."""
    return sorted(runtime_folder.directory(environ).glob(_PATTERN))
