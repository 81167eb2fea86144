"""The observers of all debug sessions that this user has on this machine."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import Connect, SessionError
from raydap.errors import ProblemError
from raydap.lsp.live.session_client import SessionClient
from raydap.lsp.live.session_state import SessionState
from raydap.tasks import Tasks
from raydap.transport import runtime_folder

log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 2.0
"""Seconds between two searches for sessions."""

RETRY_DELAY_S = 10.0
"""Seconds until raydap tries again to join a session, after a failure."""


class Sessions:
    """The sessions that have been found since `start`. `changed` is called after each change of their workers."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._on_change = changed
        self._change = asyncio.Event()
        self._tasks = Tasks()
        self._started = False
        self._clients: dict[str, SessionClient] = {}

    @property
    def clients(self) -> list[SessionClient]:
        """The clients of the sessions that have begun."""
        return [client for client in self._clients.values() if client.has_begun]

    @property
    def states(self) -> list[SessionState]:
        """The states of the sessions that have begun."""
        return [client.state for client in self.clients]

    async def wait_change(self, timeout_s: float) -> None:
        """Wait for the next change, at most `timeout_s`."""
        with suppress(asyncio.TimeoutError):
            await wait_for(self._change.wait(), timeout_s)

    def start(self) -> None:
        """Start to search for sessions; further calls do nothing."""
        if not self._started:
            self._started = True
            self._tasks.spawn(self._look())

    def close(self) -> None:
        """Stop searching, and leave all sessions."""
        self._tasks.cancel()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()
        self._on_change()

    async def _look(self) -> None:
        while True:
            for name, connect in _found().items():
                if name not in self._clients:
                    client = self._clients[name] = SessionClient(self._changed)
                    self._tasks.spawn(self._follow(name, client, connect))
            await asyncio.sleep(LOOK_INTERVAL_S)

    async def _follow(self, name: str, client: SessionClient, connect: Connect) -> None:
        """Follow one session until it is over. After that, `_look` may find it again."""
        try:
            await client.follow(connect)
        except (OSError, SessionError, ProblemError) as error:
            log.info("language server: %s: %s", name, error)
            await asyncio.sleep(RETRY_DELAY_S)
        finally:
            del self._clients[name]


def _found() -> Mapping[str, Connect]:
    """Return how to connect to each session, by the sessions' names.

    The modules for that are imported only if the runtime folder is not empty.
    """
    try:
        if any(runtime_folder.directory().iterdir()):
            from raydap.client import session_connections

            return session_connections.find()
    except OSError as error:
        log.info("language server: searching for sessions failed: %s", error)
    return {}
